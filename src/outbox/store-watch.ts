import { type ErrorCode, HookproofError } from "../errors.js";
import { type Clock, monotonicMs } from "../primitives/clock.js";
import type { Observe } from "../sender/observe.js";
import type { AbortAll } from "./abort-all.js";

const FIRST_WAIT_MS = 100;
const MAX_WAIT_MS = 5_000;

/** What came of work that was done until it succeeded. */
interface Done<Value> {
  readonly value: Value;
  /** Whether a try that failed came before, which may have had its effect without our knowing. */
  readonly wasRepeated: boolean;
}

/** Whether the store can be reached, and how long to leave it alone when it cannot. */
export interface StoreWatch {
  /** Does something with the store once; what it throws is noted and thrown on. */
  once<Value>(work: () => Promise<Value>): Promise<Value>;
  /** Does it until it succeeds; `undefined` when that is not before `until`, by the monotonic clock, or all is aborted. */
  untilDone<Value>(work: () => Promise<Value>, until: number): Promise<Done<Value> | undefined>;
  /** How long to wait after failures before the next try; 0 when there were none. */
  readonly pauseMs: number;
}

export function storeWatch({
  clock,
  observe,
  wait,
  aborting,
}: {
  clock: Clock;
  observe: Observe | undefined;
  wait: (ms: number, signal?: AbortSignal) => Promise<void>;
  aborting: AbortAll;
}): StoreWatch {
  let pauseMs = 0;

  async function once<Value>(work: () => Promise<Value>): Promise<Value> {
    try {
      const value = await work();
      if (pauseMs > 0) observe?.({ type: "store-changed", available: true });
      pauseMs = 0;
      return value;
    } catch (cause) {
      const code: ErrorCode = cause instanceof HookproofError ? cause.code : "OUTBOX_UNAVAILABLE";
      if (pauseMs === 0) observe?.({ type: "store-changed", available: false, code, cause });
      pauseMs = Math.min(MAX_WAIT_MS, Math.max(FIRST_WAIT_MS, pauseMs * 2));
      throw cause;
    }
  }

  return {
    once,
    async untilDone(work, until) {
      for (let wasRepeated = false; ; wasRepeated = true) {
        try {
          return { value: await once(work), wasRepeated };
        } catch {
          if (aborting.aborted || monotonicMs(clock) + pauseMs >= until) return undefined;
          await aborting.during((signal) => wait(pauseMs, signal));
        }
      }
    },
    get pauseMs() {
      return pauseMs;
    },
  };
}
