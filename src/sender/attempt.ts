import { type ErrorCode, HookproofError } from "../errors.js";
import type { Transport, TransportResponse } from "../http/transport.js";
import { decodeUtf8 } from "../primitives/bytes.js";
import type { Clock } from "../primitives/clock.js";
import type { WebhookEvent } from "../protocol/event.js";
import type { HeaderPair } from "../protocol/headers.js";
import type { Signer } from "../protocol/signer.js";
import { type AttemptResult, type Classification, classify } from "./classify.js";
import { clockOffset, isTrustedClock } from "./clock-offset.js";
import type { AttemptRecord } from "./delivery-error.js";
import type { Observe } from "./observe.js";
import { safe, signedHeaders } from "./sign-request.js";

const MAX_ANSWER_BYTES = 16_384;

/** What attempts at one listener share. */
export interface AttemptContext {
  readonly url: string;
  readonly signer: Signer;
  readonly transport: Transport;
  readonly clock: Clock;
  /** One attempt in all, its corrections included. */
  readonly attemptTimeoutMs: number;
  readonly headers: readonly HeaderPair[];
  readonly agent: object | undefined;
  readonly observe: Observe;
}

/** An attempt's record and what it means. */
export interface AttemptOutcome {
  readonly record: AttemptRecord;
  readonly classification: Classification;
  /** What was thrown where there was no answer. */
  readonly cause?: unknown;
}

/** Makes one attempt; never rejects. */
export type Attempt = (event: WebhookEvent, number: number, signal?: AbortSignal) => Promise<AttemptOutcome>;

type Correction = "clock" | "secret";

/**
 * Attempts at one listener: each signs anew and sends. Within an attempt the same event is sent once more when
 * the answer shows that our clock is off, or when the other of two secrets may be the right one. What helped is
 * kept for the next attempts, in memory and for this listener only.
 */
export function createAttempt(context: AttemptContext): Attempt {
  const { url, signer, clock, observe } = context;
  const trustsClock = isTrustedClock(url, context.agent);
  let offsetMs = 0;
  let candidate = 0;

  return async (event, number, signal) => {
    const startedAt = clock.now();
    const extra = [...context.headers];
    observe({
      type: "attempt-started",
      eventId: event.id,
      url,
      attempt: number,
      bodyBytes: event.body.length,
      headers: extra,
    });
    const corrected: Correction[] = [];
    let use = { offsetMs, candidate };

    for (;;) {
      const sent = await exchange(context, event, use, extra, startedAt, signal);
      const next = sent.response && correction(sent.response, sent.sentAt, use, corrected);
      if (next) {
        corrected.push(next.kind);
        use = next.use;
        if (next.kind === "clock")
          observe({ type: "clock-corrected", eventId: event.id, url, offsetMs: use.offsetMs });
        else
          observe({
            type: "secret-switched",
            eventId: event.id,
            url,
            candidate: use.candidate,
            promoted: false,
          });
        continue;
      }
      const classification = classify(sent.result, number, clock.now());
      if (classification.verdict === "accepted" || classification.verdict === "duplicate") keep(event, use);
      return ended(event, number, startedAt, sent, classification, corrected);
    }
  };

  function correction(
    response: TransportResponse,
    sentAt: number,
    use: { offsetMs: number; candidate: number },
    done: readonly Correction[],
  ) {
    if (response.status === 401 && signer.candidates > 1 && !done.includes("secret")) {
      return { kind: "secret" as const, use: { ...use, candidate: (use.candidate + 1) % signer.candidates } };
    }
    if (!trustsClock || done.includes("clock")) return undefined;
    const offset = clockOffset(response, { sentAt, receivedAt: clock.now(), offsetMs: use.offsetMs });
    return offset === undefined ? undefined : { kind: "clock" as const, use: { ...use, offsetMs: offset } };
  }

  function keep(event: WebhookEvent, use: { offsetMs: number; candidate: number }): void {
    if (use.candidate !== candidate)
      observe({ type: "secret-switched", eventId: event.id, url, candidate: use.candidate, promoted: true });
    ({ offsetMs, candidate } = use);
  }

  function ended(
    event: WebhookEvent,
    number: number,
    startedAt: number,
    sent: Sent,
    classification: Classification,
    corrected: Correction[],
  ): AttemptOutcome {
    const { response, cause } = sent;
    const code = "code" in classification ? { code: classification.code } : {};
    const status = response ? { status: response.status } : {};
    const receiverCode = response && response.status !== 200 ? codeIn(response.body) : undefined;
    const durationMs = clock.now() - startedAt;
    observe({
      type: "attempt-ended",
      eventId: event.id,
      url,
      attempt: number,
      durationMs,
      verdict: classification.verdict,
      ...status,
      ...code,
    });
    if ("warning" in classification && classification.warning)
      observe({ type: "warning", url, eventId: event.id, message: classification.warning });
    const record: AttemptRecord = {
      number,
      startedAt,
      durationMs,
      ...status,
      ...code,
      ...(receiverCode === undefined ? {} : { receiverCode }),
      ...(corrected.length === 0 ? {} : { corrected }),
    };
    return { record, classification, ...(cause === undefined ? {} : { cause }) };
  }
}

interface Sent {
  readonly result: AttemptResult;
  readonly sentAt: number;
  readonly response?: TransportResponse;
  readonly cause?: unknown;
}

async function exchange(
  context: AttemptContext,
  event: WebhookEvent,
  use: { offsetMs: number; candidate: number },
  extra: readonly HeaderPair[],
  startedAt: number,
  signal: AbortSignal | undefined,
): Promise<Sent> {
  const { url, signer, transport, clock } = context;
  const sentAt = clock.now();
  const timeoutMs = context.attemptTimeoutMs - (sentAt - startedAt);
  if (timeoutMs <= 0) return { result: { failure: "TIMED_OUT" }, sentAt };
  try {
    const timestamp = String(Math.floor((sentAt + use.offsetMs) / 1000));
    const proof = await signedHeaders(
      signer,
      { url, timestamp, eventId: event.id, body: event.body },
      use.candidate,
    );
    const headers =
      extra.length === 0 ? proof : [...proof, ...extra.filter(([name]) => isFree(name)).map(safe)];
    const response = await transport({
      method: "POST",
      url,
      headers,
      body: event.body,
      timeoutMs,
      maxResponseBytes: MAX_ANSWER_BYTES,
      signal,
    });
    return { result: response, sentAt, response };
  } catch (cause) {
    return { result: { failure: codeOf(cause) }, sentAt, cause };
  }
}

const PROTOCOL_HEADER =
  /^(?:webhook-.*|authorization|content-type|content-length|content-encoding|transfer-encoding|host|connection)$/i;

/** Whether a header is free for callers and observers to set. */
export function isFree(name: string): boolean {
  return !PROTOCOL_HEADER.test(name);
}

function codeOf(error: unknown): ErrorCode {
  if (error instanceof HookproofError) return error.code;
  // A transport or signer somebody else wrote may throw anything.
  return "CONNECTION_FAILED";
}

/** The code in an answer such as ours, if it has one; the rest of a stranger's answer is not repeated. */
function codeIn(body: Uint8Array): string | undefined {
  return /^\s*\{\s*"code"\s*:\s*"([A-Z][A-Z0-9_]{2,39})"/.exec(decodeUtf8(body.subarray(0, 256)) ?? "")?.[1];
}
