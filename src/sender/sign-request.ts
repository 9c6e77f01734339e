import { type Clock, systemClock, unixSeconds } from "../core/clock.js";
import { HookproofError } from "../core/errors.js";
import type { WebhookEvent } from "../core/event.js";
import { CONTENT_TYPE_HEADER, EVENT_ID_HEADER, type HeaderPair, TIMESTAMP_HEADER } from "../core/headers.js";
import { parseListenerUrl } from "../core/listener-url.js";
import { timestampText } from "../core/protocol.js";
import type { Signer, UnsignedRequest } from "../core/signer.js";

/** A request that is ready to be sent by any HTTP client. */
export interface SignedRequest {
  /** Always POST. */
  readonly method: "POST";
  /** The listener's URL. */
  readonly url: string;
  /** The protocol's headers, with the proof. */
  readonly headers: Readonly<Record<string, string>>;
  /** Send exactly these bytes. */
  readonly body: ReturnType<typeof Uint8Array.of>; // Uint8Array<ArrayBuffer>, in words TypeScript 5.4 has as well
  /** The event's id, as in `Webhook-Event-Id`. */
  readonly eventId: string;
  /** Unix seconds, as signed. */
  readonly timestamp: number;
}

/**
 * Signs one request for people with their own HTTP client (specification 5.2). Sign again for every attempt:
 * a timestamp is good for 5 minutes. Do not follow redirects.
 *
 * @throws {HookproofError} LISTENER_URL_INVALID, TLS_REQUIRED, TIMESTAMP_INVALID, BASE_URL_MISMATCH, KEY_UNFIT or SIGNER_FAILED
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
  url: string;
  signer: Signer;
  event: WebhookEvent;
  /** Unix seconds; now by default. */
  timestamp?: number | string | undefined;
  clock?: Clock | undefined;
}): Promise<SignedRequest> {
  const { signer, event, clock = systemClock } = options;
  const url = parseListenerUrl(options.url).href;
  const timestamp = timestampText(options.timestamp ?? unixSeconds(clock));
  const unsigned = { url, timestamp, eventId: event.id, body: event.body };
  const headers = protocolHeaders(unsigned, await signer.sign(unsigned));
  return {
    method: "POST",
    url,
    headers: Object.fromEntries(headers),
    body: event.body.slice(),
    eventId: event.id,
    timestamp: Number(timestamp),
  };
}

/** The protocol's own headers for one request, proof included. */
export function protocolHeaders({ timestamp, eventId }: UnsignedRequest, proof: HeaderPair): HeaderPair[] {
  return [
    [CONTENT_TYPE_HEADER, "application/json"],
    [TIMESTAMP_HEADER, timestamp],
    [EVENT_ID_HEADER, eventId],
    headerLine(proof),
  ];
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Headers that are the protocol's own, or that say how the connection is used. */
const RESERVED =
  /^(?:webhook-.*|authorization|content-(?:type|length|encoding)|transfer-encoding|te|trailer|host|connection|keep-alive|upgrade|expect|proxy-.*)$/i;

/** A header line whose characters are allowed; it cannot become two lines. Throws HEADER_INVALID otherwise. */
function headerLine([name, value]: HeaderPair): HeaderPair {
  if (isLine(name, value)) return [name, value];
  throw new HookproofError(
    "HEADER_INVALID",
    `The header ${JSON.stringify(name)} has characters that are not allowed, such as a line break.`,
  );
}

/** A caller's headers as lines. Throws for a header of the protocol's own, or with characters that are not allowed. */
export function extraHeaders(headers: Readonly<Record<string, string>> = {}): HeaderPair[] {
  return Object.entries(headers).map((line) => {
    if (RESERVED.test(line[0]))
      throw new TypeError(`headers must not set ${line[0]}: it belongs to the protocol`);
    return headerLine(line);
  });
}

/** Whether a line that an observer added may be sent along. Others are left out, as an observer cannot harm delivery. */
export function isExtra([name, value]: HeaderPair): boolean {
  return isLine(name, value) && !RESERVED.test(name);
}

function isLine(name: string, value: string): boolean {
  return TOKEN.test(name) && FIELD_VALUE.test(value);
}
