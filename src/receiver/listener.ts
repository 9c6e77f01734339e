import { refuseDocumented } from "../hmac/secret.js";
import { type HmacVerifier, hmacVerifier } from "../hmac/verify.js";
import type { KeyResolver } from "../jwt/key-resolver.js";
import { type Cidr, parseCidrs } from "../primitives/address.js";
import { isListenerId, listenerUrl, parseBaseUrl } from "../protocol/listener-url.js";

/** A listener as its owner configures it (specification 2.9 and 5.2). */
export interface Listener {
  /** The id in the listener's path. */
  readonly id: string;
  /** The tenant's base URL: what the claims `sub` and `aud` are held against, never the Host header. */
  readonly baseUrl: string;
  readonly auth:
    | {
        readonly method: "hmac" /** The secret's text; several are all accepted, during a rotation. */;
        readonly secret: string | readonly string[];
      }
    | {
        readonly method: "jwt";
        readonly keys: KeyResolver;
        /** Accept the header `alg: "Ed25519"` (RFC 9864) beside `EdDSA`; off by default. */
        readonly allowEd25519?: boolean | undefined;
      };
  /** Address ranges requests may come from, such as `["203.0.113.0/24"]`; none means from anywhere. */
  readonly allowedCidrs?: readonly string[] | undefined;
}

/** A listener made ready: checked, parsed, its secrets prepared. */
export interface PreparedListener {
  readonly id: string;
  readonly baseUrl: string;
  readonly url: string;
  readonly auth:
    | { readonly method: "hmac"; readonly verifier: HmacVerifier }
    | { readonly method: "jwt"; readonly keys: KeyResolver; readonly allowEd25519: boolean };
  readonly allowedCidrs: readonly Cidr[];
}

/** Checks a listener's configuration once, so that no request meets a mistake in it. */
export function prepareListener(
  listener: Listener,
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

function prepareAuth(auth: Listener["auth"], allowDocumentedSecret: boolean): PreparedListener["auth"] {
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
