// Clocks and waits for tests.

import type { Clock } from "../core/clock.js";
import { checkOptions } from "../core/options.js";

/** A clock that stands still until it is moved. */
export interface FixedClock extends Clock {
  /** Lets time pass. A negative amount puts the time of day back. */
  advance(ms: number): void;
  /** Puts the time of day forward or back, as an administrator does. No time passes. */
  adjust(ms: number): void;
  /** Milliseconds that have passed since the clock was made; it never goes back. */
  monotonic(): number;
}

/**
 * Makes a clock for tests, which stands still until it is moved.
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
  let passed = 0;
  return {
    now: () => now,
    monotonic: () => passed,
    advance(ms) {
      now += ms;
      passed += Math.max(0, ms);
    },
    adjust(ms) {
      now += ms;
    },
  };
}

/** Options of `waitFor`. */
export interface WaitForOptions {
  /** How long it waits in all; 5,000 ms by default. */
  timeoutMs?: number | undefined;
  /** The pause between two calls of the predicate; 10 ms by default. */
  intervalMs?: number | undefined;
}

/**
 * Calls a predicate again and again until it returns a truthy value, and resolves with that value. A predicate that
 * throws is called again.
 *
 * @throws {Error} when the time is over, with what the predicate threw last as its `cause`
 *
 * @example
 * ```ts
 * import { createFakeReceiver, waitFor } from "hookproof/testing";
 *
 * const receiver = createFakeReceiver([200]);
 * setTimeout(() => void receiver.handle(new Request("http://127.0.0.1/hook", { method: "POST" })), 20);
 * const [request] = await waitFor(() => receiver.requests.length > 0 && receiver.requests);
 * ```
 */
export async function waitFor<Value>(
  predicate: () => Value | Promise<Value>,
  options: WaitForOptions = {},
): Promise<Exclude<Value, false | 0 | "" | null | undefined>> {
  checkOptions("waitFor", options, { timeoutMs: "number", intervalMs: "number" });
  const { timeoutMs = 5_000, intervalMs = 10 } = options;
  if (typeof predicate !== "function") throw new TypeError("predicate must be a function");
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const seen = await look(predicate);
    if (seen.value) return seen.value as Exclude<Value, false | 0 | "" | null | undefined>;
    if (performance.now() >= deadline)
      throw new Error(`waited ${timeoutMs} ms in vain`, "cause" in seen ? { cause: seen.cause } : {});
    await new Promise((resolve) => setTimeout(resolve, intervalMs));
  }
}

async function look<Value>(
  predicate: () => Value | Promise<Value>,
): Promise<{ value?: Value; cause?: unknown }> {
  try {
    return { value: await predicate() };
  } catch (cause) {
    return { cause };
  }
}
