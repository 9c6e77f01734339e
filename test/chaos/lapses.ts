// When the process of a receiver stood still, so that nobody can say when something came to it.
import type { Hindrance } from "./outbox-judge.js";

/** A process that did nothing for so long has requests waiting, and needs some time for them. */
const STARVED_MS = 400;
/** A shorter one hinders nobody. */
const HINDERED_MS = 50;
const BREATH_MS = 20;
const CATCHES_UP_WITHIN_MS = 2_000;

/** When this process was let do nothing: what it answers then may meet a sender that has given up. */
export function lapses(): {
  /** Whether what arrived at a time did so well after this process had caught up. */
  isOver(at: number): boolean;
  lagMs(): number;
  readonly standstills: readonly Hindrance[];
  stop(): void;
} {
  let [last, ended] = [performance.now(), Number.NEGATIVE_INFINITY];
  const lags: number[] = [];
  const standstills: Hindrance[] = [];
  const timer = setInterval(() => {
    const now = performance.now();
    if (now - last > STARVED_MS) ended = now;
    if (now - last > HINDERED_MS) standstills.push({ kind: "standstill", from: last, to: now });
    lags.push(now - last - BREATH_MS);
    last = now;
  }, BREATH_MS);
  return {
    standstills,
    lagMs: () => lags.sort((a, b) => a - b)[Math.floor(0.95 * lags.length)] ?? 0,
    isOver: (at) =>
      at > (performance.now() - last > STARVED_MS ? performance.now() : ended) + CATCHES_UP_WITHIN_MS,
    stop: () => clearInterval(timer),
  };
}
