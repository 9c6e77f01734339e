import { HookproofError } from "../errors.js";
import { type Clock, systemClock, unixSeconds } from "../primitives/clock.js";
import type { WebhookEvent } from "../protocol/event.js";
import {
  CONTENT_TYPE_HEADER,
  EVENT_ID_HEADER,
  type HeaderPair,
  TIMESTAMP_HEADER,
} from "../protocol/headers.js";
import { parseListenerUrl } from "../protocol/listener-url.js";
import type { Signer, UnsignedRequest } from "../protocol/signer.js";
import { timestampText } from "../protocol/timestamp.js";

/** A request that is ready to be sent by any HTTP client. */
export interface SignedRequest {
  readonly method: "POST";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Send exactly these bytes. */
  readonly body: ReturnType<typeof Uint8Array.of>; // Uint8Array<ArrayBuffer>, in words TypeScript 5.4 has as well
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
  const headers = await signedHeaders(signer, { url, timestamp, eventId: event.id, body: event.body }, 0);
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
export async function signedHeaders(
  signer: Signer,
  request: UnsignedRequest,
  candidate: number,
): Promise<HeaderPair[]> {
  const proof = await signer.sign(request, candidate);
  return [
    [CONTENT_TYPE_HEADER, "application/json"],
    [TIMESTAMP_HEADER, request.timestamp],
    [EVENT_ID_HEADER, request.eventId],
    safe(proof),
  ];
}

/** A header line that cannot break out of its line. */
export function safe([name, value]: HeaderPair): HeaderPair {
  if (TOKEN.test(name) && FIELD_VALUE.test(value)) return [name, value];
  throw new HookproofError(
    "HEADER_INVALID",
    `The header ${JSON.stringify(name)} has characters that are not allowed, such as a line break.`,
  );
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
