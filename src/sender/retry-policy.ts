// When to try again, as a pure function.
import { checkOptions, checkWholeNumber, type OptionNames } from "../core/options.js";
import { EVENT_ID_RETENTION_MS } from "../core/protocol.js";

const HOUR_MS = 60 * 60 * 1000;

/** When to try again: plain data, so that it can be stored next to an event. */
export interface RetryPolicy {
  /** Attempts in all; the first one counts. */
  readonly maxAttempts: number;
  /** The delay between the first attempt and the second. */
  readonly firstDelayMs: number;
  /** Each delay is this many times the one before. */
  readonly factor: number;
  /** No delay of the schedule is longer. */
  readonly maxDelayMs: number;
  /** Up to this share of a delay is added to it at random, so that a delay is never shorter than the schedule. */
  readonly jitter: number;
  /** `Retry-After` is obeyed up to this long. */
  readonly maxRetryAfterMs: number;
  /** The last attempt starts at most this long after the first: afterwards the receiver may have forgotten the id. */
  readonly windowMs: number;
}

/** The default: 1 s, then each delay doubled, at most 1 h apart, within 7 days minus 1 hour; `send` tries 3 times. */
export const DEFAULT_RETRY_POLICY: RetryPolicy = {
  maxAttempts: 3,
  firstDelayMs: 1_000,
  factor: 2,
  maxDelayMs: HOUR_MS,
  jitter: 0.5,
  maxRetryAfterMs: 24 * HOUR_MS,
  windowMs: EVENT_ID_RETENTION_MS - HOUR_MS,
};

const POLICY_NAMES: OptionNames<RetryPolicy> = {
  maxAttempts: "number",
  firstDelayMs: "number",
  factor: "number",
  maxDelayMs: "number",
  jitter: "number",
  maxRetryAfterMs: "number",
  windowMs: "number",
};

/** What has happened to an event so far. */
interface RetryState {
  /** Attempts made. */
  readonly attempts: number;
  /** Milliseconds since the epoch. */
  readonly firstAttemptAt: number;
}

/** The moment and the answer after which another attempt is planned. */
interface RetryInput {
  /** By the same clock as `firstAttemptAt`. */
  readonly now: number;
  /** The delay that `Retry-After` asks for; the next attempt is not earlier. */
  readonly retryAfterMs?: number | undefined;
  /** A number from 0 up to but not including 1. */
  readonly random: number;
}

/** When the next attempt is due, in milliseconds since the epoch, or why there is none. */
type NextAttempt =
  | { readonly at: number }
  | { readonly at: undefined; readonly reason: "attempts" | "window" };

/** Applies a policy. Pure: the same input always gives the same time. */
export function nextAttempt(
  policy: RetryPolicy,
  state: RetryState,
  { now, retryAfterMs = 0, random }: RetryInput,
): NextAttempt {
  if (state.attempts >= policy.maxAttempts) return { at: undefined, reason: "attempts" };
  const growth = Math.min(policy.factor ** (state.attempts - 1), Number.MAX_VALUE); // 0 ms times Infinity is NaN
  const scheduled = Math.min(policy.maxDelayMs, policy.firstDelayMs * growth);
  const delay = Math.max(
    scheduled * (1 + policy.jitter * random),
    Math.min(retryAfterMs, policy.maxRetryAfterMs),
  );
  const at = Math.ceil(now + delay);
  return at > state.firstAttemptAt + policy.windowMs ? { at: undefined, reason: "window" } : { at };
}

/**
 * A policy from the fields a caller gave, checked.
 *
 * @param rememberedMs how long receivers of the scheme remember an event id; 7 days by default
 */
export function retryPolicy(given: Partial<RetryPolicy> = {}, rememberedMs?: number): RetryPolicy {
  const window =
    rememberedMs === undefined ? {} : { windowMs: rememberedMs - Math.min(HOUR_MS, rememberedMs / 2) };
  checkOptions("retry", given, POLICY_NAMES);
  const policy: RetryPolicy = { ...DEFAULT_RETRY_POLICY, ...window, ...given };
  checkWholeNumber("retry.maxAttempts", policy.maxAttempts);
  if (!Number.isFinite(policy.factor) || policy.factor < 1)
    throw new RangeError("retry.factor must be 1 or more");
  for (const name of ["firstDelayMs", "maxDelayMs", "jitter", "maxRetryAfterMs", "windowMs"] as const) {
    if (!Number.isFinite(policy[name]) || policy[name] < 0)
      throw new RangeError(`retry.${name} must be 0 or more`);
  }
  if (policy.windowMs > (rememberedMs ?? EVENT_ID_RETENTION_MS)) {
    const max = rememberedMs === undefined ? "7 days" : `${rememberedMs} ms`;
    throw new RangeError(`retry.windowMs must be at most ${max}, as receivers forget an event id then`);
  }
  return policy;
}
