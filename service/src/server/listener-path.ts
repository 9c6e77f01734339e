// Where the service takes events: the path before a listener's id.
export const INGESTION_PATH = "/api/v1/webhooks/incoming/";
