import type { Facts, Held, Rule } from "./facts.js";
import { shortName } from "./facts.js";
import type { ListenerPlan, Plan } from "./plan.js";
import type { VirtualTime } from "./virtual-time.js";

const HOUR_MS = 3_600_000;
export const MAX_RETRY_AFTER_MS = 24 * HOUR_MS;
export const WINDOW_MS = 7 * 24 * HOUR_MS - HOUR_MS;
/** How much faster or slower than the store's a worker's clock may run: plan.ts. */
export const DRIFT = 0.045;

/** When an event may be tried again, and when it has to be given up. */
export class Schedule {
  readonly #listeners: ReadonlyMap<string, ListenerPlan>;
  readonly #time: VirtualTime;
  readonly #storeNow: () => number;

  constructor(plan: Plan, time: VirtualTime, storeNow: () => number) {
    this.#listeners = new Map(plan.listeners.map((one) => [one.name, one]));
    this.#time = time;
    this.#storeNow = storeNow;
  }

  /**
   * What is wrong with the next attempt at this moment.
   *
   * @param holds when the worker asked for it, by the world's time; until when the listener rests, as all workers know
   * it, and when it was paused last
   */
  faults(
    one: Facts,
    held: Held,
    at: number,
    holds: { readonly askedAt: number; readonly restsUntil: number; readonly pausedAt: number },
  ): (readonly [Rule, string])[] {
    const { number, last, askedAt, claimedAt, lease } = held;
    const what = `${shortName(one)} rescheduled`;
    const { restsUntil, pausedAt } = holds;
    const now = this.#storeNow();
    const [from, retry] = [
      last?.at ?? now - (this.#time.now - holds.askedAt),
      this.#listeners.get(one.listener)?.retry,
    ];
    if (!retry) return [];
    const found: (readonly [Rule, string])[] = [];
    const tries = number - one.attemptsBefore;
    const delay = Math.min(retry.maxDelayMs, retry.firstDelayMs * 2 ** (tries - 1));
    const asked = Math.min(MAX_RETRY_AFTER_MS, last?.retryAfterMs ?? 0);
    const rounding = 1_100 + DRIFT * (this.#time.now - askedAt);
    const earliest = from + Math.max(delay, asked) - rounding;
    if (at < earliest) found.push(["schedule", `${what} ${earliest - at} ms too soon`]);
    const latest = now + Math.max(1.5 * delay, asked) + (claimedAt - askedAt) + rounding;
    if (at > latest) found.push(["schedule", `${what} ${at - latest} ms too late`]);
    if (last?.status !== 410 && tries >= (retry.maxAttempts ?? Number.POSITIVE_INFINITY))
      found.push(["schedule", `${what} after all ${tries} attempts`]);
    if (at > (one.firstAttemptAt ?? now) + WINDOW_MS) found.push(["window", `${what} past its window`]);
    const rests = (last?.status === 429 || last?.status === 503) && asked > 0;
    const hadTime = now < lease.expiresAt - 6_000;
    if (rests && hadTime && restsUntil < from + asked - rounding)
      found.push(["schedule", `${what}, and ${one.listener} does not rest as it asked`]);
    if (last?.status === 410 && hadTime && pausedAt < last.at)
      found.push(["gone", `${what} after 410, and ${one.listener} is not paused`]);
    return found;
  }

  /** Whether an event may be given up for this reason, which is none of the receiver's. */
  isReason(one: Facts, reason: string, jumpedMs: number): boolean {
    const { retry } = this.#listeners.get(one.listener) ?? {};
    if (reason === "attempts")
      return one.attempts - one.attemptsBefore >= (retry?.maxAttempts ?? Number.POSITIVE_INFINITY);
    const longest = Math.max(1.5 * (retry?.maxDelayMs ?? 0), MAX_RETRY_AFTER_MS);
    const open = (one.firstAttemptAt ?? 0) + WINDOW_MS - this.#storeNow();
    return reason === "window" && open <= longest + jumpedMs + HOUR_MS;
  }
}
