import { type Activity, HookproofError } from "hookproof";
import type { Delivery } from "hookproof/outbox/store";
import { describe, expect, it } from "vitest";
import { abortedWith } from "../../src/core/aborted-with.js";
import { DeliveryBuffer, StoreCalls } from "../../src/outbox/store-calls.js";

const gone = new HookproofError("OUTBOX_UNAVAILABLE", "gone", { cause: new Error("ECONNREFUSED") });

/** Calls whose waits are noted, and pass at once. */
function callsBench() {
  let passed = 0;
  const waits: number[] = [];
  const told: Activity[] = [];
  const aborting = new AbortController();
  const calls = new StoreCalls({
    clock: { now: () => 5_000_000 - passed, monotonic: () => passed },
    notice: (event) => told.push(event),
    aborting: aborting.signal,
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
  const pass = (ms: number) => {
    passed += ms;
  };
  return { calls, waits, told, aborting, failing, pass };
}

it("waits twice as long after each failure, up to 5 s, and tells of the first and of the end", async () => {
  const { calls, waits, told, failing } = callsBench();
  expect(calls.pauseMs).toBe(0);
  expect(await calls.untilDone("claim", failing(9), 1_000_000)).toEqual({ value: "done", wasRepeated: true });
  expect(waits).toEqual([100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000, 5_000]);
  expect(told).toEqual([
    {
      type: "store-changed",
      available: false,
      code: "OUTBOX_UNAVAILABLE",
      reason: '"ECONNREFUSED"',
      cause: gone,
    },
    { type: "store-changed", available: true },
  ]);
  expect(calls.pauseMs).toBe(0);
  expect(await calls.untilDone("claim", failing(0), 1_000_000)).toEqual({
    value: "done",
    wasRepeated: false,
  });
  expect(told).toHaveLength(2);
});

it("tells again of an outage whose words change, once in 10 s at most, and of its end once nothing fails", async () => {
  const { calls, told, failing, pass } = callsBench();
  const crowded = new HookproofError("OUTBOX_UNAVAILABLE", "no", {
    cause: new Error("too many connections"),
  });
  const reasons = () => told.map((event) => "reason" in event && event.reason);
  const fails = (name: "claim" | "due", error = gone) =>
    expect(calls.once(name, failing(1, error))).rejects.toBe(error);
  await fails("claim");
  await fails("claim", crowded);
  expect(reasons()).toEqual(['"ECONNREFUSED"']);
  for (let time = 0; time < 60_000; time += 100) {
    pass(100);
    await fails("claim", crowded);
  }
  expect(reasons()).toEqual(['"ECONNREFUSED"', '"too many connections"']);
  for (let time = 0; time < 60_000; time += 100) {
    pass(100);
    await fails("claim", time % 200 === 0 ? gone : crowded);
    await calls.once("due", failing(0));
  }
  expect(reasons()).toHaveLength(8);
  expect(calls.pauseMs).toBe(5_000);
  await calls.once("claim", failing(0));
  expect([told.at(-1), told.length, calls.pauseMs]).toEqual([
    { type: "store-changed", available: true },
    9,
    0,
  ]);
});

it("an outage is over too when what failed is not asked for any more", async () => {
  const { calls, told, failing, pass } = callsBench();
  await calls.once("unknown", failing(1)).catch(() => {});
  await calls.once("claim", failing(0));
  expect(told).toMatchObject([{ available: false }]);
  pass(30_001);
  await calls.once("claim", failing(0));
  expect(told).toMatchObject([{ available: false }, { available: true }]);
});

it("a call that fails and succeeds in turns is told of once in 10 s", async () => {
  const { calls, told, failing, pass } = callsBench();
  for (let time = 0; time < 60_000; time += 100) {
    await calls.once("reschedule", failing(1)).catch(() => {});
    await calls.once("reschedule", failing(0));
    pass(100);
  }
  expect(told).toHaveLength(12);
});

it("gives up before the time is over, and at once when everything is aborted", async () => {
  const { calls, waits, aborting, failing } = callsBench();
  expect(await calls.untilDone("claim", failing(9), 700)).toBeUndefined(); // 100 + 200 have passed, and 400 more would be 700
  expect(waits).toEqual([100, 200]);
  expect(await calls.untilDone("claim", failing(0), 0)).toEqual({ value: "done", wasRepeated: false });
  expect(await calls.untilDone("claim", failing(1), 401)).toEqual({ value: "done", wasRepeated: true });
  aborting.abort();
  waits.length = 0;
  expect(await calls.untilDone("claim", failing(1), 1_000_000)).toBeUndefined();
  expect(waits).toEqual([]);
});

it.each([
  ["a refusal of data in a call that has none to leave out", gone.cause, { code: "22012" }, '"ECONNREFUSED"'],
  ["an error without a message", new AggregateError([]), { code: "ECONNREFUSED" }, '"ECONNREFUSED"'],
  ["an error with nothing at all", new AggregateError([]), {}, '"AggregateError"'],
])("tells of the outage in the driver's words, and waits: %s", async (_, error, members, reason) => {
  const { calls, waits, told, failing } = callsBench();
  const cause = Object.assign(error as Error, members);
  const failed = new HookproofError("OUTBOX_UNAVAILABLE", "no", { cause });
  await calls.untilDone("claim", failing(2, failed), 1_000_000);
  expect(waits).toEqual([100, 200]);
  expect(told).toMatchObject([{ available: false, reason }, { available: true }]);
});

it("throws on what failed once, and has a code for what has none", async () => {
  const { calls, told, failing } = callsBench();
  const strange = new Error("what?");
  await expect(calls.once("claim", failing(1, strange))).rejects.toBe(strange);
  expect(told).toEqual([
    {
      type: "store-changed",
      available: false,
      code: "OUTBOX_UNAVAILABLE",
      reason: '"what?"',
      cause: strange,
    },
  ]);
  expect(calls.pauseMs).toBe(100);
  const newer = new HookproofError("OUTBOX_NEWER", "newer");
  const other = callsBench();
  await other.calls.once("claim", other.failing(1, newer)).catch(() => {});
  expect(other.told).toMatchObject([{ code: "OUTBOX_NEWER", cause: newer }]);
});

const delivery = (id: string): Delivery => ({
  lease: { listener: "a", id, token: id, expiresAt: 0 },
  outcome: "delivered",
  attempt: { number: 1, startedAt: 0, durationMs: 1, status: 200 },
});

const lostConnection = () => new HookproofError("OUTBOX_UNAVAILABLE", "gone");

function bufferBench(
  markDelivered: (ids: string[], batch: readonly Delivery[]) => number | Promise<number>,
  calls: Pick<StoreCalls, "once"> = { once: (_, call) => call() },
) {
  let time = 0;
  const lost: number[] = [];
  const stored: string[] = [];
  const refused: string[] = [];
  const buffer = new DeliveryBuffer({
    store: {
      markDelivered: async (batch) =>
        markDelivered(
          batch.map(({ lease }) => lease.id),
          batch,
        ),
    },
    calls,
    now: () => time,
    onLost: (count) => lost.push(count),
    onRefused: (eventId) => refused.push(eventId),
  });
  const add = (id: string, until = 1_000) => buffer.add(delivery(id), until, () => stored.push(id));
  const setTime = (to: number) => {
    time = to;
  };
  return { buffer, add, lost, stored, refused, setTime };
}

describe("the buffer of deliveries", () => {
  it("are stored together, and told when they are", async () => {
    const batches: string[][] = [];
    const { buffer, add, lost, stored } = bufferBench((ids) => batches.push(ids) + ids.length - 1);
    await buffer.flush();
    expect(batches).toEqual([]);
    add("1");
    add("2");
    expect(buffer.size).toBe(2);
    expect(stored).toEqual([]);
    await buffer.flush();
    expect([batches, stored, lost, buffer.size]).toEqual([[["1", "2"]], ["1", "2"], [], 0]);
  });

  it("whose leases are lost are counted", async () => {
    const { buffer, add, lost, stored } = bufferBench((ids) => ids.length - 2);
    for (const id of ["1", "2", "3"]) add(id);
    await buffer.flush();
    expect(lost).toEqual([2]);
    expect(stored).toEqual(["1", "2", "3"]);
  });

  it.each([
    ["its answer", (one: Delivery) => one.lease.id === "5" && one.attempt.status !== undefined, []],
    ["all of it", (one: Delivery) => one.lease.id === "5", ["5"]],
  ])("are stored though the store cannot take one of them: %s", async (_, isPoison, given) => {
    const taken: Delivery[] = [];
    let asked = 0;
    const { calls, told } = callsBench();
    const { buffer, add, lost, stored, refused } = bufferBench((_, batch) => {
      asked += 1;
      const cause = Object.assign(new Error("character has no equivalent"), { code: "22P05" });
      if (batch.some(isPoison)) throw new HookproofError("OUTBOX_UNAVAILABLE", "no", { cause });
      return taken.push(...batch) && batch.length;
    }, calls);
    for (let id = 0; id < 100; id++) add(String(id));
    await buffer.flush();
    expect(taken.map(({ lease }) => lease.id).sort()).toEqual(
      Array.from({ length: 100 }, (_, id) => String(id))
        .filter((id) => !given.includes(id as never))
        .sort(),
    );
    expect([buffer.size, stored.length, lost, refused]).toEqual([0, 100, [], given]);
    expect(asked).toBeLessThan(20);
    expect([told, calls.pauseMs]).toEqual([[], 0]); // no outage: the store is there
  });

  it("are kept with what ends meanwhile, while the store is gone", async () => {
    let isGone = true;
    const seen: string[][] = [];
    const { buffer, add, lost, stored } = bufferBench(async (ids) => {
      seen.push(ids);
      if (isGone) {
        add("2");
        isGone = false;
        throw lostConnection();
      }
      return ids.length;
    });
    add("1");
    await expect(buffer.flush()).rejects.toMatchObject({ code: "OUTBOX_UNAVAILABLE" });
    expect([buffer.size, stored, lost]).toEqual([2, [], []]);
    await buffer.flush();
    expect([seen.at(-1), stored, lost]).toEqual([["1", "2"], ["1", "2"], []]);
  });

  it("count as stored when an earlier try may have stored them", async () => {
    let tries = 0;
    const { buffer, add, lost, stored } = bufferBench(() => {
      tries += 1;
      if (tries === 1) throw lostConnection();
      return 0;
    });
    add("1");
    await buffer.flush().catch(() => {});
    await buffer.flush();
    expect([stored, lost]).toEqual([["1"], []]);
  });

  it("are given up when their lease has ended, and counted as lost", async () => {
    const { buffer, add, lost, stored, setTime } = bufferBench(() => {
      throw lostConnection();
    });
    add("1", 500);
    add("2", 501);
    setTime(500);
    await buffer.flush().catch(() => {});
    expect([buffer.size, lost, stored]).toEqual([1, [1], []]);
  });
});

/** Work that goes on until its signal aborts. */
const untilAborted = (signal: AbortSignal) =>
  new Promise<string>((resolve) =>
    signal.addEventListener("abort", () => resolve("aborted"), { once: true }),
  );

it("ends everything under way, however much that is, and leaves alone what has ended", async () => {
  const group = new AbortController();
  const run = <Value>(work: (signal: AbortSignal) => Promise<Value>) => abortedWith(group.signal, work);
  const ended = await run(async (signal) => signal);
  const works = Array.from({ length: 30 }, () => run(untilAborted));
  const failed = new Promise<AbortSignal>((resolve) => {
    run((signal) => Promise.reject(resolve(signal))).catch(() => {});
  });
  group.abort();
  expect(new Set(await Promise.all(works))).toEqual(new Set(["aborted"]));
  expect(await run(async (signal) => signal.aborted)).toBe(true);
  expect(ended.aborted).toBe(false);
  expect((await failed).aborted).toBe(true); // it was still under way when everything was aborted
});

it("hands each piece of work a signal of its own, so that Node takes none for a leak", async () => {
  const group = new AbortController();
  const run = <Value>(work: (signal: AbortSignal) => Promise<Value>) => abortedWith(group.signal, work);
  const given = await Promise.all(Array.from({ length: 50 }, () => run(async (signal) => signal)));
  expect(new Set(given).size).toBe(50);
});
