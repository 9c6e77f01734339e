import { type HmacVerifier, isSignature } from "../hmac/verify.js";
import { checkToken } from "../jwt/verify.js";
import { type Cidr, cidrContains, formatIp } from "../primitives/address.js";
import { type Check, shown } from "../protocol/check.js";
import { isEventId } from "../protocol/event-id.js";
import {
  AUTHORIZATION_HEADER,
  CONTENT_TYPE_HEADER,
  EVENT_ID_HEADER,
  type ReceivedHeaders,
  SIGNATURE_HEADER,
  TIMESTAMP_HEADER,
} from "../protocol/headers.js";
import { MAX_BODY_BYTES, TIMESTAMP_TOLERANCE_SECONDS } from "../protocol/limits.js";
import { listenerIdOf } from "../protocol/listener-url.js";
import { signingHead } from "../protocol/signing-input.js";
import { isTimestamp } from "../protocol/timestamp.js";
import type { PreparedListener } from "./listener.js";
import { sourceOf } from "./source-address.js";
import { failed, passed } from "./verdict.js";

/** A request as far as it is known before its body is read. */
export interface RequestHead {
  readonly method: string;
  readonly url: string;
  readonly headers: ReceivedHeaders;
  readonly sourceAddress: string | undefined;
  readonly headersDropped?: boolean | undefined;
}

/** Steps 0 and 1: the listener, the method, and where the request comes from. */
export function* checkEnvelope(
  listener: PreparedListener,
  head: RequestHead,
  trustedProxies: readonly Cidr[],
): Iterable<Check> {
  const listenerRule = "the path names a listener that exists";
  const id = listenerIdOf(head.url);
  yield id === listener.id
    ? passed("listener", listenerRule, id)
    : failed("listener", "LISTENER_UNKNOWN", listenerRule, shown(id ?? head.url));

  const methodRule = "the method is POST";
  yield head.method === "POST"
    ? passed("method", methodRule)
    : failed("method", "METHOD_NOT_ALLOWED", methodRule, shown(head.method));

  if (head.headersDropped)
    yield failed(
      "headers",
      "HEADERS_TOO_MANY",
      "every header line was kept",
      "so many that some were dropped",
    );

  const sourceRule = "the source address is in an allowed range, if there are any";
  if (listener.allowedCidrs.length === 0) {
    yield passed("source", sourceRule, "no ranges are set");
    return;
  }
  const source = sourceOf(head.sourceAddress, head.headers.all("X-Forwarded-For"), trustedProxies);
  const inside = source !== undefined && listener.allowedCidrs.some((cidr) => cidrContains(cidr, source));
  const seen = source === undefined ? "no address, or a malformed one" : formatIp(source);
  yield inside
    ? passed("source", sourceRule, seen)
    : failed("source", "SOURCE_NOT_ALLOWED", sourceRule, seen);
}

/** Step 2, once the body is there or known to be too large. */
export function checkSize(body: Uint8Array | "too-large" | "unreadable"): Check {
  const rule = `the body is complete and has at most ${MAX_BODY_BYTES} bytes`;
  if (body === "unreadable") return failed("size", "BODY_UNREADABLE", rule, "a body that broke off");
  if (body === "too-large" || body.length > MAX_BODY_BYTES)
    return failed("size", "BODY_TOO_LARGE", rule, "more");
  return passed("size", rule, `${body.length} bytes`);
}

