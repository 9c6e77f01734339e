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
import { headerLine } from "./header-line.js";

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
