import { sha256Base64url } from "#hash";
import { HookproofError } from "../errors.js";
import { decodeBase64url, encodeBase64url } from "../primitives/base64url.js";
import { utf8 } from "../primitives/bytes.js";
import { isDocumented } from "./documented-secret.js";

/**
 * A new signing secret: 256 random bits as 43 characters of base64url (specification 5.2, HMAC method, step 1).
 *
 * @example
 * ```ts
 * import { generateSecret } from "hookproof";
 *
 * generateSecret().length; // 43
 * ```
 */
export function generateSecret(): string {
  return encodeBase64url(crypto.getRandomValues(new Uint8Array(32)));
}

/** The secret as given, or a refusal. Its content is the service's affair, so only the impossible is refused. */
export function checkSecret(secret: string): string {
  if (typeof secret !== "string") throw new TypeError("secret must be a string");
  if (secret === "") throw new HookproofError("SECRET_INVALID", "The secret is empty.");
  if (!secret.isWellFormed())
    throw new HookproofError("SECRET_INVALID", "The secret is not text that UTF-8 can carry.");
  return secret;
}

/** The bytes of a secret that is used again and again: of a text Node would make them anew for each use. */
export function secretBytes(secret: string): Uint8Array {
  return utf8(checkSecret(secret));
}

/** Refuses a secret of the documentation: whoever verifies with it accepts everybody's requests. */
export function refuseDocumented(secret: string): void {
  if (isDocumented(secret))
    throw new HookproofError(
      "SECRET_INVALID",
      "The secret is the one of the documentation, which everybody can sign with. Use the listener's own; in tests, allowDocumentedSecret takes this one.",
    );
}

/** Signs of a secret that was copied with something around it, or that belongs to another scheme. */
const SUSPICIONS: readonly (readonly [pattern: RegExp, warning: string])[] = [
  [/^\s|\s$/, "begins or ends with white space, which becomes part of the key"],
  [/^["'`]|["'`]$/, "begins or ends with a quote, which becomes part of the key"],
  [/^whsec_/, "begins with whsec_, a prefix of another scheme: the key here is the whole text"],
  [/=$/, "ends with padding (=), which the service's secrets never have"],
  [/[+/]/, "has + or /: the service's secrets are base64url, which uses - and _"],
];

/**
 * What looks wrong about a secret, in plain words; empty when nothing does. The secret is used as it is all
 * the same: the key is the exact text (specification 5.2, HMAC method, step 3).
 *
 * @example
 * ```ts
 * import { secretWarnings } from "hookproof";
 *
 * secretWarnings("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")[0];
 * // "The secret begins with whsec_, a prefix of another scheme: the key here is the whole text."
 * ```
 */
export function secretWarnings(secret: string): string[] {
  const found = SUSPICIONS.filter(([pattern]) => pattern.test(secret)).map(
    ([, warning]) => `The secret ${warning}.`,
  );
  if (isDocumented(secret))
    found.push("The secret is the one of the documentation, which everybody can sign with.");
  if (secret.length < 32)
    found.push(`The secret has ${secret.length} characters; the service's own have 43.`);
  return found;
}

/**
 * The first bytes of the SHA-256 of a secret, to tell secrets apart in output that must not show them.
 *
 * @example
 * ```ts
 * import { secretFingerprint } from "hookproof";
 *
 * secretFingerprint("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"); // "sha256:ea866a75"
 * ```
 */
export function secretFingerprint(secret: string): string {
  const digest = decodeBase64url(sha256Base64url(utf8(secret))) ?? new Uint8Array();
  return `sha256:${Array.from(digest.subarray(0, 4), (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
