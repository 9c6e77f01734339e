/**
 * What is signed before the body: `{timestamp}.{event_id}.`, with the header values as they are sent
 * (specification 5.2, HMAC method, step 2).
 */
export function signingHead(timestamp: string, eventId: string): string {
  return `${timestamp}.${eventId}.`;
}
