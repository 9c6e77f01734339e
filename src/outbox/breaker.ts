// The circuit breaker of a listener, as pure functions.
import { checkWholeNumber } from "../core/options.js";

/** When the circuit breaker of a listener opens, and for how long. */
export interface BreakerPolicy {
  /** The breaker counts the attempts of the last `windowMs` milliseconds; 60,000 by default. */
  readonly windowMs: number;
  /** With fewer attempts than this in the window it stays closed; 10 by default. */
  readonly minAttempts: number;
  /** It opens when at least this share of them failed, above 0 and at most 1; 0.5 by default. */
  readonly failureShare: number;
  /**
   * Milliseconds for which it stays open; 30,000 by default. Each time it opens again before it was closed, it stays
   * open for twice as long as the last time, up to ten times `openMs`.
   */
  readonly openMs: number;
}

/** Half of at least 10 attempts of the last minute; open for 30 s. */
export const DEFAULT_BREAKER_POLICY: BreakerPolicy = {
  windowMs: 60_000,
  minAttempts: 10,
  failureShare: 0.5,
  openMs: 30_000,
};

/** The longest time for which a breaker stays open, as a multiple of `openMs`. */
const MAX_OPEN = 10;

/** So many attempts have to succeed after the probe until it closes; each one allows one more at the same time. */
const RAMP_ATTEMPTS = 10;

/** Closed: attempts run. Open: none does. Half-open: one does as a probe, then more and more. */
export type BreakerState =
  | { readonly phase: "closed"; readonly slots: readonly Slot[] }
  | {
      readonly phase: "open";
      readonly until: number;
      /** How often it has opened since it was last closed. */
      readonly openings: number;
    }
  | {
      readonly phase: "half-open";
      readonly since: number;
      readonly openings: number;
      readonly good: number;
      readonly bad: number;
    };

/** The attempts of a tenth of the window. */
interface Slot {
  readonly number: number;
  readonly good: number;
  readonly bad: number;
}

/** The result of an attempt for the breaker; `neither` says nothing about the listener's health. */
export interface BreakerInput {
  readonly result: "good" | "bad" | "neither";
  readonly startedAt: number;
  readonly now: number;
}

const SLOTS = 10;

/** While it is half-open, fewer attempts than this are too few for a share of failures. */
const RAMP_SAMPLE = 5;

export const CLOSED: BreakerState = { phase: "closed", slots: [] };

/** The state at a time: a breaker that was open for long enough is half-open. */
export function breakerAt(state: BreakerState, now: number): BreakerState {
  return state.phase === "open" && now >= state.until
    ? { phase: "half-open", since: now, openings: state.openings, good: 0, bad: 0 }
    : state;
}

/** How many attempts may run at the same time. */
export function allowedAttempts(state: BreakerState): number {
  if (state.phase === "closed") return Number.POSITIVE_INFINITY;
  return state.phase === "open" ? 0 : 1 + state.good;
}

/** The state after an attempt. */
export function afterAttempt(policy: BreakerPolicy, state: BreakerState, input: BreakerInput): BreakerState {
  if (state.phase === "open") return state;
  if (state.phase === "half-open") return afterTrial(policy, state, input);
  if (input.result === "neither") return state;
  const slots = counted(state.slots, policy, input);
  const good = slots.reduce((sum, slot) => sum + slot.good, 0);
  const bad = slots.reduce((sum, slot) => sum + slot.bad, 0);
  const opens =
    input.result === "bad" && good + bad >= policy.minAttempts && bad / (good + bad) >= policy.failureShare;
  return opens ? opened(policy, 1, input.now) : { phase: "closed", slots };
}

function afterTrial(
  policy: BreakerPolicy,
  state: Extract<BreakerState, { phase: "half-open" }>,
  { result, startedAt, now }: BreakerInput,
): BreakerState {
  if (startedAt < state.since) return state; // it started before the breaker opened
  // A listener that refuses one event is up, so `neither` counts as a success here.
  if (result !== "bad") {
    const good = state.good + 1;
    return good > RAMP_ATTEMPTS ? CLOSED : { ...state, good };
  }
  const bad = state.bad + 1;
  const all = state.good + bad;
  const reopens = state.good === 0 || (all >= RAMP_SAMPLE && bad / all >= policy.failureShare);
  return reopens ? opened(policy, state.openings + 1, now) : { ...state, bad };
}

function opened(policy: BreakerPolicy, openings: number, now: number): BreakerState {
  const openMs = policy.openMs * Math.min(MAX_OPEN, 2 ** (openings - 1));
  return { phase: "open", until: now + openMs, openings };
}

function counted(slots: readonly Slot[], { windowMs }: BreakerPolicy, { result, now }: BreakerInput): Slot[] {
  const number = Math.floor((now * SLOTS) / windowMs);
  const recent = slots.filter((slot) => slot.number > number - SLOTS && slot.number <= number);
  const last = recent.at(-1);
  const current = last?.number === number ? last : { number, good: 0, bad: 0 };
  const rest = current === last ? recent.slice(0, -1) : recent;
  return [...rest, { ...current, [result]: current[result === "bad" ? "bad" : "good"] + 1 }];
}

/**
 * Fills a policy up with the defaults, and checks it.
 *
 * @throws {RangeError} for a field that is out of its range
 */
export function breakerPolicy(given: Partial<BreakerPolicy> = {}): BreakerPolicy {
  const policy = { ...DEFAULT_BREAKER_POLICY, ...given };
  for (const name of ["windowMs", "openMs"] as const)
    if (!Number.isFinite(policy[name]) || policy[name] <= 0)
      throw new RangeError(`breaker.${name} must be above 0`);
  checkWholeNumber("breaker.minAttempts", policy.minAttempts);
  if (!(policy.failureShare > 0 && policy.failureShare <= 1))
    throw new RangeError("breaker.failureShare must be above 0 and at most 1");
  return policy;
}
