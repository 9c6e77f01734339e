// Turns bars of the time line into stretches of time, and goes from bar to bar.
import type { TimeSpan } from "../list/filter.js";
import { timeOfDay } from "../text/time.js";
import type { Bucket, Buckets } from "./buckets.js";

/** The time of some bars, from the first to the last; the last bar of all has no end, as what is to come stands in it. */
export function barsBetween({ bars, stepMs }: Buckets, first: number, last: number): TimeSpan {
  const at = (index: number) => bars[Math.max(0, Math.min(bars.length - 1, index))]?.from ?? 0;
  return {
    from: at(first),
    to: last >= bars.length - 1 ? Number.POSITIVE_INFINITY : at(last) + stepMs,
  };
}

/** The next bar with answers from a chosen one; from none the newest, or the oldest. */
export function nextBar({ bars }: Buckets, chosen: number | undefined, by: number): number | undefined {
  const start = chosen ?? (by < 0 ? bars.length : -1);
  for (let at = start + by; at >= 0 && at < bars.length; at += by) if (hasAnswers(bars[at])) return at;
  return undefined;
}

/** A stretch of time as people say it. */
export function spanInWords({ from, to }: TimeSpan): string {
  return `${timeOfDay(from)} to ${Number.isFinite(to) ? timeOfDay(to) : "now"}`;
}

function hasAnswers(bar: Bucket | undefined): boolean {
  return bar !== undefined && Object.values(bar.counts).some((count) => count > 0);
}
