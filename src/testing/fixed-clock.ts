import type { Clock } from "../primitives/clock.js";

/** A clock that stands still until it is moved. */
export interface FixedClock extends Clock {
  /** Lets time pass; by a negative amount it puts the time of day back. */
  advance(ms: number): void;
  /** Puts the time of day forward or back, as an administrator does: no time passes by it. */
  adjust(ms: number): void;
  monotonic(): number;
}

/**
 * A clock for tests.
 *
 * @param time milliseconds since the epoch, or a date text
 *
 * @example
 * ```ts
 * import { fixedClock } from "hookproof/testing";
 *
 * const clock = fixedClock("2026-01-01T00:00:00Z");
 * clock.advance(5 * 60_000);
 * ```
 */
export function fixedClock(time: number | string): FixedClock {
  let now = new Date(time).getTime();
  if (Number.isNaN(now)) throw new TypeError("time must be milliseconds or a date text");
  let passed = 0;
  return {
    now: () => now,
    monotonic: () => passed,
    advance(ms) {
      now += ms;
      passed += Math.max(0, ms);
    },
    adjust(ms) {
      now += ms;
    },
  };
}
