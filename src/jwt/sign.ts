import { CompactSign, type CryptoKey } from "jose";
import { HookproofError } from "../errors.js";
import { encodeBase64url } from "../primitives/base64url.js";
import { utf8 } from "../primitives/bytes.js";
import { shownAs } from "../primitives/redact.js";
import { AUTHORIZATION_HEADER } from "../protocol/headers.js";
import {
  DEFAULT_TOKEN_LIFETIME_SECONDS,
  MAX_KEY_ID_LENGTH,
  MAX_TOKEN_LIFETIME_SECONDS,
} from "../protocol/limits.js";
import { listenerUrl, parseBaseUrl, parseListenerUrl } from "../protocol/listener-url.js";
import type { Signer, UnsignedRequest } from "../protocol/signer.js";
import { claimsFor } from "./claims.js";
import { externalSignature } from "./external-signature.js";
import {
  type Algorithm,
  checkAlgorithm,
  importPrivateKey,
  type PrivateKeyInput,
  type SigningKey,
} from "./key.js";

/** Options of `jwtSigner` that hold for every token. */
export interface JwtSignerOptions {
  /** The tenant's base URL, the claim `sub`; by default the listener's URL up to `/api/v1/webhooks/incoming/`. */
  baseUrl?: string | undefined;
  /** How long a token lives: 1 to 600 seconds, 300 by default. */
  expiresInSeconds?: number | undefined;
}

/**
 * A signer for JWT listeners: each attempt gets its own token, bound to listener, event id, method and body
 * (specification 5.2, JWT method).
 *
 * Give a function instead of a key to be asked at every attempt, so that a rotated key is used at once.
 *
 * @throws {TypeError | RangeError} for a wrong option; a key that does not fit its algorithm rejects the first
 * signature with the code KEY_UNFIT
 *
 * @example
 * ```ts
 * import { createSender, jwtSigner } from "hookproof";
 * import { generateKey } from "hookproof/jwks";
 *
 * const { kid, alg, privateJwk } = await generateKey({ alg: "ES256" });
 * const sender = createSender({
 *   url: "https://tenant.example.com/api/v1/webhooks/incoming/lst_offboarding",
 *   signer: jwtSigner({ key: privateJwk, kid, alg }),
 * });
 * ```
 */
export function jwtSigner(
  signingKey: (SigningKey & JwtSignerOptions) | (() => SigningKey | Promise<SigningKey>),
  options: JwtSignerOptions = {},
): Signer {
  const fixed = typeof signingKey === "function" ? undefined : signingKey;
  if (fixed) checkSigningKey(fixed);
  const { baseUrl, expiresInSeconds = DEFAULT_TOKEN_LIFETIME_SECONDS } = { ...options, ...fixed };
  if (
    !Number.isInteger(expiresInSeconds) ||
    expiresInSeconds < 1 ||
    expiresInSeconds > MAX_TOKEN_LIFETIME_SECONDS
  ) {
    throw new RangeError(`expiresInSeconds must be a whole number from 1 to ${MAX_TOKEN_LIFETIME_SECONDS}`);
  }
  const target = targetOf(baseUrl === undefined ? undefined : parseBaseUrl(baseUrl));
  const imported = importedOnce();

  const signer: Signer = {
    method: "jwt",
    candidates: 1,
    async sign(request) {
      const current = typeof signingKey === "function" ? await askFor(signingKey) : signingKey;
      const claims = claimsFor({
        ...target(request.url),
        eventId: request.eventId,
        body: request.body,
        exp: Number(request.timestamp) + expiresInSeconds,
      });
      return [AUTHORIZATION_HEADER, `Bearer ${await signToken(current, JSON.stringify(claims), imported)}`];
    },
  };
  return shownAs(signer, "Signer { method: 'jwt', key: [redacted] }");
}

type ImportKey = (key: PrivateKeyInput, alg: Algorithm) => Promise<CryptoKey>;

async function signToken(
  { key, kid, alg }: SigningKey,
  claims: string,
  imported: ImportKey,
): Promise<string> {
  const header = { alg, kid, typ: "JWT" };
  if (typeof key !== "function") {
    return new CompactSign(utf8(claims)).setProtectedHeader(header).sign(await imported(key, alg));
  }
  const input = `${encodeBase64url(utf8(JSON.stringify(header)))}.${encodeBase64url(utf8(claims))}`;
  return `${input}.${encodeBase64url(await externalSignature(key, utf8(input), alg))}`;
}

async function askFor(signingKey: () => SigningKey | Promise<SigningKey>): Promise<SigningKey> {
  let given: SigningKey;
  try {
    given = await signingKey();
  } catch (cause) {
    throw new HookproofError("SIGNER_FAILED", "The function that gives the signing key failed.", { cause });
  }
  checkSigningKey(given);
  return given;
}

function checkSigningKey({ kid, alg }: SigningKey): void {
  checkAlgorithm(alg);
  if (typeof kid !== "string" || kid === "" || kid.length > MAX_KEY_ID_LENGTH) {
    throw new TypeError(`kid must be a text of 1 to ${MAX_KEY_ID_LENGTH} characters`);
  }
}

/** Imports a key when it is first used, and again only when another one is given. */
function importedOnce(): ImportKey {
  let last: { key: PrivateKeyInput; alg: Algorithm; imported: Promise<CryptoKey> } | undefined;
  return (key, alg) => {
    if (last?.key !== key || last.alg !== alg) last = { key, alg, imported: importPrivateKey(key, alg) };
    return last.imported;
  };
}

/** The claims `sub` and `aud` for a listener's URL, worked out once for each URL. */
function targetOf(
  baseUrl: string | undefined,
): (url: UnsignedRequest["url"]) => { url: string; baseUrl: string } {
  let last: { url: string; target: { url: string; baseUrl: string } } | undefined;
  return (url) => {
    if (last?.url === url) return last.target;
    const listener = parseListenerUrl(url);
    if (baseUrl !== undefined && listenerUrl(baseUrl, listener.listenerId) !== listener.href) {
      throw new HookproofError(
        "BASE_URL_MISMATCH",
        `${listener.href} is not a listener under the base URL ${baseUrl}.`,
      );
    }
    last = { url, target: { url: listener.href, baseUrl: baseUrl ?? listener.baseUrl } };
    return last.target;
  };
}
