import type { TransportResponse } from "../http/transport.js";
import { monotonicMs } from "../primitives/clock.js";
import type { WebhookEvent } from "../protocol/event.js";
import type { HeaderPair } from "../protocol/headers.js";
import { type Classification, classify } from "./classify.js";
import { clockDifference, clockOffset } from "./clock-offset.js";
import type { AttemptRecord } from "./delivery-error.js";
import { type Belief, type ExchangeContext, type ExchangeResult, exchange } from "./exchange.js";
import { isExtra } from "./header-line.js";
import type { Observe } from "./observe.js";
import { httpDate, single } from "./response-headers.js";

/** What attempts at one listener share. */
export interface AttemptContext extends ExchangeContext {
  /** Headers to send along. */
  readonly headers: readonly HeaderPair[];
  readonly observe: Observe | undefined;
}

/** One attempt at delivering an event. */
interface AttemptRequest {
  readonly event: WebhookEvent;
  /** 1 for the event's first attempt. */
  readonly number: number;
  /** Whether an earlier attempt may have sent this id; of all attempts but the first, unless told otherwise. */
  readonly sentBefore?: boolean | undefined;
  /** The `traceparent` that was kept with the event. */
  readonly traceparent?: string | undefined;
  /** What observers know this delivery by; see `newDelivery`. */
  readonly delivery: number;
  /** For the attempt in all, its corrections included. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** An attempt's record and what it means. */
export interface AttemptOutcome {
  readonly record: AttemptRecord;
  readonly classification: Classification;
  /** The answer, if there was one. */
  readonly response?: TransportResponse | undefined;
  /** What was thrown where there was no answer. */
  readonly cause?: unknown;
  /** Nobody knows whether the receiver has taken the event. */
  readonly mayHaveArrived: boolean;
}

/** Makes one attempt; never rejects. */
export type Attempt = (request: AttemptRequest) => Promise<AttemptOutcome>;

type Correction = "clock" | "secret";

/**
 * Attempts at one listener: each signs anew and sends. Within an attempt the same event is sent once more when
 * the answer shows that our clock is off, or when another of the secrets may be the right one. What helped is
 * kept for the next attempts, in memory and for this listener only.
 */
export function createAttempt(context: AttemptContext): Attempt {
  const { url, signer, clock, observe } = context;
  let kept: Belief = { offsetMs: 0, candidate: 0 };

  return async ({ event, number, delivery, timeoutMs, signal, sentBefore = number > 1, traceparent }) => {
    const subject = { eventId: event.id, url, delivery };
    const startedAt = clock.now();
    const started = monotonicMs(clock);
    const added: HeaderPair[] = [];
    observe?.({
      ...subject,
      type: "attempt-started",
      attempt: number,
      bodyBytes: event.body.length,
      headers: added,
      ...(traceparent === undefined ? {} : { traceparent }),
    });
    // The trace goes on at the receiver even where nobody watches the attempt.
    if (traceparent !== undefined && !added.some(([name]) => name.toLowerCase() === "traceparent"))
      added.push(["traceparent", traceparent]);
    const corrected: Correction[] = [];
    let belief = kept;
    let learned: Partial<Belief> = {};
    let mayHaveArrived = false;

    for (;;) {
      const result = await exchange(context, {
        event,
        belief,
        extraHeaders: added.length === 0 ? context.headers : [...context.headers, ...added.filter(isExtra)],
        endsAt: started + timeoutMs,
        signal,
      });
      mayHaveArrived ||= leavesOpen(result);
      const next = correct(result, belief, corrected);
      if (next) {
        belief = { ...belief, ...next };
        learned = { ...learned, ...next };
        corrected.push("offsetMs" in next ? "clock" : "secret");
        if ("offsetMs" in next) observe?.({ ...subject, type: "clock-corrected", offsetMs: belief.offsetMs });
        else observe?.({ ...subject, type: "secret-switched", candidate: belief.candidate, promoted: false });
        continue;
      }
      const classification = byOurClock(
        classify(result.response ?? result, sentBefore ? number : 1, shownTime(result) ?? clock.now()),
        result,
        belief,
      );
      const answer = result.response?.status;
      if (corrected.length > 0 && (answer === 200 || answer === 409)) {
        if (learned.candidate !== undefined && learned.candidate !== kept.candidate)
          observe?.({ ...subject, type: "secret-switched", candidate: learned.candidate, promoted: true });
        kept = { ...kept, ...learned };
      }
      const record = recordOf(
        result,
        { number, startedAt, durationMs: monotonicMs(clock) - started },
        classification,
        corrected,
      );
      const { durationMs, status, code } = record;
      observe?.({
        ...subject,
        type: "attempt-ended",
        attempt: number,
        durationMs,
        verdict: classification.verdict,
        ...(status === undefined ? {} : { status }),
        ...(code === undefined ? {} : { code }),
      });
      if ("warning" in classification && classification.warning)
        observe?.({ type: "warning", url, eventId: event.id, message: classification.warning });
      return {
        record,
        classification,
        mayHaveArrived,
        ...("cause" in result ? { cause: result.cause } : { response: result.response }),
      };
    }
  };

  /** A 400 that comes of our own clock is no fault of the event, which is to be sent once the clock is right. */
  function byOurClock(
    classification: Classification,
    { response, sentAt }: ExchangeResult,
    { offsetMs }: Belief,
  ): Classification {
    if (classification.verdict !== "final" || response?.status !== 400) return classification;
    const difference = clockDifference(response, { sentAt, receivedAt: clock.now(), offsetMs });
    if (difference === undefined && codeIn(response) !== "TIMESTAMP_OUT_OF_WINDOW") return classification;
    const { code } = classification;
    return { verdict: "setup", code, causes: [clockCause(difference)] };
  }

  /** What to believe instead, if the answer shows that something believed is wrong. */
  function correct(
    { response, sentAt }: ExchangeResult,
    belief: Belief,
    done: readonly Correction[],
  ): Partial<Belief> | undefined {
    if (response?.status === 401) {
      const switches = done.filter((kind) => kind === "secret").length;
      if (switches + 1 < signer.candidates) return { candidate: (belief.candidate + 1) % signer.candidates };
    }
    if (response?.status !== 400 || done.includes("clock")) return undefined;
    const offsetMs = clockOffset(response, { sentAt, receivedAt: clock.now(), offsetMs: belief.offsetMs });
    return offsetMs === undefined ? undefined : { offsetMs };
  }
}

/**
 * Whether the receiver may have taken the event although nothing says so: a 4xx takes none, but a 5xx may come of what
 * stands before the receiver, or after it has taken the event; and one of two copies may have been taken.
 */
function leavesOpen(result: ExchangeResult): boolean {
  if (!result.response) return result.mayBeSent;
  return result.response.status >= 500 || result.response.resent === true;
}

/** By the answer's own clock a `Retry-After` that is a date means what it was meant to. */
function shownTime({ response }: ExchangeResult): number | undefined {
  return response && httpDate(single(response.headers, "date"));
}

function clockCause(differenceMs: number | undefined): string {
  if (differenceMs === undefined) return "a clock that is more than 5 minutes off: ours, or the receiver's";
  const minutes = Math.round(Math.abs(differenceMs) / 60_000);
  return `this machine's clock: it is ${minutes} minutes ${differenceMs > 0 ? "behind" : "ahead of"} the receiver's`;
}

function recordOf(
  { response }: ExchangeResult,
  timing: { number: number; startedAt: number; durationMs: number },
  classification: Classification,
  corrected: readonly Correction[],
): AttemptRecord {
  const record: { -readonly [Name in keyof AttemptRecord]: AttemptRecord[Name] } = timing;
  if (response) record.status = response.status;
  if ("code" in classification) record.code = classification.code;
  const receiverCode = response && response.status !== 200 ? codeIn(response) : undefined;
  if (receiverCode !== undefined) record.receiverCode = receiverCode;
  if (corrected.length > 0) record.corrected = corrected;
  return record;
}

/** The code in an answer such as ours, if it has one; the rest of a stranger's answer is not repeated. */
function codeIn({ body }: TransportResponse): string | undefined {
  const start = String.fromCharCode(...body.subarray(0, 80));
  return /^\s*\{\s*"code"\s*:\s*"([A-Z][A-Z0-9_]{2,39})"/.exec(start)?.[1];
}
