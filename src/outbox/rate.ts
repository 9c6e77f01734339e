// A rate, and the one time that says how much of it is used.

/** How often attempts may start. */
export interface Rate {
  /** Attempts a second on average, above 0. */
  readonly perSecond: number;
  /** How many may start at once after a pause, 1 or more; by default `perSecond`, or 1 if that is less. */
  readonly burst?: number | undefined;
}

/** @throws {RangeError} for a rate out of its range */
export function checkRate({ perSecond, burst = 1 }: Rate): void {
  if (!Number.isFinite(perSecond) || perSecond <= 0) throw new RangeError("rate.perSecond must be above 0");
  if (!Number.isFinite(burst) || burst < 1) throw new RangeError("rate.burst must be 1 or more");
}

const ROUNDING = 1e-9;

/**
 * How many events a rate allows now. Where `at` is the time by which all claimed events would have been claimed evenly,
 * the rest of a burst is what lies between it and now.
 */
export function allowedBy(rate: Rate, at: number, now: number): number {
  return Math.floor(leftOf(rate, at, now) + ROUNDING);
}

/** When a rate allows an event, if it allows none now. */
export function allowedAt(rate: Rate, at: number, now: number): number {
  if (allowedBy(rate, at, now) > 0) return now;
  return now + Math.ceil(((1 - leftOf(rate, at, now)) * 1_000) / rate.perSecond);
}

/** The time of `allowedBy` after so many more events were claimed. */
export function paceAfter(rate: Rate, at: number, now: number, claimed: number): number {
  return paceAt(rate, at, now) + (claimed * 1_000) / rate.perSecond;
}

function leftOf(rate: Rate, at: number, now: number): number {
  return burstOf(rate) - ((paceAt(rate, at, now) - now) * rate.perSecond) / 1_000;
}

/**
 * A stored pace is never before now. One that is more than a whole burst and an event ahead was stored before the
 * store's clock was put back, or at a slower rate: it says nothing, or the listener would wait until that time.
 */
function paceAt(rate: Rate, at: number, now: number): number {
  const ahead = ((at - now) * rate.perSecond) / 1_000;
  return ahead > 0 && ahead <= burstOf(rate) + 1 ? at : now;
}

function burstOf({ perSecond, burst = Math.max(1, perSecond) }: Rate): number {
  return burst;
}
