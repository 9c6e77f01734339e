/** What a generated client is handed to call everything with. */
export interface Given {
  readonly url: string;
  readonly client: { client_id: string; client_secret: string };
  readonly readerRecipient: string;
  readonly fetch: typeof globalThis.fetch;
  /** The headers of a webhook whose body is the payload as JSON.stringify writes it. */
  sign(
    url: string,
    secret: string,
    payload: unknown,
  ): Promise<Record<"Webhook-Timestamp" | "Webhook-Event-Id" | "Webhook-Signature", string>>;
}
