// The verifier of security event tokens.
import { decodeUtf8 } from "../../core/bytes.js";
import { type Check, type FailedCheck, type SchemeCheck, schemeChecks } from "../../core/check.js";
import type { VerdictCode } from "../../core/errors.js";
import { STORABLE_ID } from "../../core/event.js";
import { CONTENT_TYPE_HEADER, type ReceivedHeaders } from "../../core/headers.js";
import { checkOptions } from "../../core/options.js";
import { EVENT_ID_RETENTION_MS, MAX_BODY_BYTES, TIMESTAMP_TOLERANCE_SECONDS } from "../../core/protocol.js";
import { shown } from "../../core/shown.js";
import { eventsFault, MAX_EVENTS, type SecurityEvent } from "../../events/security-events.js";
import { type KeyResolver, openToken } from "../../jwt/verify.js";
import { passAll } from "../pass-all.js";
import type { UnverifiedRequest, Verification, Verifier } from "../scheme.js";
import { answers } from "./answers.js";
import { SET_TYP, securityEventToken } from "./sign.js";

/**
 * A token must be younger than a receiver's memory, or it could be replayed afterwards. Its `iat` may be ahead of the
 * receiver's clock by the tolerance, which is taken off twice: for the first copy, and for the replayed one.
 */
const MAX_AGE_SECONDS = EVENT_ID_RETENTION_MS / 1000 - 2 * TIMESTAMP_TOLERANCE_SECONDS;

const CHECKS: readonly SchemeCheck[] = [
  {
    step: "media-type",
    rule: `Content-Type is application/${SET_TYP}, sent once, and the body is not encoded`,
    codes: [
      "CONTENT_TYPE_MISSING",
      "CONTENT_TYPE_MALFORMED",
      "CONTENT_TYPE_UNSUPPORTED",
      "CONTENT_ENCODING_UNSUPPORTED",
    ],
  },
  {
    step: "token",
    rule: `the body is one signed JWT in compact form, and nothing else; typ is ${SET_TYP}, alg is RS256, ES256 or EdDSA, and no member of its header is refused`,
    codes: [
      "TOKEN_MISSING",
      "TOKEN_MALFORMED",
      "TOKEN_HEADER_REFUSED",
      "TOKEN_ALGORITHM_REFUSED",
      "TOKEN_KEY_ID_INVALID",
    ],
  },
  {
    step: "key",
    rule: "the issuer's key set has one usable key for the token's kid and alg",
    codes: ["KEY_NOT_FOUND", "KEY_SET_UNAVAILABLE", "KEY_SET_INVALID"],
  },
  {
    step: "token-signature",
    rule: "the token's signature is by that key",
    codes: ["TOKEN_SIGNATURE_MISMATCH"],
  },
  { step: "claims", rule: "the claims are one JSON object, each name once", codes: ["TOKEN_MALFORMED"] },
  { step: "iss", rule: "iss is the issuer that this receiver expects", codes: ["CLAIM_ISS_INVALID"] },
  { step: "aud", rule: "aud is this receiver, or a list with it", codes: ["CLAIM_AUD_INVALID"] },
  {
    step: "jti",
    rule: "jti is a text of 1 to 256 characters, none of them a control character",
    codes: ["CLAIM_JTI_INVALID"],
  },
  {
    step: "timestamp",
    rule: "iat is a Unix time in seconds",
    codes: ["TIMESTAMP_MISSING", "TIMESTAMP_MALFORMED"],
  },
  {
    step: "window",
    rule: `iat is at most ${TIMESTAMP_TOLERANCE_SECONDS} s ahead of the server's time and less than 7 days old`,
    codes: ["TIMESTAMP_OUT_OF_WINDOW"],
  },
  {
    step: "exp",
    rule: "exp, which a security event token does not need, is in the future if it is there",
    codes: ["CLAIM_EXP_INVALID"],
  },
  { step: "nbf", rule: "nbf, if it is there, is not in the future", codes: ["CLAIM_NBF_INVALID"] },
  {
    step: "events",
    rule: `events is one object of 1 to ${MAX_EVENTS} events: the URI of each type, and an object`,
    codes: ["CLAIM_EVENTS_INVALID"],
  },
];

const { passed, failed } = schemeChecks(CHECKS);

/** What a receiver of security event tokens expects. */
export interface SecurityEventVerifierOptions {
  /** The claim `iss` of the one issuer, compared letter by letter. */
  readonly issuer: string;
  /** Who this receiver is: a token's `aud` must be this text, or a list with it. */
  readonly audience: string;
  /** The issuer's keys: `remoteKeys` or `localKeys` of `hookproof/jwks`. */
  readonly keys: KeyResolver;
}

/** The claims of a token that was accepted: what `event.payload` is. */
export interface SecurityEventClaims extends SecurityEvent {
  /** Who issued it. */
  readonly iss: string;
  /** The event id. */
  readonly jti: string;
  /** Unix seconds. */
  readonly iat: number;
  /** Whom it is for. */
  readonly aud: string | readonly string[];
}

