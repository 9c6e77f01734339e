import type { CryptoKey } from "jose";
import { CompactSign } from "jose/jws/compact/sign";
import { encodeBase64url, utf8 } from "../core/bytes.js";
import { shownAs } from "../core/check.js";
import { HookproofError } from "../core/errors.js";
import { AUTHORIZATION_HEADER } from "../core/headers.js";
import { listenerUrl, parseBaseUrl, parseListenerUrl } from "../core/listener-url.js";
import {
  DEFAULT_TOKEN_LIFETIME_SECONDS,
  MAX_KEY_ID_LENGTH,
  MAX_TOKEN_LIFETIME_SECONDS,
} from "../core/protocol.js";
import type { Signer, UnsignedRequest } from "../core/signer.js";
import { ALGORITHM_FACTS, type Algorithm, checkAlgorithm } from "./algorithms.js";
import { claimsFor } from "./claims.js";
import { type ExternalSigner, importPrivateKey, type PrivateKeyInput, type SigningKey } from "./key.js";

/** Options of `jwtSigner` that hold for every token. */
export interface JwtSignerOptions {
  /**
   * The tenant's base URL, which becomes the claim `sub`. By default it is the part of the listener's URL before
   * `/api/v1/webhooks/incoming/`.
   */
  baseUrl?: string | undefined;
  /** How long a token is valid: 1 to 600 seconds, 300 by default. */
  expiresInSeconds?: number | undefined;
}

/**
 * A signer for JWT listeners: each attempt gets its own token, bound to listener, event id, method and body
 * (specification 5.2, JWT method).
 *
 * If you give a function instead of a key, the signer calls it at every attempt, so that a rotated key is used at once.
 *
 * @throws {TypeError | RangeError} for a wrong option. Signing rejects with KEY_UNFIT for a key that does not fit its
 * algorithm, with SIGNER_FAILED if your function fails, and with BASE_URL_MISMATCH for a listener that is not under
 * `baseUrl`
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

/** Imports a key at its first use; again only when the key or its algorithm changes. */
function importedOnce(): ImportKey {
  let last: { key: PrivateKeyInput; alg: Algorithm; imported: Promise<CryptoKey> } | undefined;
  return (key, alg) => {
    if (last?.key !== key || last.alg !== alg) last = { key, alg, imported: importPrivateKey(key, alg) };
    return last.imported;
  };
}

/** The claims `sub` and `aud` for a listener's URL. The last URL's are kept, as a sender has one listener. */
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

/**
 * Calls an external signer and converts the signature to the form that a JWS has.
 *
 * @throws {HookproofError} SIGNER_FAILED if the signer fails or the signature has a wrong length
 */
export async function externalSignature(
  sign: ExternalSigner,
  bytes: Uint8Array,
  alg: Algorithm,
): Promise<Uint8Array> {
  let signature: unknown;
  try {
    signature = await sign(bytes);
  } catch (cause) {
    throw new HookproofError("SIGNER_FAILED", "The external signer failed.", { cause });
  }
  if (!(signature instanceof Uint8Array))
    throw new HookproofError("SIGNER_FAILED", "The external signer must give a Uint8Array.");
  const { isSignatureLength, isOftenDer } = ALGORITHM_FACTS[alg];
  const raw = isOftenDer && !isSignatureLength(signature.length) ? rawFromDer(signature) : signature;
  if (isSignatureLength(raw.length)) return raw;
  throw new HookproofError(
    "SIGNER_FAILED",
    `The external signer gave ${signature.length} bytes, which is not an ${alg} signature.`,
  );
}

/** The 64 bytes `r || s` of an ECDSA signature in DER, the form of most key services; empty for other bytes. */
export function rawFromDer(der: Uint8Array): Uint8Array {
  const raw = new Uint8Array(64);
  let offset = 2;
  for (const end of [32, 64]) {
    const length = der[offset + 1] ?? 0;
    const integer = der.subarray(offset + 2, offset + 2 + length);
    const first = integer.findIndex((byte) => byte !== 0);
    const digits = first < 0 ? integer.subarray(0, 0) : integer.subarray(first);
    if (der[offset] !== 0x02 || integer.length !== length || length === 0 || digits.length > 32)
      return new Uint8Array();
    raw.set(digits, end - digits.length);
    offset += 2 + length;
  }
  return der[0] === 0x30 && der[1] === der.length - 2 && offset === der.length ? raw : new Uint8Array();
}
