import type { Rule } from "./facts.js";
import { MAX_RETRY_AFTER_MS } from "./schedule.js";
import type { VirtualTime } from "./virtual-time.js";

interface HoldsOptions {
  readonly storeNow: () => number;
  readonly time: VirtualTime;
  readonly onBroken: (rule: Rule, message: string) => void;
}

/** The pauses and rests of listeners, as the store has to keep them. */
export class Holds {
  readonly #options: HoldsOptions;
  /** The listeners that are paused; of which a call is ending the pause; and of which such a call has failed. */
  readonly #paused = new Map<string, "holds" | "ends" | "unknown">();
  /** How many calls are ending a pause, and of which listeners several were at the same time. */
  readonly #resuming = new Map<string, number>();
  readonly #overlapping = new Set<string>();
  /** Until when, by the store's clock. */
  readonly #rests = new Map<string, number>();
  /** Those that were over before the clock was put back as well. */
  readonly #allRests = new Map<string, number>();
  /** When each listener was paused last, by the store's clock. */
  readonly #pausedAt = new Map<string, number>();
  /** When a pause or a rest was noted last, by the world's time. */
  readonly #notedAt = new Map<string, number>();

  constructor(options: HoldsOptions) {
    this.#options = options;
  }

  isPaused(listener: string): boolean {
    return this.#paused.get(listener) === "holds";
  }

  /**
   * Why nothing of the listener may be claimed; nothing, if it may.
   *
   * @param lookedAt when the store looked for it, by the world's time: what is noted later may have come too late
   */
  held(listener: string, lookedAt = this.#options.time.now): string | undefined {
    if (lookedAt < (this.#notedAt.get(listener) ?? 0)) return undefined;
    if (this.isPaused(listener)) return "is paused";
    return this.#options.storeNow() < this.restsUntil(listener) ? "rests" : undefined;
  }

  /** Whether nothing may come of it that an event of the listener is due. */
  mayHold(listener: string): boolean {
    return this.#paused.has(listener) || (this.#allRests.get(listener) ?? 0) >= this.#options.storeNow();
  }

  pausedAt(listener: string): number {
    return this.#pausedAt.get(listener) ?? Number.NEGATIVE_INFINITY;
  }

  paused(listener: string): void {
    this.#paused.set(listener, "holds");
    this.#notedAt.set(listener, this.#options.time.now);
    this.#pausedAt.set(listener, this.#options.storeNow());
  }

  /** A call begins that ends a pause, at some moment before it returns. */
  resumes(listener: string): void {
    const open = this.#resuming.get(listener) ?? 0;
    if (open > 0) this.#overlapping.add(listener);
    this.#resuming.set(listener, open + 1);
    if (this.isPaused(listener)) this.#paused.set(listener, "ends");
  }

  /** It has ended the pause, or found none. */
  resumed(listener: string, changed: boolean): void {
    const before = this.#paused.get(listener);
    this.#paused.delete(listener);
    if (before !== "unknown" && !this.#overlapping.has(listener) && changed !== (before !== undefined))
      this.#options.onBroken(
        "fence",
        `resume of ${listener}: ${changed}, and it was ${before ?? "not paused"}`,
      );
  }

  /** The call has returned; one that failed may have ended the pause. */
  resumeEnded(listener: string, hasFailed: boolean): void {
    if (hasFailed && this.#paused.has(listener)) this.#paused.set(listener, "unknown");
    const open = (this.#resuming.get(listener) ?? 1) - 1;
    this.#resuming.set(listener, open);
    if (open === 0) this.#overlapping.delete(listener);
  }

  restsUntil(listener: string): number {
    return this.#rests.get(listener) ?? 0;
  }

  rests(listener: string, ms: number): void {
    if (ms > MAX_RETRY_AFTER_MS) this.#options.onBroken("schedule", `${listener} rests for ${ms} ms`);
    const until = this.#options.storeNow() + ms;
    this.#rests.set(listener, Math.max(until, this.restsUntil(listener)));
    this.#notedAt.set(listener, this.#options.time.now);
    this.#allRests.set(listener, Math.max(until, this.#allRests.get(listener) ?? 0));
  }

  /**
   * The store's clock was set. A rest that was over is forgotten, and does not come back with the clock; one that is not may be
   * as much shorter by a clock that was put back.
   */
  storeJumped(ms: number): void {
    const before = this.#options.storeNow() - ms;
    for (const [listener, until] of this.#rests)
      if (until <= before) this.#rests.delete(listener);
      else if (ms < 0) this.#rests.set(listener, until + ms);
  }
}
