// Signs one request for other HTTP clients.
import { type Clock, systemClock, unixSeconds } from "../core/clock.js";
import { HookproofError } from "../core/errors.js";
import { eventIn, isEventId, type WebhookEvent } from "../core/event.js";
import { CONTENT_TYPE_HEADER, type HeaderPair } from "../core/headers.js";
import { checkOptions } from "../core/options.js";
import { timestampText } from "../core/protocol.js";
import { shown } from "../core/shown.js";
import { checkPlainHttpHosts, parseTargetUrl } from "../core/target-url.js";
import type { Scheme, SignedParts, Signer, UnsignedRequest } from "../schemes/scheme.js";

/** A request that is ready to be sent by any HTTP client. */
export interface SignedRequest {
  /** Always POST. */
  readonly method: "POST";
  /** The listener's URL. */
  readonly url: string;
  /** The scheme's headers, with the proof. */
  readonly headers: Readonly<Record<string, string>>;
  /** Send exactly these bytes. */
  readonly body: ReturnType<typeof Uint8Array.of>; // Uint8Array<ArrayBuffer>, in words TypeScript 5.4 has as well
  /** The event's id, as it was signed. */
  readonly eventId: string;
  /** Unix seconds, as signed. */
  readonly timestamp: number;
}

/**
 * Signs one request for people with their own HTTP client (specification 5.2), by the scheme of the signer. Sign again
 * for every attempt: a timestamp is good for 5 minutes. Do not follow redirects.
 *
 * @throws {HookproofError} EVENT_ID_INVALID, LISTENER_URL_INVALID, TLS_REQUIRED, TIMESTAMP_INVALID, BASE_URL_MISMATCH, KEY_UNFIT or SIGNER_FAILED
 *
 * @example
 * ```ts
 * import { createEvent, hmacSigner, signRequest } from "hookproof";
 *
 * const event = createEvent({ type: "user.offboarded", userId: "u_123" });
 * const { url, ...init } = await signRequest({
 *   url: "https://tenant.example.com/api/v1/webhooks/incoming/lst_offboarding",
 *   signer: hmacSigner({ secret: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8" }),
 *   event,
 * });
 * const request = new Request(url, { ...init, redirect: "manual" });
 * ```
 */
export async function signRequest(options: {
  /** The listener's URL. */
  url: string;
  /** `hmacSigner(...)` or `jwtSigner(...)`, or the signer of another scheme. */
  signer: Signer;
  /** An event of `createEvent`, or a copy of one. */
  event: WebhookEvent;
  /** Unix seconds; now by default. */
  timestamp?: number | string | undefined;
  /** Names to which plain HTTP is allowed besides loopback, in development; see `createSender`. */
  plainHttpHosts?: readonly string[] | undefined;
  /** The source of time; the system's clock by default. */
  clock?: Clock | undefined;
}): Promise<SignedRequest> {
  checkOptions("signRequest", options, {
    url: 1,
    signer: ".sign",
    event: "object",
    timestamp: 1,
    plainHttpHosts: "texts",
    clock: ".now",
  });
  const { signer, clock = systemClock } = options;
  const given = eventIn(options.event);
  if (!given)
    throw new TypeError("event must be one of createEvent, or a copy of it with its id and its bytes");
  const event = withFitId(signer.scheme, given);
  const url = targetUrl(signer.scheme, options.url, options.plainHttpHosts);
  const timestamp = timestampText(options.timestamp ?? unixSeconds(clock));
  const unsigned = { url, timestamp, eventId: event.id, body: event.body };
  const { headers, body } = signedRequest(signer.scheme, unsigned, await signer.sign(unsigned));
  return {
    method: "POST",
    url,
    headers: Object.fromEntries(headers),
    body: new Uint8Array(body),
    eventId: event.id,
    timestamp: Number(timestamp),
  };
}

/** An event whose id the scheme can send; EVENT_ID_INVALID for an id of a form that its receivers refuse. */
export function withFitId(scheme: Scheme, event: WebhookEvent): WebhookEvent {
  if (isEventId(event.id) || scheme.takesEventId?.(event.id) === true) return event;
  throw new HookproofError(
    "EVENT_ID_INVALID",
    `The scheme ${scheme.name} cannot send the event id ${shown(event.id)}: ${scheme.takesEventId ? "its receivers refuse an id of this form" : "it must be a UUID of version 4"}.`,
  );
}

/** A listener's URL in the form that the scheme signs. */
export function targetUrl(scheme: Scheme, url: string, plainHttpHosts?: readonly string[]): string {
  checkPlainHttpHosts(plainHttpHosts);
  return scheme.targetUrl ? scheme.targetUrl(url, plainHttpHosts) : parseTargetUrl(url, plainHttpHosts).href;
}

/** The header lines of one request, proof included, and the bytes to send. Throws HEADER_INVALID for a wrong line. */
export function signedRequest(
  scheme: Scheme,
  unsigned: UnsignedRequest,
  proof: SignedParts,
): { readonly headers: HeaderPair[]; readonly body: Uint8Array } {
  const headers: HeaderPair[] = [[CONTENT_TYPE_HEADER, scheme.contentType]];
  if (scheme.headers) headers.push(...scheme.headers(unsigned));
  for (const line of proof.headers) headers.push(headerLine(line));
  return { headers, body: proof.body ?? unsigned.body };
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Headers that say what the body is, or how the connection is used; besides them, a scheme has its own. */
const RESERVED =
  /^(?:content-(?:type|length|encoding)|transfer-encoding|te|trailer|host|connection|keep-alive|upgrade|expect|proxy-.*)$/i;

function isReserved({ ownHeaders }: Scheme, name: string): boolean {
  if (RESERVED.test(name)) return true;
  const lower = name.toLowerCase();
  return ownHeaders.some((own) =>
    own.endsWith("*") ? lower.startsWith(own.slice(0, -1).toLowerCase()) : lower === own.toLowerCase(),
  );
}

/** A header line whose characters are allowed; it cannot become two lines. Throws HEADER_INVALID otherwise. */
function headerLine([name, value]: HeaderPair): HeaderPair {
  if (isLine(name, value)) return [name, value];
  throw new HookproofError(
    "HEADER_INVALID",
    `The header ${shown(name)} has characters that are not allowed, such as a line break.`,
  );
}

/** A caller's headers as lines. Throws for a header of the scheme's own, or with characters that are not allowed. */
export function extraHeaders(scheme: Scheme, headers: Readonly<Record<string, string>> = {}): HeaderPair[] {
  const isList = Symbol.iterator in headers || "then" in headers;
  const wrong = isList ? "" : Object.keys(headers).find((name) => typeof headers[name] !== "string");
  if (wrong !== undefined)
    throw new TypeError(
      `headers must be an object of names and texts${wrong && `; is ${shown(wrong)} set?`}`,
    );
  return Object.entries(headers).map((line) => {
    if (isReserved(scheme, line[0]))
      throw new TypeError(`headers must not set ${line[0]}: it belongs to the protocol`);
    return headerLine(line);
  });
}

/** Whether a line that an observer added may be sent along. Others are left out, as an observer cannot harm delivery. */
export function isExtra(scheme: Scheme, [name, value]: HeaderPair): boolean {
  return isLine(name, value) && !isReserved(scheme, name);
}

function isLine(name: string, value: string): boolean {
  return TOKEN.test(name) && FIELD_VALUE.test(value);
}
