// The verifier of a listener of the service.
import type { Check } from "../../core/check.js";
import { messageOf, notGiven } from "../../core/errors.js";
import { isEventId } from "../../core/event.js";
import {
  AUTHORIZATION_HEADER,
  CONTENT_TYPE_HEADER,
  jsonTypeFault,
  type ReceivedHeaders,
} from "../../core/headers.js";
import { parseJson } from "../../core/json.js";
import { checkOptions, type OptionNames } from "../../core/options.js";
import { isTimestamp, TIMESTAMP_TOLERANCE_SECONDS } from "../../core/protocol.js";
import { countOf, shown } from "../../core/shown.js";
import { andThen } from "../../core/value-or-promise.js";
import { bearerToken } from "../../jwt/token.js";
import { type KeyResolver, openToken } from "../../jwt/verify.js";
import { checkHeader, passAll, TWICE } from "../pass-all.js";
import type { UnverifiedRequest, Verification, Verifier } from "../scheme.js";
import { LISTENER_CHECKS, listenerChecks } from "./checks.js";
import { checkClaims, type ExpectedClaims } from "./claims.js";
import { type HmacVerifier, hmacVerifier, isSignature } from "./hmac.js";
import { isListenerId, listenerIdOf, listenerUrl, parseBaseUrl } from "./listener-url.js";
import { EVENT_ID_HEADER, SIGNATURE_HEADER, signingHead, TIMESTAMP_HEADER } from "./protocol.js";
import { refuseDocumented } from "./secret.js";
import { byToken } from "./sign.js";

const { passed, failed } = listenerChecks;

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
        /** Accept the header `alg: "Ed25519"` (RFC 9864) next to `EdDSA`; off by default. */
        readonly allowEd25519?: boolean | undefined;
      };
  /** Address ranges that requests may come from, such as `["203.0.113.0/24"]`; from anywhere by default. */
  readonly allowedCidrs?: readonly string[] | undefined;
}

type Names = OptionNames<ListenerOptions>;

/** A listener's options, checked and parsed, with its secrets prepared. */
interface PreparedListener {
  readonly baseUrl: string;
  readonly url: string;
  readonly auth:
    | { readonly method: "hmac"; readonly verifier: HmacVerifier }
    | { readonly method: "jwt"; readonly keys: KeyResolver; readonly allowEd25519: boolean };
}

/**
 * The verifier of a listener of the service. Its options are checked once, at the start, so that a mistake does not show
 * at the first request.
 */
export function listenerVerifier(
  listener: ListenerOptions,
  { allowDocumentedSecret = false }: { allowDocumentedSecret?: boolean | undefined } = {},
): Verifier {
  checkOptions("listener", listener, {
    id: 1,
    baseUrl: "string",
    auth: 1,
    allowedCidrs: "texts",
  } satisfies Names);
  const { id } = listener;
  if (typeof id !== "string" || !isListenerId(id)) {
    throw new TypeError("listener.id must be 1 to 128 letters, digits, - or _");
  }
  const baseUrl = parseBaseUrl(listener.baseUrl);
  const auth = prepareAuth(listener.auth, allowDocumentedSecret);
  const prepared: PreparedListener = { baseUrl, url: listenerUrl(baseUrl, id), auth };
  return {
    scheme: byToken,
    checks: LISTENER_CHECKS,
    answers: {
      body: (refusal) =>
        refusal ? JSON.stringify({ code: refusal.code, message: messageOf(refusal.code) }) : "{}",
    },
    checkTarget(url) {
      const found = listenerIdOf(url);
      return found === id
        ? passed("listener", found)
        : failed("listener", "LISTENER_UNKNOWN", shown(found ?? url));
    },
    verify: (request) => verify(prepared, request),
  };
}

/** Each of them is tried with every request, whoever sends it: a rotation has two. */
const MAX_SECRETS = 10;

