import { memoryStore } from "hookproof/outbox";
import { fixedClock, outboxStoreContract } from "hookproof/testing";
import { describe, expect, it } from "vitest";
import { storedEvent } from "../sqlite/files.js";

const ATTEMPT = { number: 1, startedAt: 0, durationMs: 1, status: 413 } as const;
const REFUSED = { reason: "refused", code: "REQUEST_REFUSED", attempt: ATTEMPT, blocksKey: true } as const;
const WEEK_MS = 604_800_000;

describe("memoryStore", () => {
  for (const { name, run } of outboxStoreContract) {
    it(name, async () => {
      const clock = fixedClock("2026-01-01T00:00:00Z");
      const store = memoryStore({ clock });
      await run({ open: () => store, passTime: (ms) => clock.advance(ms) });
    });
  }

  const bench = () => {
    const clock = fixedClock("2026-01-01T00:00:00Z");
    const store = memoryStore({ clock });
    const claim = (limit = 5_000) =>
      store.claim({ limit, leaseMs: 1_000, listeners: new Map([["a", { most: limit, windowMs: WEEK_MS }]]) });
    return { clock, store, claim };
  };

  it("takes part in no transaction, and says so", () => {
    const { store } = bench();
    const enqueue = store.enqueue as (events: readonly [], tx: unknown) => void;
    expect(() => enqueue([], {})).toThrow(TypeError);
    expect(enqueue([], undefined)).toBeUndefined();
  });

  it.each([10, 5_000])("claims two events of %i by looking at two", async (waiting) => {
    const { store } = bench();
    await store.enqueue(Array.from({ length: waiting }, () => storedEvent("a")));
    let looks = 0;
    const share = {
      most: 2,
      get windowMs() {
        looks += 1;
        return WEEK_MS;
      },
    };
    const claimed = await store.claim({ limit: 10, leaseMs: 1_000, listeners: new Map([["a", share]]) });
    expect([claimed.length, looks]).toEqual([2, 2]);
  });

  it("gives the first event of a key once the lease of one behind it has expired", async () => {
    const { store, claim, clock } = bench();
    const [first, second] = [storedEvent("a", { orderingKey: "k" }), storedEvent("a", { orderingKey: "k" })];
    await store.enqueue([first, second]);
    const [held] = await claim();
    if (held) await store.fail(held.lease, { ...REFUSED, blocksKey: false });
    expect((await claim()).map(({ event }) => event.id)).toEqual([second.id]);
    await store.redrive({}, WEEK_MS, { place: "kept" });
    expect(await claim()).toEqual([]);
    clock.advance(1_000);
    expect((await claim()).map(({ event }) => event.id)).toEqual([first.id]);
  });

  it("keeps its own copy of the bytes", async () => {
    const { store, claim } = bench();
    const event = storedEvent("a");
    const before = [...event.body];
    await store.enqueue([event]);
    event.body.fill(0);
    expect([...((await claim())[0]?.event.body ?? [])]).toEqual(before);
  });

  it("tells who listens of whatever may bring work, and no longer when they stop", async () => {
    const { clock, store, claim } = bench();
    let told = 0;
    const stop = store.onWork?.(() => {
      told += 1;
    });
    const wakes = async (work: () => unknown) => {
      const before = told;
      await work();
      return told > before;
    };
    const keyed = () => storedEvent("a", { orderingKey: "k" });
    expect(await wakes(() => store.enqueue([keyed(), keyed(), keyed()]))).toBe(true);
    expect(await wakes(() => store.enqueue([]))).toBe(false);
    const lease = async () => {
      const [one] = await claim();
      return one?.lease ?? expect.fail("nothing was claimed");
    };
    const first = await lease();
    expect(await wakes(() => store.release([first]))).toBe(true);
    expect(await wakes(() => store.markDelivered([]))).toBe(false);
    const again = await lease();
    expect(await wakes(() => store.fail(again, REFUSED))).toBe(true);
    expect(await wakes(() => store.redrive({}, WEEK_MS, { dryRun: true }))).toBe(false);
    expect(await wakes(() => store.redrive({}, WEEK_MS))).toBe(true);
    expect(await wakes(() => store.redrive({}, WEEK_MS))).toBe(false);
    const delivered = await lease();
    const done = { lease: delivered, outcome: "delivered", attempt: ATTEMPT } as const;
    expect(await wakes(() => store.markDelivered([done]))).toBe(true);
    expect(await wakes(() => store.markDelivered([done]))).toBe(false);
    const third = await lease();
    await store.fail(third, REFUSED);
    expect(await wakes(() => store.drop({}, { dryRun: true }))).toBe(false);
    expect(await wakes(() => store.drop({}))).toBe(true);
    expect(await wakes(() => store.drop({}))).toBe(false);
    const windows = new Map([["a", { windowMs: 1_000, blocksKey: true }]]);
    expect(await wakes(() => store.expire(windows))).toBe(false);
    await store.reschedule(await lease(), clock.now(), ATTEMPT);
    clock.advance(10_000);
    expect(await wakes(() => store.expire(windows))).toBe(true);
    clock.advance(1);
    expect(await wakes(() => store.prune({ delivered: 0, dead: 0 }))).toBe(false);
    expect(await wakes(() => store.prune({ delivered: 0, dead: clock.now() }))).toBe(true);
    stop?.();
    expect(await wakes(() => store.enqueue([keyed()]))).toBe(false);
  });

  it("ends a thousand events a call, of those that have waited longest", async () => {
    const { clock, store, claim } = bench();
    const events = Array.from({ length: 1_500 }, () => storedEvent("a"));
    await store.enqueue(events);
    for (const { lease, now } of await claim()) await store.reschedule(lease, now, ATTEMPT);
    clock.advance(60_000);
    const windows = new Map([["a", { windowMs: 1_000, blocksKey: false }]]);
    expect(await store.expire(windows)).toHaveLength(1_000);
    expect(await store.expire(windows)).toHaveLength(500);
    expect(await store.expire(windows)).toEqual([]);
    clock.advance(1);
    const before = { delivered: 0, dead: clock.now() };
    expect([await store.prune(before), await store.prune(before), await store.prune(before)]).toEqual([
      1_000, 500, 0,
    ]);
  });

  it("goes by the millisecond: leases, windows, deaths", async () => {
    const { clock, store, claim } = bench();
    await store.enqueue([storedEvent("a")]);
    const [one] = await claim();
    if (!one) throw new Error("nothing was claimed");
    clock.advance(999);
    expect(await claim()).toEqual([]);
    expect((await store.find(one.lease.id))[0]).toMatchObject({ state: "in-flight" });
    clock.advance(1);
    expect((await store.find(one.lease.id))[0]).toMatchObject({ state: "pending", dueAt: clock.now() });
    const windows = new Map([["a", { windowMs: 1_000, blocksKey: false }]]);
    expect(await store.expire(windows)).toEqual([]);
    clock.advance(1);
    expect(await store.expire(windows)).toHaveLength(1);
    const before = clock.now();
    const count = async (time: number) => {
      let found = 0;
      for await (const _ of store.deadLetters({ before: time })) found += 1;
      return found;
    };
    expect([await count(before), await count(before + 1)]).toEqual([0, 1]);
    expect(await store.prune({ delivered: before + 1, dead: before })).toBe(0);
    expect(await store.prune({ delivered: 0, dead: before + 1 })).toBe(1);
  });

  it("shows dead letters by their deaths, and not by their enqueueing", async () => {
    const { clock, store, claim } = bench();
    const events = ["1", "2", "3", "4"].map(() => storedEvent("a"));
    await store.enqueue(events);
    const claimed = await claim();
    for (const index of [2, 0, 3, 1]) {
      const lease = claimed[index]?.lease ?? expect.fail("nothing was claimed");
      await store.fail(lease, REFUSED);
      if (index !== 3) clock.advance(1);
    }
    const ids: string[] = [];
    for await (const { event } of store.deadLetters()) ids.push(event.id);
    expect(ids).toEqual([2, 0, 1, 3].map((index) => events[index]?.id)); // the last two at one moment
  });
});
