// How often a function of listeners is asked that fails.
import { allowedBy, paceAfter, type Rate } from "./rate.js";

/** A name that it failed for is asked about again ever later, after so long at most while there are few such names. */
const MAX_MS = 60_000;

/** All those that it failed for together are asked about so often. */
const AGAIN: Rate = { perSecond: 50, burst: 25 };

/** After so many failures in a row, whatever the names, the function itself fails ... */
const IN_A_ROW = 20;
/** ... and is asked about other names so often, until it answers. */
const OTHERS: Rate = { perSecond: 50, burst: 25 };

/** That the function failed for a name. */
export interface LookupFailure {
  readonly pauseMs: number;
  /** Of which time it is that the function failed for everybody. */
  readonly outage: number | undefined;
}

/** Counts how a function of listeners fails, for one name or for all. Times are the monotonic clock's. */
export class LookupFailures {
  #inARow = 0;
  #outage = 0;
  #again = Number.NEGATIVE_INFINITY;
  #others = Number.NEGATIVE_INFINITY;

  /**
   * Whether the function may be asked about one more name.
   *
   * @param failure that it failed for this name before; undefined if it did not
   */
  take(now: number, failure: LookupFailure | undefined): boolean {
    if (failure) {
      if (allowedBy(AGAIN, this.#again, now) < 1) return false;
      this.#again = paceAfter(AGAIN, this.#again, now, 1);
    } else if (this.#inARow >= IN_A_ROW) {
      if (allowedBy(OTHERS, this.#others, now) < 1) return false;
      this.#others = paceAfter(OTHERS, this.#others, now, 1);
    }
    return true;
  }

  /** It threw, or did not answer in time. */
  failed(): void {
    this.#inARow += 1;
  }

  /** It answered about a name; if it failed for this one when it failed for all, the others need not wait either. */
  answered(before: LookupFailure | undefined): void {
    this.#inARow = 0;
    if (before?.outage === this.#outage) this.#outage += 1;
  }

  /** Whether a failure counts no more, as the function answers again. */
  isOver({ outage = this.#outage }: LookupFailure): boolean {
    return outage < this.#outage;
  }

  /** How long a name waits that the function has failed for once more, one of so many. */
  next(before: LookupFailure | undefined, firstMs: number, names: number): LookupFailure {
    const grown = Math.min(MAX_MS, before ? before.pauseMs * 2 : firstMs);
    const pauseMs = Math.max(grown, (names / AGAIN.perSecond) * 1_000);
    return { pauseMs, outage: this.#inARow >= IN_A_ROW ? this.#outage : undefined };
  }
}
