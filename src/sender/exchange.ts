import { type ErrorCode, HookproofError } from "../errors.js";
import type { Transport, TransportResponse } from "../http/transport.js";
import { isUnsent } from "../http/unsent.js";
import { type Clock, monotonicMs } from "../primitives/clock.js";
import type { WebhookEvent } from "../protocol/event.js";
import type { HeaderPair } from "../protocol/headers.js";
import type { Signer } from "../protocol/signer.js";
import { protocolHeaders } from "./sign-request.js";
import { within } from "./waiting.js";

const MAX_ANSWER_BYTES = 16_384;

/** Where and how events are sent. */
export interface ExchangeContext {
  readonly url: string;
  readonly signer: Signer;
  readonly transport: Transport;
  readonly clock: Clock;
}

/** What may be corrected when the answer shows that it is wrong. */
export interface Belief {
  /** How far the receiver's clock is ahead of the local one. */
  readonly offsetMs: number;
  /** Which of the signer's secrets the receiver takes. */
  readonly candidate: number;
}

/** One request as it is to be signed and sent. */
export interface ExchangeRequest {
  readonly event: WebhookEvent;
  readonly belief: Belief;
  readonly extraHeaders: readonly HeaderPair[];
  /** By the context's monotonic clock. */
  readonly endsAt: number;
  readonly signal?: AbortSignal | undefined;
}

/** What came of a request: an answer, or a code and what was thrown. */
export type ExchangeResult =
  | { readonly sentAt: number; readonly response: TransportResponse }
  | {
      readonly sentAt: number;
      readonly response?: undefined;
      readonly failure: ErrorCode;
      readonly cause: unknown;
      /** Something of the request may have reached the receiver. */
      readonly mayBeSent: boolean;
    };

/** Signs an event for this moment and sends it; never rejects. */
export async function exchange(
  { url, signer, transport, clock }: ExchangeContext,
  { event, belief, extraHeaders, endsAt, signal }: ExchangeRequest,
): Promise<ExchangeResult> {
  const sentAt = clock.now();
  let timeoutMs = endsAt - monotonicMs(clock);
  let signed: HeaderPair[];
  try {
    if (timeoutMs <= 0) throw new HookproofError("TIMED_OUT", "There was no time left for another request.");
    const timestamp = String(Math.floor((sentAt + belief.offsetMs) / 1000));
    const unsigned = { url, timestamp, eventId: event.id, body: event.body };
    let proof = signer.sign(unsigned, belief.candidate);
    if ("then" in proof) {
      proof = await within(proof, timeoutMs, signal);
      timeoutMs = Math.max(1, endsAt - monotonicMs(clock));
    }
    signed = protocolHeaders(unsigned, proof);
  } catch (cause) {
    return { sentAt, failure: codeOf(cause, "SIGNER_FAILED"), cause, mayBeSent: false };
  }
  try {
    const response = await transport({
      method: "POST",
      url,
      headers: extraHeaders.length === 0 ? signed : [...signed, ...extraHeaders],
      body: event.body,
      timeoutMs,
      maxResponseBytes: MAX_ANSWER_BYTES,
      signal,
    });
    return { sentAt, response };
  } catch (cause) {
    return { sentAt, failure: codeOf(cause, "CONNECTION_FAILED"), cause, mayBeSent: !isUnsent(cause) };
  }
}

/** A signer or transport that somebody else wrote may throw anything. */
function codeOf(error: unknown, otherwise: ErrorCode): ErrorCode {
  return error instanceof HookproofError ? error.code : otherwise;
}
