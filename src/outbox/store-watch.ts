import { type ErrorCode, HookproofError } from "../errors.js";
import type { Clock } from "../primitives/clock.js";
import type { Observe } from "../sender/observe.js";
import type { AbortAll } from "./abort-all.js";

const FIRST_WAIT_MS = 100;
const MAX_WAIT_MS = 5_000;

/** Whether the store can be reached, and how long to leave it alone when it cannot. */
export interface StoreWatch {
  /** Does something with the store once; what it throws is noted and thrown on. */
  once<Value>(work: () => Promise<Value>): Promise<Value>;
  /** Does it until it succeeds; `undefined` when that is not before `until`, by the clock, or all is aborted. */
  untilDone<Value>(work: () => Promise<Value>, until: number): Promise<Value | undefined>;
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
    } catch (error) {
      const code: ErrorCode = error instanceof HookproofError ? error.code : "OUTBOX_UNAVAILABLE";
      if (pauseMs === 0) observe?.({ type: "store-changed", available: false, code });
      pauseMs = Math.min(MAX_WAIT_MS, Math.max(FIRST_WAIT_MS, pauseMs * 2));
      throw error;
    }
  }

  return {
    once,
    async untilDone(work, until) {
      for (;;) {
        try {
          return await once(work);
        } catch {
          if (aborting.aborted || clock.now() + pauseMs >= until) return undefined;
          await aborting.during((signal) => wait(pauseMs, signal));
        }
      }
    },
    get pauseMs() {
      return pauseMs;
    },
  };
}
