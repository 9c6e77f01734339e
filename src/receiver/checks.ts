// The receiver's own checks, and where requests may come from.
import { type Cidr, cidrContains, formatIp, type IpAddress, parseIp } from "../core/address.js";
import { type Check, type SchemeCheck, schemeChecks } from "../core/check.js";
import type { ReceivedHeaders } from "../core/headers.js";
import { MAX_BODY_BYTES } from "../core/protocol.js";
import { countOf, shown } from "../core/shown.js";
import type { Verifier } from "../schemes/scheme.js";

/** A check that a receiver makes for every scheme, and where it comes from (`CheckRule`). */
interface ReceiverCheck extends SchemeCheck {
  readonly sections: readonly string[];
}

/** The checks of the request's envelope, before those of the scheme's proof. */
export const ENVELOPE_CHECKS = [
  {
    step: "method",
    rule: "the method is POST",
    codes: ["METHOD_NOT_ALLOWED"],
    sections: ["4.10"],
  },
  {
    step: "headers",
    rule: "the server has kept every header line",
    codes: ["HEADERS_TOO_MANY"],
    sections: ["R16"],
  },
  {
    step: "source",
    rule: "the source address is in an allowed range, if there are any",
    codes: ["SOURCE_NOT_ALLOWED"],
    sections: ["5.2", "R3"],
  },
  {
    step: "size",
    rule: `the body is complete and has at most ${MAX_BODY_BYTES} bytes`,
    codes: ["BODY_UNREADABLE", "BODY_TOO_LARGE"],
    sections: ["8", "R4"],
  },
] as const satisfies readonly ReceiverCheck[];

/** The checks of an event that is proved: whether it may run. */
export const ACCEPTANCE_CHECKS = [
  {
    step: "replay",
    rule: "the event id was not processed for this listener in the last 7 days",
    codes: ["EVENT_DUPLICATE", "EVENT_IN_FLIGHT", "REPLAY_STORE_UNAVAILABLE"],
    sections: ["6", "8", "R12"],
  },
  {
    step: "trigger",
    rule: "the automation is published and its trigger enabled",
    codes: ["TRIGGER_INACTIVE", "RUN_FAILED"],
    sections: ["4.10", "R11"],
  },
  {
    step: "run",
    rule: "the automation accepts the event",
    codes: ["RUN_FAILED", "REPLAY_STORE_UNAVAILABLE"],
    sections: ["4.10", "R17"],
  },
] as const satisfies readonly ReceiverCheck[];

export const { passed, failed } = schemeChecks([...ENVELOPE_CHECKS, ...ACCEPTANCE_CHECKS]);

/** A request as far as it is known before its body is read. */
export interface RequestHead {
  readonly method: string;
  readonly url: string;
  readonly headers: ReceivedHeaders;
  readonly sourceAddress: string | undefined;
  readonly headersDropped?: boolean | undefined;
}

/** Where requests may come from, and through which proxies. */
export interface AddressRanges {
  readonly allowedCidrs: readonly Cidr[];
  readonly trustedProxies: readonly Cidr[];
}

/** Checks 1 to 4: the listener, the method, that no header was dropped, and where the request comes from. */
export function* checkEnvelope(
  { checkTarget }: Verifier,
  head: RequestHead,
  ranges: AddressRanges,
): Iterable<Check> {
  if (checkTarget) yield checkTarget(head.url);
  yield head.method === "POST"
    ? passed("method")
    : failed("method", "METHOD_NOT_ALLOWED", shown(head.method));
  yield head.headersDropped
    ? failed("headers", "HEADERS_TOO_MANY", "so many that some may have been dropped")
    : passed("headers");
  yield checkSource(ranges, head);
}

function checkSource(
  { allowedCidrs, trustedProxies }: AddressRanges,
  { sourceAddress, headers }: RequestHead,
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

/** Check 5, once the body is there or known to be too large; `lengths` are the values of `Content-Length`. */
export function checkSize(body: Uint8Array | "too-large" | "unreadable", lengths: readonly string[]): Check {
  if (body === "unreadable") return failed("size", "BODY_UNREADABLE", "a body that broke off");
  if (body === "too-large") return failed("size", "BODY_TOO_LARGE", announced(lengths));
  const size = countOf(body.length, "byte");
  return body.length > MAX_BODY_BYTES ? failed("size", "BODY_TOO_LARGE", size) : passed("size", size);
}

/** How large a body is that was not read to its end. */
function announced([length = "", ...more]: readonly string[]): string {
  const isLength = more.length === 0 && /^[0-9]{1,15}$/.test(length) && Number(length) > MAX_BODY_BYTES;
  return isLength ? `${length} bytes (Content-Length)` : `more than ${MAX_BODY_BYTES} bytes`;
}
