import { dropped } from "./harmless.js";

/** Where time comes from, everywhere in the library. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /**
   * Milliseconds since any moment, which only grow, also when the time of day is put back or forward: what takes
   * so long, or is waited for, is measured by them. Without it `now` serves for both.
   */
  monotonic?(): number;
}

/** The clocks of the machine. */
export const systemClock: Clock = { now: () => Date.now(), monotonic: () => Math.floor(performance.now()) };

/** A clock's time for durations; the difference of two is how long something took. */
export function monotonicMs(clock: Clock): number {
  return clock.monotonic ? clock.monotonic() : clock.now();
}

/** The time of day of a caller's clock, or a throw. */
export function timeOf(clock: Clock): number {
  return numberOf(clock.now());
}

/** A caller's clock that gives numbers or throws. */
export function checkedClock(clock: Clock): Clock {
  return {
    now: () => numberOf(clock.now()),
    ...(clock.monotonic ? { monotonic: () => numberOf(clock.monotonic?.()) } : {}),
  };
}

/** An `async` clock gives a promise, which is a time that is not known yet. */
function numberOf(time: unknown): number {
  if (typeof time === "number") return time;
  dropped(time);
  throw new TypeError("a clock must give milliseconds, as a number");
}

/** The whole seconds a `Webhook-Timestamp` and a token's `exp` count in. */
export function unixSeconds(clock: Clock): number {
  return Math.floor(timeOf(clock) / 1000);
}
