// A clock that can be moved and stopped.
import type { Clock } from "hookproof";

/** How the clock of a service is moved. */
export interface ClockChange {
  /** The time it is from now on: ISO 8601, or milliseconds since the epoch. */
  to?: string | number | undefined;
  /** Moves it by so much; less than 0 is back. */
  advanceMs?: number | undefined;
  /** True stops it, false lets it go on from where it is. */
  frozen?: boolean | undefined;
}

/** A clock that can be moved and stopped. */
export interface ServiceClock extends Clock {
  readonly isFrozen: boolean;
  /** @throws {RangeError} for a time that is none */
  move(change: ClockChange): void;
  /** Takes back every move. */
  reset(): void;
}

/** What the wire can show: RFC 3339 has four digits for a year. */
const FIRST_MS = new Date(0).setUTCFullYear(0);
const LAST_MS = Date.UTC(10_000, 0) - 1;

/** A clock over another one, in whole milliseconds. It stands still at the last time that the wire can show. */
export function serviceClock(base: Clock): ServiceClock {
  let shiftMs = 0;
  let frozenAt: number | undefined;
  const now = () => frozenAt ?? Math.min(Math.floor(base.now() + shiftMs), LAST_MS);
  return {
    now,
    get isFrozen() {
      return frozenAt !== undefined;
    },
    move({ to, advanceMs = 0, frozen = frozenAt !== undefined }) {
      const target = Math.floor((to === undefined ? now() : new Date(to).getTime()) + advanceMs);
      if (!(target >= FIRST_MS && target <= LAST_MS))
        throw new RangeError("the clock shows the years 0000 to 9999");
      shiftMs = target - base.now();
      frozenAt = frozen ? target : undefined;
    },
    reset() {
      shiftMs = 0;
      frozenAt = undefined;
    },
  };
}
