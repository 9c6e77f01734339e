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

/** How often attempts may start. */
export interface Rate {
  /** Attempts a second on average, above 0. */
  readonly perSecond: number;
  /** How many may start at once after a pause, 1 or more; by default `perSecond`, or 1 if that is less. */
  readonly burst?: number | undefined;
}

/** How much may be sent to one listener. */
export interface LimitOptions {
  /**
   * How many attempts may run at the same time, those of all workers counted; 10 by default.
   */
  concurrency?: number | undefined;
  /**
   * How often attempts may start, those of all workers counted as for `concurrency`; no limit by default. It holds among
   * workers that have the same one: beside a larger `burst` of another worker, a smaller one begins anew each time.
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
  #given: Rate | undefined;
  #rate: TokenBucket | undefined;
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
    const isOther = rate?.perSecond !== this.#given?.perSecond || rate?.burst !== this.#given?.burst;
    if (isOther) this.#rate = rate && new TokenBucket(rate);
    this.#policy = breaker === false ? undefined : breakerPolicy(breaker);
    this.#concurrency = concurrency;
    this.#places = Math.min(this.#places, concurrency);
    this.#given = rate && { ...rate };
  }

  /** The limits that hold over all workers, for the store to keep. */
  get shared(): { readonly concurrency: number; readonly rate: Rate | undefined } {
    return { concurrency: this.#concurrency, rate: this.#given };
  }

  get isBusy(): boolean {
    return this.#underWay > 0;
  }

  get breaker(): BreakerState["phase"] {
    return this.#state.phase;
  }

  /** How many attempts of this process may start now. */
  free(now: number): number {
    return Math.min(this.#freePlaces(now), this.#rate?.tokens(now) ?? Number.POSITIVE_INFINITY);
  }

  started(now: number): void {
    this.#underWay += 1;
    this.#rate?.take(1, now);
  }

  /** An attempt that was not made after all: its place and its token are free again. */
  cancelled(now: number): void {
    this.#underWay -= 1;
    this.#rate?.take(-1, now);
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
    if (!this.#rate || this.#freePlaces(now) === 0 || this.#rate.tokens(now) > 0) return undefined;
    return this.#rate.nextToken(now);
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

/** The token bucket of a rate: an attempt takes a token, and tokens come back at the rate. */
export class TokenBucket {
  readonly #perSecond: number;
  readonly #burst: number;
  #tokens: number;
  #at = Number.NEGATIVE_INFINITY;

  /** @throws {RangeError} for a rate out of its range */
  constructor({ perSecond, burst = Math.max(1, perSecond) }: Rate) {
    if (!Number.isFinite(perSecond) || perSecond <= 0) throw new RangeError("rate.perSecond must be above 0");
    if (!Number.isFinite(burst) || burst < 1) throw new RangeError("rate.burst must be 1 or more");
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#tokens = burst;
  }

  /** How many whole tokens there are. */
  tokens(now: number): number {
    this.#refill(now);
    return Math.max(0, Math.floor(this.#tokens + ROUNDING));
  }

  take(count: number, now: number): void {
    this.#refill(now);
    this.#tokens -= count;
  }

  /** When there is a whole token. */
  nextToken(now: number): number {
    if (this.tokens(now) > 0) return now;
    return now + Math.ceil(((1 - this.#tokens) * 1000) / this.#perSecond);
  }

  /** A clock that goes back adds nothing. */
  #refill(now: number): void {
    const gained = (Math.max(0, now - this.#at) * this.#perSecond) / 1000;
    this.#tokens = Math.min(this.#burst, this.#tokens + gained);
    this.#at = now;
  }
}

const ROUNDING = 1e-9;
