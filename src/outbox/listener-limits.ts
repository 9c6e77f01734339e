import {
  afterAttempt,
  allowedAttempts,
  type BreakerInput,
  type BreakerPolicy,
  type BreakerState,
  breakerAt,
  breakerPolicy,
  CLOSED,
} from "./breaker.js";
import { type Bucket, nextToken, type Rate, rateOf, refilled, whole } from "./rate-bucket.js";

/** How hard a listener may be driven by this process. */
export interface LimitOptions {
  /** Attempts at the same time at most; 10 by default. */
  concurrency?: number | undefined;
  /** Attempts a second; no limit by default. */
  rate?: Rate | undefined;
  /** Fields of the circuit breaker's policy to change, or `false` for none. */
  breaker?: Partial<BreakerPolicy> | false | undefined;
}

/** How an attempt ended, as far as the limits care. */
interface EndedAttempt extends BreakerInput {
  /** Whether there was an answer, whichever. */
  readonly answered: boolean;
}

/** An attempt that had no answer for this long counts as one that hangs. */
export const HANGS_AFTER_MS = 1_000;

/**
 * The limits of one listener, and what they know; times are the monotonic clock's.
 *
 * A listener begins with one attempt at a time. Each answer doubles how many there may be, up to its concurrency,
 * and each attempt that hangs to its end halves it: one that never answers takes one place of the process.
 */
export interface ListenerLimits {
  /** How many attempts may start now. */
  free(now: number): number;
  started(now: number): void;
  /** An attempt that did not come about; its place and its token are free again. */
  cancelled(now: number): void;
  ended(attempt: EndedAttempt): void;
  /** Starts nothing before this time, as the receiver asked for. */
  pauseUntil(time: number): void;
  /** Where only the rate holds attempts back: when the next one may start. */
  nextByRate(now: number): number | undefined;
  readonly breaker: BreakerState["phase"];
}

/** @param onBreaker is told of every change of the breaker's phase */
export function listenerLimits(
  { concurrency = 10, rate: givenRate, breaker }: LimitOptions,
  onBreaker: (phase: BreakerState["phase"]) => void,
): ListenerLimits {
  if (!Number.isInteger(concurrency) || concurrency < 1)
    throw new RangeError("concurrency must be a whole number, 1 or more");
  const rate = givenRate && rateOf(givenRate);
  const policy = breaker === false ? undefined : breakerPolicy(breaker);
  let state = CLOSED;
  let bucket: Bucket = { tokens: rate?.burst ?? 0, at: 0 };
  let underWay = 0;
  let pausedUntil = Number.NEGATIVE_INFINITY;
  let places = 1;

  function become(next: BreakerState): void {
    const changed = next.phase !== state.phase;
    state = next;
    if (changed) onBreaker(state.phase);
  }

  function slots(now: number): number {
    become(breakerAt(state, now));
    if (now < pausedUntil) return 0;
    return Math.max(0, Math.min(places, allowedAttempts(state)) - underWay);
  }

  function tokens(now: number): number {
    if (!rate) return Number.POSITIVE_INFINITY;
    bucket = refilled(rate, bucket, now);
    return whole(bucket);
  }

  return {
    free: (now) => Math.min(slots(now), tokens(now)),
    started(now) {
      underWay += 1;
      if (rate) bucket = { tokens: refilled(rate, bucket, now).tokens - 1, at: now };
    },
    cancelled(now) {
      underWay -= 1;
      if (rate) bucket = { tokens: refilled(rate, bucket, now).tokens + 1, at: now };
    },
    ended(input) {
      underWay -= 1;
      if (input.answered) places = Math.min(concurrency, places * 2);
      else if (input.now - input.startedAt >= HANGS_AFTER_MS) places = Math.max(1, Math.floor(places / 2));
      if (policy) become(afterAttempt(policy, breakerAt(state, input.now), input));
    },
    pauseUntil(time) {
      pausedUntil = Math.max(pausedUntil, time);
    },
    nextByRate: (now) => (rate && slots(now) > 0 && tokens(now) === 0 ? nextToken(rate, bucket) : undefined),
    get breaker() {
      return state.phase;
    },
  };
}