/** Steps 3 and 4: the three headers, then the time window. */
export function* checkHeaders(headers: ReceivedHeaders, nowSeconds: number): Iterable<Check> {
  const [timestamp = "", ...moreTimestamps] = headers.all(TIMESTAMP_HEADER);
  const timestampRule = `${TIMESTAMP_HEADER} is one Unix time in whole seconds`;
  if (headers.all(TIMESTAMP_HEADER).length === 0)
    yield failed("timestamp", "TIMESTAMP_MISSING", timestampRule, "nothing");
  else if (moreTimestamps.length > 0)
    yield failed("timestamp", "TIMESTAMP_MALFORMED", timestampRule, "the header more than once");
  else if (!isTimestamp(timestamp))
    yield failed("timestamp", "TIMESTAMP_MALFORMED", timestampRule, shown(timestamp));
  else yield passed("timestamp", timestampRule, timestamp);

  const ids = headers.all(EVENT_ID_HEADER);
  const idRule = `${EVENT_ID_HEADER} is one UUID of version 4`;
  if (ids.length === 0) yield failed("event-id", "EVENT_ID_MISSING", idRule, "nothing");
  else if (ids.length > 1)
    yield failed("event-id", "EVENT_ID_MALFORMED", idRule, "the header more than once");
  else if (!isEventId(ids[0] ?? "")) yield failed("event-id", "EVENT_ID_MALFORMED", idRule, shown(ids[0]));
  else yield passed("event-id", idRule, ids[0]);

  const types = headers.all(CONTENT_TYPE_HEADER);
  const typeRule = `${CONTENT_TYPE_HEADER} is present, once`;
  if (types.length === 0) yield failed("content-type", "CONTENT_TYPE_MISSING", typeRule, "nothing");
  else if (types.length > 1)
    yield failed("content-type", "CONTENT_TYPE_MALFORMED", typeRule, "the header more than once");
  else yield checkMediaType(types[0] ?? "", typeRule);

  const away = nowSeconds - Number(timestamp);
  const windowRule = `the timestamp is at most ${TIMESTAMP_TOLERANCE_SECONDS} s from the server's time`;
  const seen = `${timestamp}, ${Math.abs(away)} s ${away > 0 ? "in the past" : "in the future"}`;
  const wanted = `${nowSeconds - TIMESTAMP_TOLERANCE_SECONDS} to ${nowSeconds + TIMESTAMP_TOLERANCE_SECONDS}`;
  if (Math.abs(away) <= TIMESTAMP_TOLERANCE_SECONDS)
    yield passed("window", windowRule, away === 0 ? timestamp : seen);
  else yield failed("window", "TIMESTAMP_OUT_OF_WINDOW", windowRule, seen, wanted);
}

/** A media type has at most this many characters; RFC 6838 allows 255 for its name, and parameters are short. */
const MAX_MEDIA_TYPE_LENGTH = 256;

function checkMediaType(contentType: string, rule: string): Check {
  if (contentType.length > MAX_MEDIA_TYPE_LENGTH) {
    const wanted = `at most ${MAX_MEDIA_TYPE_LENGTH}`;
    return failed("content-type", "CONTENT_TYPE_MALFORMED", rule, `${contentType.length} characters`, wanted);
  }
  const fault = faultOf(contentType);
  return fault === undefined
    ? passed("content-type", rule, shown(contentType))
    : failed("content-type", "CONTENT_TYPE_MALFORMED", rule, fault);
}

/** Servers that merge headers join two of them with a comma, which no media type has outside of quotes. */
function faultOf(contentType: string): string | undefined {
  let quoted = false;
  for (let at = 0; at < contentType.length; at++) {
    const character = contentType[at];
    if (character === "\\" && quoted) at++;
    else if (character === '"') quoted = !quoted;
    else if (character === "," && !quoted) return "the header more than once";
  }
  return quoted ? "a quote that is not closed" : undefined;
}

/** Step 5: the listener's own method, over the headers and bytes as received. */
export async function checkCredential(
  listener: PreparedListener,
  headers: ReceivedHeaders,
  body: Uint8Array,
  nowSeconds: number,
): Promise<readonly Check[]> {
  const isHmac = listener.auth.method === "hmac";
  const name = isHmac ? SIGNATURE_HEADER : AUTHORIZATION_HEADER;
  const values = headers.all(name);
  const [value = ""] = values;
  const rule = `${name} is present, once`;
  if (values.length === 0)
    return [failed("credential", isHmac ? "SIGNATURE_MISSING" : "TOKEN_MISSING", rule, "nothing")];
  if (values.length > 1) {
    const code = isHmac ? "SIGNATURE_MALFORMED" : "TOKEN_MALFORMED";
    return [failed("credential", code, rule, "the header more than once")];
  }
  const present = passed("credential", rule);

  const [timestamp = ""] = headers.all(TIMESTAMP_HEADER);
  const [eventId = ""] = headers.all(EVENT_ID_HEADER);
  if (listener.auth.method === "hmac") {
    return [present, checkSignature(listener.auth.verifier, signingHead(timestamp, eventId), body, value)];
  }
  const { baseUrl, url } = listener;
  const rules = { ...listener.auth, baseUrl, url, eventId, body, nowSeconds };
  return [present, ...(await checkToken(value, rules))];
}

function checkSignature(verifier: HmacVerifier, head: string, body: Uint8Array, signature: string): Check {
  const rule = "the signature is HMAC-SHA256 over {timestamp}.{event_id}.{body}, 43 characters of base64url";
  if (!isSignature(signature)) {
    const seen = `${signature.length} characters: ${begins(signature)}`;
    return failed("signature", "SIGNATURE_MALFORMED", rule, seen);
  }
  if (verifier.matches(head, body, signature)) return passed("signature", rule, begins(signature));
  const wanted = begins(verifier.expected(head, body));
  return failed("signature", "SIGNATURE_MISMATCH", rule, begins(signature), wanted);
}

/** Enough of a signature to tell two apart, not enough to use it. */
function begins(signature: string): string {
  return shown(signature, 6);
}
