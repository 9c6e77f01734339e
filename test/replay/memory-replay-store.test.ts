import { memoryReplayStore, type ReplayStore, type Reservation } from "hookproof/receiver";
import { fixedClock, replayStoreContract } from "hookproof/testing";
import { describe, expect, it } from "vitest";

const DAY_MS = 86_400_000;
const START = "2026-01-01T00:00:00Z";

async function reserve(store: ReplayStore, id: string): Promise<Reservation> {
  const reserved = await store.reserve("lst", id);
  if (reserved.state !== "reserved") throw new Error(`${id} is ${reserved.state}`);
  return reserved.reservation;
}

async function stateOf(store: ReplayStore, id: string): Promise<string> {
  return (await store.reserve("lst", id)).state;
}

describe("memoryReplayStore keeps the contract:", () => {
  for (const { name, run } of replayStoreContract) {
    it(name, async () => {
      const clock = fixedClock(START);
      const store = memoryReplayStore({ clock });
      await run({ open: () => store, passTime: (ms) => clock.advance(ms) });
    });
  }
});

describe("a processed id", () => {
  it("is remembered for 7 days from its commit, and not a millisecond longer", async () => {
    const clock = fixedClock(START);
    const store = memoryReplayStore({ clock });
    const reservation = await reserve(store, "a");
    clock.advance(30_000);
    await store.commit(reservation);
    clock.advance(7 * DAY_MS - 1);
    expect(await stateOf(store, "a")).toBe("processed");
    clock.advance(1);
    expect(await stateOf(store, "a")).toBe("reserved");
  });

  it("is forgotten in its turn: expiry takes the old and leaves the young", async () => {
    const clock = fixedClock(START);
    const store = memoryReplayStore({ clock });
    for (const id of ["a", "b", "c"]) {
      await store.commit(await reserve(store, id));
      clock.advance(DAY_MS);
    }
    clock.advance(5 * DAY_MS - 1);
    expect([await stateOf(store, "b"), await stateOf(store, "c")]).toEqual(["processed", "processed"]);
    expect(await stateOf(store, "a")).toBe("reserved");
  });

  it("is not freed by a clock that goes back", async () => {
    const clock = fixedClock(START);
    const store = memoryReplayStore({ clock });
    await store.commit(await reserve(store, "a"));
    clock.advance(-30 * DAY_MS);
    expect(await stateOf(store, "a")).toBe("processed");
  });

  it("is kept by a clock that is set while it measures time besides", async () => {
    const now = fixedClock(START);
    const passed = fixedClock(START);
    const store = memoryReplayStore({ clock: { now: () => now.now(), monotonic: () => passed.now() } });
    await store.commit(await reserve(store, "a"));
    now.advance(30 * DAY_MS);
    expect(await stateOf(store, "a")).toBe("processed");
    now.advance(-60 * DAY_MS);
    passed.advance(7 * DAY_MS);
    expect(await stateOf(store, "a")).toBe("reserved");
  });
});

it("remembers what a list of all ids remembers, as they come and go by the thousand", async () => {
  const clock = fixedClock(START);
  const store = memoryReplayStore({ clock, maxIds: 40_000 });
  const expiries: number[] = [];
  const isKept = (id: number) => (expiries[id] ?? 0) > clock.now() && id >= expiries.length - 40_000;
  for (const [count, everyMs] of [
    [30_000, 20_000],
    [30_000, 2_000],
    [100, DAY_MS / 4],
    [5_000, 0],
  ] as const) {
    for (let i = 0; i < count; i++) {
      await store.commit(await reserve(store, String(expiries.length)));
      expiries.push(clock.now() + 7 * DAY_MS);
      clock.advance(everyMs);
    }
    const wrong: number[] = [];
    for (const id of expiries.keys()) {
      const answer = await store.reserve("lst", String(id));
      if (answer.state === "reserved") await store.release(answer.reservation);
      if (answer.state !== (isKept(id) ? "processed" : "reserved")) wrong.push(id);
    }
    expect(wrong).toEqual([]);
  }
});

it("a reservation expires after reservationMs", async () => {
  const clock = fixedClock(START);
  const store = memoryReplayStore({ clock, reservationMs: 500 });
  await reserve(store, "a");
  clock.advance(499);
  expect(await stateOf(store, "a")).toBe("in-flight");
  clock.advance(1);
  expect(await stateOf(store, "a")).toBe("reserved");
});

describe("maxIds", () => {
  it("forgets the oldest id only", async () => {
    const store = memoryReplayStore({ clock: fixedClock(START), maxIds: 2 });
    for (const id of ["a", "b", "c"]) await store.commit(await reserve(store, id));
    expect([await stateOf(store, "b"), await stateOf(store, "c")]).toEqual(["processed", "processed"]);
    expect(await stateOf(store, "a")).toBe("reserved");
  });

  it("uses the room that expiry makes before it forgets anything", async () => {
    const clock = fixedClock(START);
    const store = memoryReplayStore({ clock, maxIds: 2 });
    await store.commit(await reserve(store, "a"));
    clock.advance(DAY_MS);
    await store.commit(await reserve(store, "b"));
    clock.advance(6 * DAY_MS);
    await store.commit(await reserve(store, "c"));
    expect([await stateOf(store, "b"), await stateOf(store, "c")]).toEqual(["processed", "processed"]);
  });
});

it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, "5"])("%j is a RangeError", (number) => {
  expect(() => memoryReplayStore({ maxIds: number as number })).toThrow(RangeError);
  expect(() => memoryReplayStore({ reservationMs: number as number })).toThrow(RangeError);
});
