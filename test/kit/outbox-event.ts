import { createHash, randomUUID } from "node:crypto";
import type { OutboxEvent } from "hookproof/outbox/store";

/** An event as the dispatcher hands it to a store. */
export function outboxEvent(text: string, fields: Partial<OutboxEvent> = {}): OutboxEvent {
  const body = Buffer.from(JSON.stringify({ text }));
  const digest = createHash("sha256").update(body).digest("base64url");
  return { id: randomUUID(), listener: "orders", body, digest, ...fields };
}