function prepareAuth(
  auth: ListenerOptions["auth"],
  allowDocumentedSecret: boolean,
): PreparedListener["auth"] {
  checkOptions("listener.auth", auth, { method: 1, secret: 1, keys: 1, allowEd25519: "boolean" });
  if (auth.method === "hmac") {
    if (auth.secret === undefined) throw notGiven("listener.auth.secret", auth.secret);
    const secrets = typeof auth.secret === "string" ? [auth.secret] : auth.secret;
    if (!Array.isArray(secrets) || secrets.length === 0 || secrets.length > MAX_SECRETS)
      throw new TypeError(`listener.auth.secret must be a string or a list of 1 to ${MAX_SECRETS} strings`);
    const verifier = hmacVerifier(secrets);
    if (!allowDocumentedSecret) secrets.forEach(refuseDocumented);
    return { method: "hmac", verifier };
  }
  if (auth.method === "jwt" && typeof auth.keys?.resolve === "function") {
    return { method: "jwt", keys: auth.keys, allowEd25519: auth.allowEd25519 ?? false };
  }
  throw new TypeError('listener.auth must be { method: "hmac", secret } or { method: "jwt", keys }');
}

/** Checks 6 to 23, in order, up to the first that fails. It asks the clock and looks up keys. */
function verify(
  listener: PreparedListener,
  { headers, body, nowSeconds }: UnverifiedRequest,
): Verification | Promise<Verification> {
  const checks: Check[] = [];
  if (!passAll(checks, checkHeaders(headers))) return { ok: false, checks };
  let now: number;
  try {
    now = nowSeconds();
  } catch (cause) {
    // Without the time nothing more can be checked. That is not the sender's fault, so the event may come again.
    return { ok: false, checks: [...checks, failed("window", "RUN_FAILED", "a clock that failed")], cause };
  }
  if (!passAll(checks, [checkWindow(headers, now)])) return { ok: false, checks };
  const withCredential = (credential: readonly Check[]): Verification => {
    if (!passAll(checks, credential)) return { ok: false, checks };
    if (!passAll(checks, [checkEncoding(headers)])) return { ok: false, checks };
    const { check, payload } = checkBody(body);
    if (!passAll(checks, [check])) return { ok: false, checks };
    const [id = ""] = headers.all(EVENT_ID_HEADER);
    const [timestamp = ""] = headers.all(TIMESTAMP_HEADER);
    return { ok: true, checks, id: id.toLowerCase(), timestamp: Number(timestamp), payload };
  };
  const credential = checkCredential(listener, headers, body, now);
  return andThen(credential, withCredential);
}

/** Checks 6 to 8: the form of the three headers. */
function* checkHeaders(headers: ReceivedHeaders): Iterable<Check> {
  const seenTime = (text: string) => (isTimestamp(text) ? text : undefined);
  yield checkHeader(headers.all(TIMESTAMP_HEADER), "timestamp", "TIMESTAMP", seenTime, listenerChecks);
  const seenId = (text: string) => (isEventId(text) ? text : undefined);
  yield checkHeader(headers.all(EVENT_ID_HEADER), "event-id", "EVENT_ID", seenId, listenerChecks);

  const [type, ...moreTypes] = headers.all(CONTENT_TYPE_HEADER);
  if (type === undefined) yield failed("content-type", "CONTENT_TYPE_MISSING", "nothing");
  else if (moreTypes.length > 0) yield failed("content-type", "CONTENT_TYPE_MALFORMED", TWICE);
  else yield checkMediaType(type);
}

/** A media type has at most this many characters; RFC 6838 allows 255 for its name, and parameters are short. */
const MAX_MEDIA_TYPE_LENGTH = 256;

function checkMediaType(contentType: string): Check {
  if (contentType.length > MAX_MEDIA_TYPE_LENGTH) {
    const wanted = `at most ${MAX_MEDIA_TYPE_LENGTH}`;
    return failed("content-type", "CONTENT_TYPE_MALFORMED", countOf(contentType.length, "character"), wanted);
  }
  const fault = faultOf(contentType);
  return fault === undefined
    ? passed("content-type", shown(contentType))
    : failed("content-type", "CONTENT_TYPE_MALFORMED", fault);
}

/** Servers that merge headers join two of them with a comma, which no media type has outside of quotes. */
function faultOf(contentType: string): string | undefined {
  let quoted = false;
  for (let at = 0; at < contentType.length; at++) {
    const character = contentType[at];
    if (character === "\\" && quoted) at++;
    else if (character === '"') quoted = !quoted;
    else if (character === "," && !quoted) return TWICE;
  }
  return quoted ? "a quote that is not closed" : undefined;
}

