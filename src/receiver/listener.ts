import { type Cidr, parseCidrs } from "../core/address.js";
import { isListenerId, listenerUrl, parseBaseUrl } from "../core/listener-url.js";
import { refuseDocumented } from "../hmac/secret.js";
import { type HmacVerifier, hmacVerifier } from "../hmac/signature.js";
import type { KeyResolver } from "../jwt/verify.js";

/** What a receiver must know of its listener (specification 2.9 and 5.2). */
export interface ListenerOptions {
  /** The id in the listener's path. */
  readonly id: string;
  /** The tenant's base URL. The claims `sub` and `aud` are compared with it, never with the Host header. */
  readonly baseUrl: string;
  /** How requests are authenticated: by a shared secret or by a key set. */
  readonly auth:
    | {
        readonly method: "hmac";
        /** The secret's text. Of several, each is accepted, as during a rotation. */
        readonly secret: string | readonly string[];
      }
    | {
        readonly method: "jwt";
        /** The key set: `remoteKeys` or `localKeys` of `hookproof/jwks`. */
        readonly keys: KeyResolver;
        /** Accept the header `alg: "Ed25519"` (RFC 9864) beside `EdDSA`; off by default. */
        readonly allowEd25519?: boolean | undefined;
      };
  /** Address ranges that requests may come from, such as `["203.0.113.0/24"]`; from anywhere by default. */
  readonly allowedCidrs?: readonly string[] | undefined;
}

/** A listener's options, checked and parsed, with its secrets prepared. */
export interface PreparedListener {
  readonly id: string;
  readonly baseUrl: string;
  readonly url: string;
  readonly auth:
    | { readonly method: "hmac"; readonly verifier: HmacVerifier }
    | { readonly method: "jwt"; readonly keys: KeyResolver; readonly allowEd25519: boolean };
  readonly allowedCidrs: readonly Cidr[];
}

/** Checks a listener's options once, at the start, so that a mistake does not show at the first request. */
export function prepareListener(
  listener: ListenerOptions,
  { allowDocumentedSecret = false }: { allowDocumentedSecret?: boolean | undefined } = {},
): PreparedListener {
  if (typeof listener.id !== "string" || !isListenerId(listener.id)) {
    throw new TypeError("listener.id must be 1 to 128 letters, digits, - or _");
  }
  const baseUrl = parseBaseUrl(listener.baseUrl);
  return {
    id: listener.id,
    baseUrl,
    url: listenerUrl(baseUrl, listener.id),
    auth: prepareAuth(listener.auth, allowDocumentedSecret),
    allowedCidrs: parseCidrs(listener.allowedCidrs ?? []),
  };
}

function prepareAuth(
  auth: ListenerOptions["auth"],
  allowDocumentedSecret: boolean,
): PreparedListener["auth"] {
  if (auth.method === "hmac") {
    const secrets = typeof auth.secret === "string" ? [auth.secret] : auth.secret;
    if (!Array.isArray(secrets) || secrets.length === 0)
      throw new TypeError("listener.auth.secret must be a string or a list of strings");
    const verifier = hmacVerifier(secrets);
    if (!allowDocumentedSecret) secrets.forEach(refuseDocumented);
    return { method: "hmac", verifier };
  }
  if (auth.method === "jwt" && typeof auth.keys?.resolve === "function") {
    return { method: "jwt", keys: auth.keys, allowEd25519: auth.allowEd25519 ?? false };
  }
  throw new TypeError('listener.auth must be { method: "hmac", secret } or { method: "jwt", keys }');
}