/**
 * The verifier for security event tokens that are pushed (RFC 8417, RFC 8935). The receiver answers 202, also to a copy,
 * which is not run again; 400 with `err` and `description`; and 503 where it is not the token's fault. `event.id` is the
 * token's `jti`, `event.payload` its claims, `SecurityEventClaims`.
 *
 * Only tokens with `typ: "secevent+jwt"` are accepted, so that no other kind of JWT can be passed off as an event. A token
 * that is as old as the replay store's memory is refused.
 *
 * @throws {TypeError} for a wrong option
 *
 * @example
 * ```ts
 * import { remoteKeys } from "hookproof/jwks";
 * import { createReceiver } from "hookproof/receiver";
 * import { CAEP, type SecurityEventClaims, securityEventVerifier } from "hookproof/set";
 *
 * const receiver = createReceiver({
 *   verifier: securityEventVerifier({
 *     issuer: "https://idp.example.com/",
 *     audience: "https://receiver.example.com/",
 *     keys: remoteKeys("https://idp.example.com/jwks.json"),
 *   }),
 * });
 * const handler = (request: Request) =>
 *   receiver.handle(request, async ({ payload }) => {
 *     const { events, sub_id } = payload as SecurityEventClaims;
 *     if (events[CAEP.sessionRevoked]) console.log("sign out", sub_id);
 *   });
 * ```
 */
export function securityEventVerifier(options: SecurityEventVerifierOptions): Verifier {
  checkOptions("securityEventVerifier", options, { issuer: 1, audience: 1, keys: 1 });
  for (const name of ["issuer", "audience"] as const)
    if (typeof options[name] !== "string" || options[name] === "")
      throw new TypeError(`${name} must be a text, as in the token`);
  if (typeof options.keys?.resolve !== "function")
    throw new TypeError("keys must be a resolver: localKeys(...) or remoteKeys(...)");
  return {
    scheme: securityEventToken,
    checks: CHECKS,
    answers,
    verify: (request) => verify(request, options),
  };
}

async function verify(
  { headers, body, nowSeconds }: UnverifiedRequest,
  options: SecurityEventVerifierOptions,
): Promise<Verification> {
  const checks: Check[] = [];
  const refused: Verification = { ok: false, checks };
  if (!passAll(checks, checkForm(headers, body))) return refused;
  const form = { keys: options.keys, allowEd25519: true, typ: SET_TYP, maxLength: MAX_BODY_BYTES };
  const { checks: opening, claims } = await openToken(decodeUtf8(body) ?? "", form, { passed, failed });
  if (!passAll(checks, opening) || !claims) return refused;
  if (!passAll(checks, checkClaims(claims, options, nowSeconds()))) return refused;
  const { jti, iat } = claims as unknown as SecurityEventClaims;
  return { ok: true, checks, id: jti, timestamp: iat, payload: claims };
}

const SET_TYPE = /^[ \t]*application\/secevent\+jwt[ \t]*(?:;|$)/i;

function* checkForm(headers: ReceivedHeaders, body: Uint8Array): Iterable<Check> {
  yield checkMediaType(headers.all(CONTENT_TYPE_HEADER), headers.all("Content-Encoding"));
  if (body.length === 0) yield failed("token", "TOKEN_MISSING", "nothing");
}

function checkMediaType([type, ...more]: readonly string[], encodings: readonly string[]): Check {
  if (type === undefined) return failed("media-type", "CONTENT_TYPE_MISSING", "nothing");
  if (more.length > 0) return failed("media-type", "CONTENT_TYPE_MALFORMED", "the header more than once");
  if (!SET_TYPE.test(type)) return failed("media-type", "CONTENT_TYPE_UNSUPPORTED", shown(type));
  if (encodings.length > 0)
    return failed("media-type", "CONTENT_ENCODING_UNSUPPORTED", shown(encodings.join(", ")));
  return passed("media-type");
}

/** The claims in order; a check that needs an earlier one is made after it, so stop at the first that fails. */
function* checkClaims(
  { iss, aud, jti, iat, exp, nbf, events }: Readonly<Record<string, unknown>>,
  { issuer, audience }: SecurityEventVerifierOptions,
  now: number,
): Iterable<Check> {
  yield claim("iss", "CLAIM_ISS_INVALID", iss === issuer, iss, shown(issuer));
  const isForUs = aud === audience || (Array.isArray(aud) && aud.includes(audience));
  yield claim("aud", "CLAIM_AUD_INVALID", isForUs, aud, shown(audience));
  const isId = typeof jti === "string" && STORABLE_ID.test(jti);
  yield claim("jti", "CLAIM_JTI_INVALID", isId, jti);

  if (iat === undefined) yield failed("timestamp", "TIMESTAMP_MISSING", "nothing");
  const isTime = typeof iat === "number" && iat >= 0;
  yield claim("timestamp", "TIMESTAMP_MALFORMED", isTime, iat);
  const oldest = now - MAX_AGE_SECONDS;
  const latest = now + TIMESTAMP_TOLERANCE_SECONDS;
  const isNear = (iat as number) > oldest && (iat as number) <= latest;
  yield claim("window", "TIMESTAMP_OUT_OF_WINDOW", isNear, iat, `${oldest} < iat <= ${latest}`);

  const isOpen = exp === undefined || (typeof exp === "number" && exp > now);
  yield claim("exp", "CLAIM_EXP_INVALID", isOpen, exp, `no exp, or exp > ${now}`);
  const hasBegun = nbf === undefined || (typeof nbf === "number" && nbf <= latest);
  yield claim("nbf", "CLAIM_NBF_INVALID", hasBegun, nbf, `no nbf, or nbf <= ${latest}`);

  const fault = eventsFault(events);
  yield fault === undefined
    ? passed("events", shown(Object.keys(events as object), 200))
    : failed("events", "CLAIM_EVENTS_INVALID", events === undefined ? "nothing" : fault);
}

function claim(
  step: string,
  code: VerdictCode,
  ok: boolean,
  value: unknown,
  wanted?: string,
): Check | FailedCheck {
  const seen = value === undefined ? "nothing" : shown(value, 200);
  return ok ? passed(step, seen) : failed(step, code, seen, wanted);
}
