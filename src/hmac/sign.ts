import { type HmacKey, hmacKey, hmacSha256 } from "#hash";
import { shownAs } from "../primitives/redact.js";
import { SIGNATURE_HEADER } from "../protocol/headers.js";
import type { Signer } from "../protocol/signer.js";
import { signingHead } from "../protocol/signing-input.js";
import { timestampText } from "../protocol/timestamp.js";
import { checkSecret, secretBytes, secretWarnings } from "./secret.js";

/** What an HMAC signature covers. */
export interface HmacInput {
  /** The signing secret exactly as the service shows it; its text is the key, nothing is decoded. */
  secret: string;
  /** Unix seconds. A text is used as it is. */
  timestamp: number | string;
  /** The text of `Webhook-Event-Id`. */
  eventId: string;
  /** The exact body; a text stands for its UTF-8 bytes. */
  body: string | Uint8Array;
}

/**
 * The signature of a webhook: HMAC-SHA256 over `{timestamp}.{event_id}.{body}`, 43 characters of base64url
 * (specification 5.2, HMAC method). Synchronous; what goes into `Webhook-Signature`.
 *
 * @throws {HookproofError} SECRET_INVALID or TIMESTAMP_INVALID
 * @throws {TypeError} for an event id or a body of another type
 *
 * @example
 * ```ts
 * import { signHmac } from "hookproof";
 *
 * signHmac({
 *   secret: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8",
 *   timestamp: 1767225600,
 *   eventId: "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10",
 *   body: '{"type":"user.offboarded","userId":"u_123"}',
 * }); // "hEuwC_Ckgwc7avU0xzAh6BEbIHQ49cz_g5zDepzyiTE"
 * ```
 */
export function signHmac({ secret, timestamp, eventId, body }: HmacInput): string {
  checkInput(eventId, body);
  return hmacSha256(hmacKey(checkSecret(secret)), signingHead(timestampText(timestamp), eventId), body);
}

/** A parsed body is the mistake people make: its bytes are gone, and with them the signature. */
export function checkInput(eventId: unknown, body: unknown): void {
  if (typeof eventId !== "string") throw new TypeError("eventId must be a string");
  if (typeof body === "string" || body instanceof Uint8Array) return;
  throw new TypeError("body must be the exact text or bytes (string or Uint8Array), not a parsed value");
}

/**
 * A signer for HMAC listeners. While a secret is being rotated give both, the new one first: the sender
 * finds out which one the listener takes.
 *
 * @param options.secret the secret's text, or `[new, old]`
 * @throws {HookproofError} SECRET_INVALID
 *
 * @example
 * ```ts
 * import { createSender, generateSecret, hmacSigner } from "hookproof";
 *
 * const sender = createSender({
 *   url: "https://tenant.example.com/api/v1/webhooks/incoming/lst_offboarding",
 *   signer: hmacSigner({ secret: generateSecret() }),
 * });
 * ```
 */
export function hmacSigner({ secret }: { secret: string | readonly string[] }): Signer {
  const secrets = typeof secret === "string" ? [secret] : secret;
  if (!Array.isArray(secrets) || secrets.length < 1)
    throw new TypeError("secret must be a string, or [new, old]");
  const keys: HmacKey[] = secrets.map((one) => hmacKey(secretBytes(one)));
  const signer: Signer = {
    method: "hmac",
    candidates: keys.length,
    warnings: secrets.flatMap(secretWarnings),
    sign({ timestamp, eventId, body }, candidate = 0) {
      const key = keys[candidate];
      if (key === undefined) throw new RangeError(`candidate must be below ${keys.length}`);
      return [SIGNATURE_HEADER, hmacSha256(key, signingHead(timestamp, eventId), body)];
    },
  };
  return shownAs(signer, "Signer { method: 'hmac', secret: [redacted] }");
}