/** Check 9: the time window. It comes after check 6, so the header is one number. */
function checkWindow(headers: ReceivedHeaders, nowSeconds: number): Check {
  const [timestamp = ""] = headers.all(TIMESTAMP_HEADER);
  const age = nowSeconds - Number(timestamp);
  const seen = `${timestamp}, ${Math.abs(age)} s ${age > 0 ? "in the past" : "in the future"}`;
  if (Math.abs(age) <= TIMESTAMP_TOLERANCE_SECONDS) return passed("window", age === 0 ? timestamp : seen);
  const wanted = `${nowSeconds - TIMESTAMP_TOLERANCE_SECONDS} to ${nowSeconds + TIMESTAMP_TOLERANCE_SECONDS}`;
  return failed("window", "TIMESTAMP_OUT_OF_WINDOW", seen, wanted);
}

/** Checks 10 to 21: those of the listener's own method, over the headers and the bytes as received. */
function checkCredential(
  listener: PreparedListener,
  headers: ReceivedHeaders,
  body: Uint8Array,
  nowSeconds: number,
): readonly Check[] | Promise<readonly Check[]> {
  const { auth, baseUrl, url } = listener;
  const [timestamp = ""] = headers.all(TIMESTAMP_HEADER);
  const [eventId = ""] = headers.all(EVENT_ID_HEADER);
  if (auth.method === "hmac") {
    const head = signingHead(timestamp, eventId);
    return [checkSignature(auth.verifier, headers.all(SIGNATURE_HEADER), head, body)];
  }
  const [authorization, ...more] = headers.all(AUTHORIZATION_HEADER);
  if (authorization === undefined) return [failed("token", "TOKEN_MISSING", "nothing")];
  if (more.length > 0) return [failed("token", "TOKEN_MALFORMED", TWICE)];
  return checkToken(authorization, { ...auth, baseUrl, url, eventId, body, nowSeconds });
}

function checkSignature(
  verifier: HmacVerifier,
  [signature, ...more]: readonly string[],
  head: string,
  body: Uint8Array,
): Check {
  if (signature === undefined) return failed("signature", "SIGNATURE_MISSING", "nothing");
  if (more.length > 0) return failed("signature", "SIGNATURE_MALFORMED", TWICE);
  if (!isSignature(signature)) {
    const seen = `${countOf(signature.length, "character")}: ${begins(signature)}`;
    return failed("signature", "SIGNATURE_MALFORMED", seen);
  }
  if (verifier.matches(head, body, signature)) return passed("signature", begins(signature));
  const wanted = begins(verifier.expected(head, body));
  return failed("signature", "SIGNATURE_MISMATCH", begins(signature), wanted);
}

/** Enough of a signature to tell two apart, not enough to use it. */
function begins(signature: string): string {
  return shown(signature, 6);
}

/** Check 22: the media type, and that the body is not encoded. */
function checkEncoding(headers: ReceivedHeaders): Check {
  const fault = jsonTypeFault(headers);
  return fault ? failed("media-type", fault.code, shown(fault.seen)) : passed("media-type");
}

/** Check 23: one JSON value in strict UTF-8; `payload` is the value where the check passed. */
function checkBody(body: Uint8Array): { readonly check: Check; readonly payload: unknown } {
  const parsed = parseJson(body);
  if (parsed.ok) return { check: passed("body"), payload: parsed.value };
  const reason =
    parsed.reason === "not-utf8" ? "bytes that are not UTF-8" : "text that is not one JSON value";
  const check = failed("body", "BODY_NOT_JSON", body.length === 0 ? "an empty body" : reason);
  return { check, payload: undefined };
}

/** What the JWT method of a listener needs in addition to the request. */
export interface TokenRules extends ExpectedClaims {
  readonly keys: KeyResolver;
  /** Accept the header `alg: "Ed25519"` (RFC 9864) next to `EdDSA`. */
  readonly allowEd25519: boolean;
}

/**
 * The checks of the JWT method, `token` to `htb_s256` (specification 5.2). A check that needs an earlier one is not
 * made after that one failed; the first failure is the verdict.
 */
export async function checkToken(authorization: string, rules: TokenRules): Promise<readonly Check[]> {
  const token = bearerToken(authorization);
  if (token === undefined) return [failed("token", "TOKEN_MALFORMED", "another scheme or form")];
  const { checks, claims } = await openToken(token, rules, { passed, failed });
  return claims ? [...checks, ...checkClaims(claims, rules)] : checks;
}
