import { sha256Base64url } from "#hash";
import type { VerdictCode } from "../errors.js";
import { type Check, type CheckStep, shown } from "../protocol/check.js";
import { MAX_TOKEN_LIFETIME_SECONDS } from "../protocol/limits.js";

/** The claims that bind a token to one request (specification 5.2, required claims). */
export interface Claims {
  readonly sub: string;
  readonly aud: string;
  readonly exp: number;
  readonly jti: string;
  readonly htm: "POST";
  readonly htb_s256: string;
}

/** What a token's claims are held against: configuration and the request as received. */
export interface ExpectedClaims {
  /** The tenant's base URL, without a trailing slash. */
  readonly baseUrl: string;
  /** The listener's URL. */
  readonly url: string;
  readonly eventId: string;
  readonly body: Uint8Array;
  readonly nowSeconds: number;
}

/** The claims of a token for one request. */
export function claimsFor(request: {
  baseUrl: string;
  url: string;
  eventId: string;
  body: Uint8Array;
  exp: number;
}): Claims {
  return {
    sub: request.baseUrl,
    aud: request.url,
    exp: request.exp,
    jti: request.eventId.toLowerCase(),
    htm: "POST",
    htb_s256: sha256Base64url(request.body),
  };
}

/** Holds every claim against what it must be; the first failed check is the verdict. */
export function* checkClaims(
  claims: Readonly<Record<string, unknown>>,
  expected: ExpectedClaims,
): Iterable<Check> {
  const now = expected.nowSeconds;
  const { exp, nbf } = claims;
  const latest = now + MAX_TOKEN_LIFETIME_SECONDS;
  yield check(
    "exp",
    "CLAIM_EXP_INVALID",
    "exp is a whole number, after now and at most 600 s ahead",
    exp,
    `${now} < exp <= ${latest}`,
    Number.isSafeInteger(exp) && (exp as number) > now && (exp as number) <= latest,
  );
  if (nbf !== undefined) {
    yield check(
      "nbf",
      "CLAIM_NBF_INVALID",
      "nbf, if present, is a number that is not in the future",
      nbf,
      `nbf <= ${now}`,
      typeof nbf === "number" && nbf <= now,
    );
  }
  yield equals("sub", "CLAIM_SUB_INVALID", "sub is the tenant's base URL", claims.sub, expected.baseUrl);
  yield equals(
    "aud",
    "CLAIM_AUD_INVALID",
    "aud is the listener's URL, as one string",
    claims.aud,
    expected.url,
  );
  const jti = typeof claims.jti === "string" ? claims.jti.toLowerCase() : claims.jti;
  yield equals("jti", "CLAIM_JTI_INVALID", "jti is the event id", jti, expected.eventId.toLowerCase());
  yield equals("htm", "CLAIM_HTM_INVALID", "htm is the method, in capitals", claims.htm, "POST");
  yield equals(
    "htb_s256",
    "CLAIM_HTB_S256_INVALID",
    "htb_s256 is the SHA-256 of the body, base64url without padding",
    claims.htb_s256,
    sha256Base64url(expected.body),
  );
}

function equals(step: CheckStep, code: VerdictCode, rule: string, seen: unknown, wanted: string): Check {
  return check(step, code, rule, seen, shown(wanted), seen === wanted);
}

function check(
  step: CheckStep,
  code: VerdictCode,
  rule: string,
  seen: unknown,
  wanted: string,
  ok: boolean,
): Check {
  return {
    step,
    ok,
    ...(ok ? {} : { code }),
    rule,
    seen: seen === undefined ? "nothing" : shown(seen, 200),
    wanted,
  };
}
