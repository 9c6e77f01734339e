import { type Cidr, cidrContains, formatIp, type IpAddress, parseIp } from "../core/address.js";
import { type Check, failed, passed, shown } from "../core/check.js";
import { isEventId } from "../core/event.js";
import {
  AUTHORIZATION_HEADER,
  CONTENT_TYPE_HEADER,
  EVENT_ID_HEADER,
  type ReceivedHeaders,
  SIGNATURE_HEADER,
  TIMESTAMP_HEADER,
} from "../core/headers.js";
import { parseJson } from "../core/json.js";
import { listenerIdOf } from "../core/listener-url.js";
import { isTimestamp, MAX_BODY_BYTES, signingHead, TIMESTAMP_TOLERANCE_SECONDS } from "../core/protocol.js";
import { type HmacVerifier, isSignature } from "../hmac/signature.js";
import { checkToken } from "../jwt/verify.js";
import type { PreparedListener } from "./listener.js";

/** A request as far as it is known before its body is read. */
export interface RequestHead {
  readonly method: string;
  readonly url: string;
  readonly headers: ReceivedHeaders;
  readonly sourceAddress: string | undefined;
  readonly headersDropped?: boolean | undefined;
}

const TWICE = "the header more than once";

/** Checks 1 to 4: the listener, the method, that no header was dropped, and where the request comes from. */
export function* checkEnvelope(
  listener: PreparedListener,
  head: RequestHead,
  trustedProxies: readonly Cidr[],
): Iterable<Check> {
  const id = listenerIdOf(head.url);
  yield id === listener.id
    ? passed("listener", id)
    : failed("listener", "LISTENER_UNKNOWN", shown(id ?? head.url));
  yield head.method === "POST"
    ? passed("method")
    : failed("method", "METHOD_NOT_ALLOWED", shown(head.method));
  yield head.headersDropped
    ? failed("headers", "HEADERS_TOO_MANY", "so many that some may have been dropped")
    : passed("headers");
  yield checkSource(listener, head, trustedProxies);
}

function checkSource(
  { allowedCidrs }: PreparedListener,
  { sourceAddress, headers }: RequestHead,
  trustedProxies: readonly Cidr[],
): Check {
  if (allowedCidrs.length === 0) return passed("source", "no ranges are set");
  const source = sourceOf(sourceAddress, headers.all("X-Forwarded-For"), trustedProxies);
  if (source === undefined) return failed("source", "SOURCE_NOT_ALLOWED", "no address, or a malformed one");
  return contains(allowedCidrs, source)
    ? passed("source", formatIp(source))
    : failed("source", "SOURCE_NOT_ALLOWED", formatIp(source));
}

/**
 * Where a request comes from. Without trusted proxies that is the socket's peer. Behind them, `X-Forwarded-For`
 * is read from the right, past every trusted address: what stands further left may be invented by the sender.
 * `undefined` when the address is unknown or malformed.
 */
export function sourceOf(
  peer: string | undefined,
  forwardedFor: readonly string[],
  trustedProxies: readonly Cidr[],
): IpAddress | undefined {
  let source = parseIp(peer?.split("%", 1)[0] ?? "");
  const hops = forwardedFor.join(",").split(",").map(withoutBlanks);
  for (let i = hops.length - 1; i >= 0 && source !== undefined && contains(trustedProxies, source); i--) {
    if (hops[i] === "" && hops.length === 1) break;
    source = parseIp(hops[i] ?? "");
  }
  return source;
}

/** Without the spaces and tabs around it. A regular expression would read a row of blanks once for each of them. */
function withoutBlanks(hop: string): string {
  let [start, end] = [0, hop.length];
  while (start < end && isBlank(hop[start])) start++;
  while (end > start && isBlank(hop[end - 1])) end--;
  return hop.slice(start, end);
}

function isBlank(character: string | undefined): boolean {
  return character === " " || character === "\t";
}

function contains(ranges: readonly Cidr[], address: IpAddress): boolean {
  return ranges.some((cidr) => cidrContains(cidr, address));
}

