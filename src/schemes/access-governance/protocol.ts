// The header names, and what is signed before the body.
/**
 * What is signed before the body: `{timestamp}.{event_id}.`, with the header values as they are sent
 * (specification 5.2, HMAC method, step 2).
 */
export function signingHead(timestamp: string, eventId: string): string {
  return `${timestamp}.${eventId}.`;
}

/** The header names of the protocol (specification 5.2). */
export const TIMESTAMP_HEADER = "Webhook-Timestamp";

export const EVENT_ID_HEADER = "Webhook-Event-Id";

export const SIGNATURE_HEADER = "Webhook-Signature";
