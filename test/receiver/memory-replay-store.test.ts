import { memoryReplayStore, type Reservation } from "hookproof/receiver";
import { fixedClock } from "hookproof/testing";
import { afterEach, describe, expect, it, vi } from "vitest";

const DAY_MS = 86_400_000;
const START = "2026-01-01T00:00:00Z";

async function reserve(
  store: ReturnType<typeof memoryReplayStore>,
  id: string,
  listener = "lst",
): Promise<Reservation> {
  const reserved = await store.reserve(listener, id);
  if (reserved.state !== "reserved") throw new Error(`${id} is ${reserved.state}`);
  return reserved.reservation;
}

async function stateOf(
  store: ReturnType<typeof memoryReplayStore>,
  id: string,
  listener = "lst",
): Promise<string> {
  return (await store.reserve(listener, id)).state;
}

afterEach(() => vi.restoreAllMocks());

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
    const forgotten: string[] = [];
    const store = memoryReplayStore({ clock, onForget: ({ eventId }) => forgotten.push(eventId) });
    for (const id of ["a", "b", "c"]) {
      await store.commit(await reserve(store, id));
      clock.advance(DAY_MS);
    }
    clock.advance(5 * DAY_MS - 1);
    expect([await stateOf(store, "b"), await stateOf(store, "c")]).toEqual(["processed", "processed"]);
    expect(await stateOf(store, "a")).toBe("reserved");
    expect(forgotten).toEqual([]);
  });

  it.each<[string, () => unknown]>([
    [
      "throws",
      () => {
        throw new Error("the log is full");
      },
    ],
    ["rejects", async () => Promise.reject(new Error("the log is full"))],
  ])("is remembered though onForget %s", async (_how, onForget) => {
    const store = memoryReplayStore({ clock: fixedClock(START), maxIds: 1, onForget });
    await store.commit(await reserve(store, "a"));
    await store.commit(await reserve(store, "b"));
    expect([await stateOf(store, "a"), await stateOf(store, "b")]).toEqual(["reserved", "processed"]);
  });

  it("belongs to its listener", async () => {
    const store = memoryReplayStore({ clock: fixedClock(START) });
    await store.commit(await reserve(store, "a", "lst_1"));
    expect(await stateOf(store, "a", "lst_2")).toBe("reserved");
    expect(await stateOf(store, "a", "lst_1")).toBe("processed");
  });

  it("a clock that goes back does not free it", async () => {
    const clock = fixedClock(START);
    const store = memoryReplayStore({ clock });
    await store.commit(await reserve(store, "a"));
    clock.advance(-30 * DAY_MS);
    expect(await stateOf(store, "a")).toBe("processed");
  });
});

describe("maxIds", () => {
  it("forgets the oldest and says which, with its listener", async () => {
    const forgotten: unknown[] = [];
    const store = memoryReplayStore({
      clock: fixedClock(START),
      maxIds: 2,
      onForget: (id) => forgotten.push(id),
    });
    for (const id of ["a", "b", "c"]) await store.commit(await reserve(store, id));
    expect(forgotten).toEqual([{ listenerId: "lst", eventId: "a" }]);
    expect(await stateOf(store, "b")).toBe("processed");
    expect(await stateOf(store, "c")).toBe("processed");
    expect(await stateOf(store, "a")).toBe("reserved");
  });

  it("room that expiry makes is used before anything is forgotten", async () => {
    const clock = fixedClock(START);
    const onForget = vi.fn();
    const store = memoryReplayStore({ clock, maxIds: 1, onForget });
    await store.commit(await reserve(store, "a"));
    clock.advance(7 * DAY_MS);
    await store.commit(await reserve(store, "b"));
    expect(onForget).not.toHaveBeenCalled();
  });

  it("warns once when nobody is told", async () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
    const store = memoryReplayStore({ clock: fixedClock(START), maxIds: 1 });
    for (const id of ["a", "b", "c"]) await store.commit(await reserve(store, id));
    expect(warn).toHaveBeenCalledTimes(1);
    expect(String(warn.mock.calls[0])).toContain("maxIds");
  });

  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, "5"])("%j is a RangeError", (maxIds) => {
    expect(() => memoryReplayStore({ maxIds: maxIds as number })).toThrow(RangeError);
  });
});

describe("a reservation", () => {
  it("keeps others out until it is released", async () => {
    const store = memoryReplayStore({ clock: fixedClock(START) });
    const reservation = await reserve(store, "a");
    expect(await stateOf(store, "a")).toBe("in-flight");
    await store.release(reservation);
    expect(await stateOf(store, "a")).toBe("reserved");
  });

  it("of many at once exactly one succeeds", async () => {
    const store = memoryReplayStore({ clock: fixedClock(START) });
    const states = await Promise.all(Array.from({ length: 100 }, () => stateOf(store, "a")));
    expect(states.filter((state) => state === "reserved").length).toBe(1);
    expect(states.filter((state) => state === "in-flight").length).toBe(99);
  });

  it("expires after 60 s by default, and after reservationMs", async () => {
    for (const [options, ms] of [
      [{}, 60_000],
      [{ reservationMs: 500 }, 500],
    ] as const) {
      const clock = fixedClock(START);
      const store = memoryReplayStore({ clock, ...options });
      await reserve(store, "a");
      clock.advance(ms - 1);
      expect(await stateOf(store, "a")).toBe("in-flight");
      clock.advance(1);
      expect(await stateOf(store, "a")).toBe("reserved");
    }
  });

  it("that expired cannot release what another took over", async () => {
    const clock = fixedClock(START);
    const store = memoryReplayStore({ clock });
    const stale = await reserve(store, "a");
    clock.advance(60_000);
    const current = await reserve(store, "a");
    expect(current.token).not.toBe(stale.token);
    await store.release(stale);
    expect(await stateOf(store, "a")).toBe("in-flight");
    await store.commit(current);
    expect(await stateOf(store, "a")).toBe("processed");
  });

  it("released after the commit changes nothing", async () => {
    const store = memoryReplayStore({ clock: fixedClock(START) });
    const reservation = await reserve(store, "a");
    await store.commit(reservation);
    await store.release(reservation);
    expect(await stateOf(store, "a")).toBe("processed");
  });

  it("that expired and is committed after all counts as processed: its event was accepted", async () => {
    const clock = fixedClock(START);
    const store = memoryReplayStore({ clock });
    const stale = await reserve(store, "a");
    clock.advance(60_000);
    await store.commit(stale);
    expect(await stateOf(store, "a")).toBe("processed");
  });
});
