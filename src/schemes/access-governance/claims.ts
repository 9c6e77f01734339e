// The claims of a token, made and compared.
import { sha256Base64url } from "#hash";
import type { Check } from "../../core/check.js";
import { MAX_TOKEN_LIFETIME_SECONDS } from "../../core/protocol.js";
import { shown } from "../../core/shown.js";
import { type ListenerCodes, listenerChecks } from "./checks.js";

/** The claims that bind a token to one request (specification 5.2, required claims). */
interface Claims {
  readonly sub: string;
  readonly aud: string;
  readonly exp: number;
  readonly jti: string;
  readonly htm: "POST";
  readonly htb_s256: string;
}

/** What a token's claims are compared with: configuration and the request as received. */
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

/** Compares every claim with what it must be; the first failed check is the verdict. */
export function* checkClaims(
  claims: Readonly<Record<string, unknown>>,
  expected: ExpectedClaims,
): Iterable<Check> {
  const now = expected.nowSeconds;
  const { exp, nbf } = claims;
  const latest = now + MAX_TOKEN_LIFETIME_SECONDS;
  const isInTime = Number.isSafeInteger(exp) && (exp as number) > now && (exp as number) <= latest;
  yield check("exp", "CLAIM_EXP_INVALID", exp, `${now} < exp <= ${latest}`, isInTime);
  const hasBegun = nbf === undefined || (typeof nbf === "number" && nbf <= now);
  yield check("nbf", "CLAIM_NBF_INVALID", nbf, `nbf <= ${now}`, hasBegun);
  yield equals("sub", "CLAIM_SUB_INVALID", claims.sub, expected.baseUrl);
  yield equals("aud", "CLAIM_AUD_INVALID", claims.aud, expected.url);
  const jti = typeof claims.jti === "string" ? claims.jti.toLowerCase() : claims.jti;
  yield equals("jti", "CLAIM_JTI_INVALID", jti, expected.eventId.toLowerCase());
  yield equals("htm", "CLAIM_HTM_INVALID", claims.htm, "POST");
  yield equals("htb_s256", "CLAIM_HTB_S256_INVALID", claims.htb_s256, sha256Base64url(expected.body));
}

function equals<Step extends keyof ListenerCodes>(
  step: Step,
  code: ListenerCodes[Step],
  seen: unknown,
  wanted: string,
): Check {
  return check(step, code, seen, shown(wanted), seen === wanted);
}

function check<Step extends keyof ListenerCodes>(
  step: Step,
  code: ListenerCodes[Step],
  seen: unknown,
  wanted: string,
  ok: boolean,
): Check {
  const text = seen === undefined ? "nothing" : shown(seen, 200);
  return ok ? listenerChecks.passed(step, text, wanted) : listenerChecks.failed(step, code, text, wanted);
}
