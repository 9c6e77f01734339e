import { constantTimeEqual, type HmacKey, hmacKey, hmacSha256 } from "#hash";
import { signingHead } from "../protocol/signing-input.js";
import { checkSecret, secretBytes } from "./secret.js";
import { checkInput, type HmacInput } from "./sign.js";

const SIGNATURE = /^[A-Za-z0-9_-]{43}$/;

/** Whether a text has the form of a signature: 43 characters of base64url. */
export function isSignature(text: string): boolean {
  return SIGNATURE.test(text);
}

/** The secrets a listener accepts, made ready. */
export interface HmacVerifier {
  /** Whether any of the secrets made this signature. */
  matches(head: string, body: Uint8Array, signature: string): boolean;
  /** What the first secret would have made, for the receiver's own detail. */
  expected(head: string, body: Uint8Array): string;
}

/** Prepares the secrets a listener accepts; at least one. */
export function hmacVerifier(secrets: readonly string[]): HmacVerifier {
  const keys = secrets.map((secret) => hmacKey(secretBytes(secret))) as [HmacKey, ...HmacKey[]];
  return {
    matches(head, body, signature) {
      let matches = false;
      for (const key of keys) {
        // Every secret is tried, so that the time does not tell which of them was meant.
        if (constantTimeEqual(hmacSha256(key, head, body), signature)) matches = true;
      }
      return matches;
    },
    expected: (head, body) => hmacSha256(keys[0], head, body),
  };
}

/**
 * Whether a signature belongs to these values (specification 5.2, HMAC method). Synchronous, compared in
 * constant time; a malformed signature is simply false. Freshness and replays are not looked at: the whole
 * order of checks is `createReceiver` in `hookproof/receiver`.
 *
 * @param input.timestamp the text of `Webhook-Timestamp` as received (a number is written in decimal)
 * @param input.body the body as received, before any parsing
 * @throws {HookproofError} SECRET_INVALID
 *
 * @example
 * ```ts
 * import { verifyHmac } from "hookproof";
 *
 * verifyHmac({
 *   secret: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8",
 *   timestamp: "1767225600",
 *   eventId: "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10",
 *   body: '{"type":"user.offboarded","userId":"u_123"}',
 *   signature: "hEuwC_Ckgwc7avU0xzAh6BEbIHQ49cz_g5zDepzyiTE",
 * }); // true
 * ```
 */
export function verifyHmac({
  secret,
  timestamp,
  eventId,
  body,
  signature,
}: HmacInput & { signature: string }): boolean {
  checkInput(eventId, body);
  const expected = hmacSha256(hmacKey(checkSecret(secret)), signingHead(String(timestamp), eventId), body);
  return typeof signature === "string" && constantTimeEqual(expected, signature);
}
