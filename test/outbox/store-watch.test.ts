import { HookproofError, type SenderEvent } from "hookproof";
import { expect, it } from "vitest";
import { abortAll } from "../../src/outbox/abort-all.js";
import { storeWatch } from "../../src/outbox/store-watch.js";

const gone = new HookproofError("OUTBOX_UNAVAILABLE", "gone", { cause: new Error("ECONNREFUSED") });

/** A watch whose waits are noted, and pass at once. */
function bench() {
  let passed = 0;
  const waits: number[] = [];
  const told: SenderEvent[] = [];
  const aborting = abortAll();
  const watch = storeWatch({
    clock: { now: () => 5_000_000 - passed, monotonic: () => passed },
    observe: (event) => told.push(event),
    aborting,
    wait: async (ms) => {
      waits.push(ms);
      passed += ms;
    },
  });
  /** Work that fails so many times. */
  const failing = (times: number, error: unknown = gone) => {
    let left = times;
    return async () => {
      left -= 1;
      if (left >= 0) throw error;
      return "done";
    };
  };
  return { watch, waits, told, aborting, failing };
}

it("waits twice as long after each failure, up to 5 s, and tells of the first and of the end", async () => {
  const { watch, waits, told, failing } = bench();
  expect(watch.pauseMs).toBe(0);
  expect(await watch.untilDone(failing(9), 1_000_000)).toEqual({ value: "done", wasRepeated: true });
  expect(waits).toEqual([100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000, 5_000]);
  expect(told).toEqual([
    { type: "store-changed", available: false, code: "OUTBOX_UNAVAILABLE", cause: gone },
    { type: "store-changed", available: true },
  ]);
  expect(watch.pauseMs).toBe(0);
  expect(await watch.untilDone(failing(0), 1_000_000)).toEqual({ value: "done", wasRepeated: false });
  expect(told).toHaveLength(2);
});

it("gives up before the time is over, and at once when everything is aborted", async () => {
  const { watch, waits, aborting, failing } = bench();
  expect(await watch.untilDone(failing(9), 700)).toBeUndefined(); // 100 + 200 have passed, and 400 more would be 700
  expect(waits).toEqual([100, 200]);
  expect(await watch.untilDone(failing(0), 0)).toEqual({ value: "done", wasRepeated: false });
  expect(await watch.untilDone(failing(1), 401)).toEqual({ value: "done", wasRepeated: true });
  aborting.abort();
  waits.length = 0;
  expect(await watch.untilDone(failing(1), 1_000_000)).toBeUndefined();
  expect(waits).toEqual([]);
});

it("throws on what failed once, and has a code for what has none", async () => {
  const { watch, told, failing } = bench();
  const strange = new Error("what?");
  await expect(watch.once(failing(1, strange))).rejects.toBe(strange);
  expect(told).toEqual([
    { type: "store-changed", available: false, code: "OUTBOX_UNAVAILABLE", cause: strange },
  ]);
  expect(watch.pauseMs).toBe(100);
  const newer = new HookproofError("OUTBOX_NEWER", "newer");
  const other = bench();
  await other.watch.once(other.failing(1, newer)).catch(() => {});
  expect(other.told).toMatchObject([{ code: "OUTBOX_NEWER", cause: newer }]);
});
