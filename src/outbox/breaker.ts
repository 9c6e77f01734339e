/** When a listener is left alone, and how it is tried again. */
export interface BreakerPolicy {
  /** Attempts of this last while are looked at. */
  readonly windowMs: number;
  /** With fewer attempts than this in the window it stays closed. */
  readonly minAttempts: number;
  /** It opens when at least this share of them failed. */
  readonly failureShare: number;
  /** How long it stays open; twice as long each time it opens again without having closed. */
  readonly openMs: number;
  readonly maxOpenMs: number;
  /** After the probe, this many attempts must succeed, one more at once after each, until it closes. */
  readonly rampAttempts: number;
}

/** Half of at least 10 attempts of the last minute; 30 s at first, 5 minutes at most. */
export const DEFAULT_BREAKER_POLICY: BreakerPolicy = {
  windowMs: 60_000,
  minAttempts: 10,
  failureShare: 0.5,
  openMs: 30_000,
  maxOpenMs: 300_000,
  rampAttempts: 10,
};

/** Closed: attempts run. Open: none does. Half-open: one does as a probe, then more and more. */
export type BreakerState =
  | { readonly phase: "closed"; readonly slots: readonly Slot[] }
  | {
      readonly phase: "open";
      readonly until: number;
      /** How often it opened since it was closed. */
      readonly openings: number;
    }
  | {
      readonly phase: "half-open";
      readonly since: number;
      readonly openings: number;
      readonly good: number;
      readonly bad: number;
    };

/** A tenth of the window. */
interface Slot {
  readonly number: number;
  readonly good: number;
  readonly bad: number;
}

/** How an attempt ended, as far as the breaker cares: `neither` says nothing about the listener's health. */
export interface BreakerInput {
  readonly result: "good" | "bad" | "neither";
  readonly startedAt: number;
  readonly now: number;
}

const SLOTS = 10;
/** While attempts are coming back, fewer than this many say nothing about the share of failures. */
const RAMP_SAMPLE = 5;

export const CLOSED: BreakerState = { phase: "closed", slots: [] };

/** The state at a time: what was open long enough is half-open. */
export function breakerAt(state: BreakerState, now: number): BreakerState {
  return state.phase === "open" && now >= state.until
    ? { phase: "half-open", since: now, openings: state.openings, good: 0, bad: 0 }
    : state;
}

/** How many attempts may be under way. */
export function allowedAttempts(state: BreakerState): number {
  if (state.phase === "closed") return Number.POSITIVE_INFINITY;
  return state.phase === "open" ? 0 : 1 + state.good;
}

/** The state after an attempt. Pure. */
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
  if (startedAt < state.since) return state; // from before it opened
  // Whoever answers at all is there: a refusal of one event ends the trial well.
  if (result !== "bad") {
    const good = state.good + 1;
    return good > policy.rampAttempts ? CLOSED : { ...state, good };
  }
  const bad = state.bad + 1;
  const all = state.good + bad;
  const reopens = state.good === 0 || (all >= RAMP_SAMPLE && bad / all >= policy.failureShare);
  return reopens ? opened(policy, state.openings + 1, now) : { ...state, bad };
}

function opened(policy: BreakerPolicy, openings: number, now: number): BreakerState {
  const openMs = Math.min(policy.maxOpenMs, policy.openMs * 2 ** (openings - 1));
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

/** A policy from the fields a caller gave, checked. */
export function breakerPolicy(given: Partial<BreakerPolicy> = {}): BreakerPolicy {
  const policy = { ...DEFAULT_BREAKER_POLICY, ...given };
  for (const name of ["windowMs", "openMs", "maxOpenMs"] as const)
    if (!Number.isFinite(policy[name]) || policy[name] <= 0)
      throw new RangeError(`breaker.${name} must be above 0`);
  for (const name of ["minAttempts", "rampAttempts"] as const)
    if (!Number.isInteger(policy[name]) || policy[name] < 1)
      throw new RangeError(`breaker.${name} must be a whole number, 1 or more`);
  if (!(policy.failureShare > 0 && policy.failureShare <= 1))
    throw new RangeError("breaker.failureShare must be above 0 and at most 1");
  return policy;
}
