// The HMAC signature, both sides.
import { constantTimeEqual, hmacSha256 } from "#hash";
import { HookproofError, notGiven } from "../../core/errors.js";
import type { Hmac } from "../../core/hash-portable.js";
import { checkOptions } from "../../core/options.js";
import { timestampText } from "../../core/protocol.js";
import { shownAs } from "../../core/shown.js";
import { andThen } from "../../core/value-or-promise.js";
import type { Signer } from "../scheme.js";
import { SIGNATURE_HEADER, signingHead } from "./protocol.js";
import { checkSecret, secretBytes, secretWarnings } from "./secret.js";
import { byHmac } from "./sign.js";

/** What an HMAC signature covers. */
export interface HmacInput {
  /** The signing secret exactly as the service shows it. The text itself is the key; it is not decoded. */
  secret: string;
  /** Seconds since the epoch; a text is signed as it is. */
  timestamp: number | string;
  /** The value of `Webhook-Event-Id`. */
  eventId: string;
  /** The exact body; a text is encoded as UTF-8. */
  body: string | Uint8Array;
}

/**
 * The signature of a webhook: HMAC-SHA256 over `{timestamp}.{event_id}.{body}`, 43 characters of base64url
 * (specification 5.2, HMAC method). It is the value of `Webhook-Signature`. Synchronous.
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
  return hmacSha256(checkSecret(secret))(signingHead(timestampText(timestamp), eventId), body);
}

/** A secret's text, or `[new, old]` while it is rotated. */
export type HmacSecret = string | readonly string[];

/**
 * A signer for HMAC listeners. While a secret is rotated give both, the new one first: if the listener refuses one, the
 * sender tries the other.
 *
 * If you give a function, such as one that reads a vault, the signer calls it at every attempt, so that a rotated secret
 * is used at once. Keep its answer for as long as it may be old.
 *
 * @param options.secret the secret's text, or `[new, old]`, or a function that gives either
 * @throws {HookproofError} SECRET_INVALID. An attempt fails with SIGNER_FAILED if your function fails
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
export function hmacSigner(options: {
  /** The secret's text exactly as the service shows it, `[new, old]` during a rotation, or a function that gives either. */
  secret: HmacSecret | (() => HmacSecret | Promise<HmacSecret>);
}): Signer {
  checkOptions("hmacSigner", options, { secret: 1 });
  const { secret } = options;
  if (typeof secret === "function") {
    const sign: Signer["sign"] = async (request) => ((await askFor(secret))[0] as Signer).sign(request);
    const signer = signerOfSecrets(sign, () => askFor(secret));
    return shownAs(signer, SHOWN);
  }
  const secrets = listOf(secret);
  const signers = signersWith(secrets);
  const [{ sign }] = signers;
  const signer = signers.length === 1 ? { scheme: byHmac, sign } : signerOfSecrets(sign, () => signers);
  return shownAs({ ...signer, warnings: secrets.flatMap(secretWarnings) }, SHOWN);
}

const SHOWN = "Signer { scheme: 'access-governance', secret: [redacted] }";

/** A signer for several secrets. A copy whose `sign` is another one keeps that in the preferred one's place. */
function signerOfSecrets(
  sign: Signer["sign"],
  signersNow: () => readonly Signer[] | Promise<readonly Signer[]>,
): Signer {
  return {
    scheme: byHmac,
    sign,
    alternatives() {
      const signers = signersNow();
      if (this.sign === sign) return signers;
      const own = ([, ...others]: readonly Signer[]) => [this, ...others];
      return andThen(signers, own);
    },
  };
}

async function askFor(secret: () => HmacSecret | Promise<HmacSecret>): Promise<readonly Signer[]> {
  let given: HmacSecret;
  try {
    given = await secret();
  } catch (cause) {
    throw new HookproofError("SIGNER_FAILED", "The function that gives the secret failed.", { cause });
  }
  if (given === undefined)
    throw new HookproofError("SIGNER_FAILED", "The function that gives the secret gave undefined.");
  return signersWith(listOf(given));
}

function listOf(secret: HmacSecret): readonly string[] {
  if (secret === undefined) throw notGiven("secret", secret);
  const secrets = typeof secret === "string" ? [secret] : secret;
  if (!Array.isArray(secrets) || secrets.length < 1)
    throw new TypeError("secret must be a string, or [new, old]");
  return secrets;
}

function signersWith(secrets: readonly string[]): [Signer, ...Signer[]] {
  return secrets.map((one) => signerWith(hmacSha256(secretBytes(one)))) as [Signer, ...Signer[]];
}

function signerWith(hmac: Hmac): Signer {
  return {
    scheme: byHmac,
    sign: ({ timestamp, eventId, body }) => ({
      headers: [[SIGNATURE_HEADER, hmac(signingHead(timestamp, eventId), body)]],
    }),
  };
}

const SIGNATURE = /^[A-Za-z0-9_-]{43}$/;

/** Whether a text has the form of a signature: 43 characters of base64url. */
export function isSignature(text: string): boolean {
  return SIGNATURE.test(text);
}

/** Verifies signatures by the secrets that a listener accepts. */
export interface HmacVerifier {
  /** Whether the signature was made with one of the secrets. `head` is the part of the signing input before the body. */
  matches(head: string, body: Uint8Array, signature: string): boolean;
  /** The signature by the first secret, for the receiver's own log. */
  expected(head: string, body: Uint8Array): string;
}

/** Prepares the secrets that a listener accepts; at least one. */
export function hmacVerifier(secrets: readonly string[]): HmacVerifier {
  const hmacs = secrets.map((secret) => hmacSha256(secretBytes(secret))) as [Hmac, ...Hmac[]];
  return {
    matches(head, body, signature) {
      let matches = false;
      for (const hmac of hmacs) {
        // No early exit: the time must not show which secret matches.
        if (constantTimeEqual(hmac(head, body), signature)) matches = true;
      }
      return matches;
    },
    expected: (head, body) => hmacs[0](head, body),
  };
}

/**
 * Whether a signature is valid for these values (specification 5.2, HMAC method). Synchronous; the comparison takes
 * constant time, and a malformed signature is `false`. It checks neither the age of the timestamp nor replays:
 * `createReceiver` in `hookproof/receiver` makes all checks.
 *
 * @param input.timestamp the value of `Webhook-Timestamp` as received; a number is written in decimal
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
}: HmacInput & {
  /** The value of `Webhook-Signature` as received. */
  signature: string;
}): boolean {
  checkInput(eventId, body);
  const expected = hmacSha256(checkSecret(secret))(signingHead(String(timestamp), eventId), body);
  return typeof signature === "string" && constantTimeEqual(expected, signature);
}

/** Refuses a parsed body, the usual mistake: its original bytes, which are signed, are lost. */
function checkInput(eventId: unknown, body: unknown): void {
  if (typeof eventId !== "string") throw new TypeError("eventId must be a string");
  if (typeof body === "string" || body instanceof Uint8Array) return;
  throw new TypeError("body must be the exact text or bytes (string or Uint8Array), not a parsed value");
}
