import type { Clock } from "../primitives/clock.js";

/** A clock that stands still until it is moved. */
export interface FixedClock extends Clock {
  /** Moves the clock forward, or back by a negative amount. */
  advance(ms: number): void;
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
  return {
    now: () => now,
    advance(ms) {
      now += ms;
    },
  };
}
