// The signer of tokens.
import { HookproofError } from "../../core/errors.js";
import { AUTHORIZATION_HEADER } from "../../core/headers.js";
import { checkOptions, type OptionNames } from "../../core/options.js";
import { DEFAULT_TOKEN_LIFETIME_SECONDS, MAX_TOKEN_LIFETIME_SECONDS } from "../../core/protocol.js";
import { shownAs } from "../../core/shown.js";
import { isLocalName } from "../../core/target-url.js";
import type { SigningKey } from "../../jwt/key.js";
import { tokenSigner } from "../../jwt/sign-token.js";
import type { Signer, UnsignedRequest } from "../scheme.js";
import { claimsFor } from "./claims.js";
import { listenerUrl, parseBaseUrl, parseListenerUrl } from "./listener-url.js";
import { byToken } from "./sign.js";

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

const NAMES: OptionNames<JwtSignerOptions> = { baseUrl: "string", expiresInSeconds: 1 };

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
  if (fixed) checkOptions("jwtSigner", fixed, { key: 1, kid: 1, alg: 1, ...NAMES });
  checkOptions("jwtSigner", options, NAMES);
  const signToken = tokenSigner(signingKey, "JWT");
  const { baseUrl, expiresInSeconds = DEFAULT_TOKEN_LIFETIME_SECONDS } = { ...options, ...fixed };
  if (
    !Number.isInteger(expiresInSeconds) ||
    expiresInSeconds < 1 ||
    expiresInSeconds > MAX_TOKEN_LIFETIME_SECONDS
  ) {
    throw new RangeError(`expiresInSeconds must be a whole number from 1 to ${MAX_TOKEN_LIFETIME_SECONDS}`);
  }
  const target = targetOf(baseUrl === undefined ? undefined : parseBaseUrl(baseUrl));

  const signer: Signer = {
    scheme: byToken,
    async sign(request) {
      const claims = claimsFor({
        ...target(request.url),
        eventId: request.eventId,
        body: request.body,
        exp: Number(request.timestamp) + expiresInSeconds,
      });
      return { headers: [[AUTHORIZATION_HEADER, `Bearer ${await signToken(claims)}`]] };
    },
  };
  return shownAs(signer, "Signer { scheme: 'access-governance', key: [redacted] }");
}

/** The host of a URL, if the option `plainHttpHosts` of who sends could have opened it. */
function plainHostOf(url: string): readonly string[] {
  const host = URL.canParse(url) ? new URL(url).hostname.replace(/\.$/, "") : "";
  return isLocalName(host) ? [host] : [];
}

/** The claims `sub` and `aud` for a listener's URL. The last URL's are kept, as a sender has one listener. */
function targetOf(
  baseUrl: string | undefined,
): (url: UnsignedRequest["url"]) => { url: string; baseUrl: string } {
  let last: { url: string; target: { url: string; baseUrl: string } } | undefined;
  return (url) => {
    if (last?.url === url) return last.target;
    const listener = parseListenerUrl(url, plainHostOf(url)); // who sends has asked for plain HTTP, or was refused
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