/** Check 5, once the body is there or known to be too large. */
export function checkSize(body: Uint8Array | "too-large" | "unreadable"): Check {
  if (body === "unreadable") return failed("size", "BODY_UNREADABLE", "a body that broke off");
  if (body === "too-large" || body.length > MAX_BODY_BYTES) return failed("size", "BODY_TOO_LARGE", "more");
  return passed("size", `${body.length} bytes`);
}

/** Checks 6 to 8: the form of the three headers. */
export function* checkHeaders(headers: ReceivedHeaders): Iterable<Check> {
  const [timestamp, ...moreTimestamps] = headers.all(TIMESTAMP_HEADER);
  if (timestamp === undefined) yield failed("timestamp", "TIMESTAMP_MISSING", "nothing");
  else if (moreTimestamps.length > 0) yield failed("timestamp", "TIMESTAMP_MALFORMED", TWICE);
  else if (!isTimestamp(timestamp)) yield failed("timestamp", "TIMESTAMP_MALFORMED", shown(timestamp));
  else yield passed("timestamp", timestamp);

  const [id, ...moreIds] = headers.all(EVENT_ID_HEADER);
  if (id === undefined) yield failed("event-id", "EVENT_ID_MISSING", "nothing");
  else if (moreIds.length > 0) yield failed("event-id", "EVENT_ID_MALFORMED", TWICE);
  else if (!isEventId(id)) yield failed("event-id", "EVENT_ID_MALFORMED", shown(id));
  else yield passed("event-id", id);

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
    return failed("content-type", "CONTENT_TYPE_MALFORMED", `${contentType.length} characters`, wanted);
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
export function checkWindow(headers: ReceivedHeaders, nowSeconds: number): Check {
  const [timestamp = ""] = headers.all(TIMESTAMP_HEADER);
  const age = nowSeconds - Number(timestamp);
  const seen = `${timestamp}, ${Math.abs(age)} s ${age > 0 ? "in the past" : "in the future"}`;
  if (Math.abs(age) <= TIMESTAMP_TOLERANCE_SECONDS) return passed("window", age === 0 ? timestamp : seen);
  const wanted = `${nowSeconds - TIMESTAMP_TOLERANCE_SECONDS} to ${nowSeconds + TIMESTAMP_TOLERANCE_SECONDS}`;
  return failed("window", "TIMESTAMP_OUT_OF_WINDOW", seen, wanted);
}

/** Checks 10 to 21: those of the listener's own method, over the headers and the bytes as received. */
export async function checkCredential(
  listener: PreparedListener,
  headers: ReceivedHeaders,
  body: Uint8Array,
  nowSeconds: number,
): Promise<readonly Check[]> {
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
    const seen = `${signature.length} characters: ${begins(signature)}`;
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

/** The white space is HTTP's own, space and tab; trim() would take away more. */
const JSON_TYPE = /^[ \t]*application\/json[ \t]*(?:;|$)/i;

/** Check 22: the media type, and that the body is not encoded. */
export function checkEncoding(headers: ReceivedHeaders): Check {
  const [contentType = ""] = headers.all(CONTENT_TYPE_HEADER);
  if (!JSON_TYPE.test(contentType))
    return failed("media-type", "CONTENT_TYPE_UNSUPPORTED", shown(contentType));
  const encodings = headers.all("Content-Encoding");
  if (encodings.length > 0)
    return failed("media-type", "CONTENT_ENCODING_UNSUPPORTED", shown(encodings.join(", ")));
  return passed("media-type");
}

/** Check 23: one JSON value in strict UTF-8; `payload` is the value where the check passed. */
export function checkBody(body: Uint8Array): { readonly check: Check; readonly payload: unknown } {
  const parsed = parseJson(body);
  if (parsed.ok) return { check: passed("body"), payload: parsed.value };
  const reason =
    parsed.reason === "not-utf8" ? "bytes that are not UTF-8" : "text that is not one JSON value";
  const check = failed("body", "BODY_NOT_JSON", body.length === 0 ? "an empty body" : reason);
  return { check, payload: undefined };
}
