// Requests that are signed with node:crypto alone, and what diagnose names of them.
import { createHmac } from "node:crypto";
import { diagnose } from "hookproof/diagnose";
import { fixedClock } from "hookproof/testing";
import { expect } from "vitest";

export const secret = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBka--xw_R8";
export const timestamp = "1767225600";
export const eventId = "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10";
export const url = "https://tenant.example.com/api/v1/webhooks/incoming/lst_1";
export const body =
  '{"number":7,"cvss":{"vector":null,"score":0},"id":12,"who":"Zoë 🤨","to":"a/b","at":1.5}';
export const head = `${timestamp}.${eventId}.`;

export const mac = (key: string | Uint8Array, input: string | Uint8Array, hash = "sha256") =>
  createHmac(hash, key).update(input).digest();

interface Sent {
  readonly signature: string;
  readonly sent?: string | Uint8Array;
  readonly known?: string;
  /** The headers as sent. */
  readonly stamp?: string;
  readonly id?: string;
}

/** The mistakes of a request that was sent with a signature, by a service that knows a secret; it is never said. */
export async function idsOf({
  signature,
  sent = body,
  known = secret,
  stamp = timestamp,
  id: event = eventId,
}: Sent): Promise<string[]> {
  const headers = {
    "Content-Type": "application/json",
    "Webhook-Timestamp": stamp,
    "Webhook-Event-Id": event,
    "Webhook-Signature": signature,
  };
  const clock = fixedClock(Number(timestamp) * 1000);
  const { mistakes } = await diagnose({ request: { url, headers, body: sent }, secret: known, clock });
  const said = JSON.stringify(mistakes);
  expect(said).not.toContain(known.trim());
  return mistakes.map(({ id }) => id);
}
