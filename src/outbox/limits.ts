// The limits of one listener: places, rate and breaker.
import { checkWholeNumber, type OptionNames } from "../core/options.js";
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
import { allowedAt, allowedBy, checkRate, paceAfter, type Rate } from "./rate.js";

/** How much may be sent to one listener. */
export interface LimitOptions {
  /**
   * How many attempts may run at the same time, those of all workers counted; 10 by default.
   */
  concurrency?: number | undefined;
  /**
   * How often attempts may start, those of all workers counted as for `concurrency`; no limit by default. It holds among
   * workers that have the same one: next to a larger `burst` of another worker, a smaller one starts again each time.
   */
  rate?: Rate | undefined;
  /** Fields of the circuit breaker's policy to change, or `false` for no breaker. Each process has its own breaker. */
  breaker?: Partial<BreakerPolicy> | false | undefined;
}

/** The names of `LimitOptions`. */
export const LIMIT_OPTIONS: OptionNames<LimitOptions> = { concurrency: "number", rate: "object", breaker: 1 };

/** The result of an attempt for the limits. */
interface EndedAttempt extends BreakerInput {
  /** Whether there was any answer. */
  readonly answered: boolean;
}

/** An attempt without an answer for this long counts as hanging. */
export const HANGS_AFTER_MS = 1_000;

/**
 * The limits of one listener and what they have counted. All times are the monotonic clock's.
 *
 * A listener starts with one attempt at a time. Each answer doubles how many may run at once, up to its concurrency,
 * and each attempt that hangs until its time limit halves it: a listener that never answers has one attempt at a time.
 */
export class ListenerLimits {
  #concurrency = 1;
  #rate: Rate | undefined;
  /** See `allowedBy`. */
  #pace = Number.NEGATIVE_INFINITY;
  #paceSeenAt = Number.NEGATIVE_INFINITY;
  #policy: BreakerPolicy | undefined;
  readonly #onBreaker: (phase: BreakerState["phase"]) => void;
  #state: BreakerState = CLOSED;
  #underWay = 0;
  #places = 1;
  #pausedUntil = Number.NEGATIVE_INFINITY;

  /**
   * @param onBreaker called at every change of the breaker's phase
   * @throws {RangeError} for options out of their range
   */
  constructor(options: LimitOptions, onBreaker: (phase: BreakerState["phase"]) => void) {
    this.#onBreaker = onBreaker;
    this.change(options);
  }

  /**
   * Goes on with other limits; what was counted stays.
   *
   * @throws {RangeError} for options out of their range
   */
  change({ concurrency = 10, rate, breaker }: LimitOptions): void {
    checkWholeNumber("concurrency", concurrency);
    if (rate) checkRate(rate);
    const isOther = rate?.perSecond !== this.#rate?.perSecond || rate?.burst !== this.#rate?.burst;
    this.#policy = breaker === false ? undefined : breakerPolicy(breaker);
    this.#concurrency = concurrency;
    this.#places = Math.min(this.#places, concurrency);
    this.#rate = rate && { ...rate };
    if (isOther) this.#pace = Number.NEGATIVE_INFINITY;
  }

  /** The limits that hold over all workers, for the store to keep. */
  get shared(): { readonly concurrency: number; readonly rate: Rate | undefined } {
    return { concurrency: this.#concurrency, rate: this.#rate };
  }

  get isBusy(): boolean {
    return this.#underWay > 0;
  }

  get breaker(): BreakerState["phase"] {
    return this.#state.phase;
  }

  /** How many attempts of this process may start now. */
  free(now: number): number {
    return Math.min(this.#freePlaces(now), this.#allowed(now));
  }

  started(now: number): void {
    this.#underWay += 1;
    this.#count(1, now);
  }

  /** An attempt that was not made after all: its place is free again, and the rate has it back. */
  cancelled(now: number): void {
    this.#underWay -= 1;
    this.#count(-1, now);
  }

  ended(attempt: EndedAttempt): void {
    const { answered, startedAt, now } = attempt;
    this.#underWay -= 1;
    if (answered) this.#places = Math.min(this.#concurrency, this.#places * 2);
    else if (now - startedAt >= HANGS_AFTER_MS) this.#places = Math.max(1, Math.floor(this.#places / 2));
    if (this.#policy) this.#become(afterAttempt(this.#policy, breakerAt(this.#state, now), attempt));
  }

  /** Starts no attempt before this time, as the receiver asked with `Retry-After`. */
  pauseUntil(time: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, time);
  }

  /** When the next attempt may start, if the rate is all that prevents one. */
  nextByRate(now: number): number | undefined {
    if (!this.#rate || this.#freePlaces(now) === 0 || this.#allowed(now) > 0) return undefined;
    return allowedAt(this.#rate, this.#paceAt(now), now);
  }

  #allowed(now: number): number {
    return this.#rate ? Math.max(0, allowedBy(this.#rate, this.#paceAt(now), now)) : Number.POSITIVE_INFINITY;
  }

  #count(attempts: number, now: number): void {
    if (this.#rate) this.#pace = paceAfter(this.#rate, this.#paceAt(now), now, attempts);
  }

  /** A clock that goes back takes the pace with it, so it allows no more and no less. */
  #paceAt(now: number): number {
    this.#pace -= Math.max(0, this.#paceSeenAt - now);
    this.#paceSeenAt = now;
    return this.#pace;
  }

  #freePlaces(now: number): number {
    this.#become(breakerAt(this.#state, now));
    if (now < this.#pausedUntil) return 0;
    return Math.max(0, Math.min(this.#places, allowedAttempts(this.#state)) - this.#underWay);
  }

  #become(next: BreakerState): void {
    const changed = next.phase !== this.#state.phase;
    this.#state = next;
    if (changed) this.#onBreaker(next.phase);
  }
}
