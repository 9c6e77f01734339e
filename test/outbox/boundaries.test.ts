import { memoryStore } from "hookproof/outbox";
import { sqliteStore } from "hookproof/outbox/sqlite";
import type { OutboxStore } from "hookproof/outbox/store";
import { type FixedClock, fixedClock } from "hookproof/testing";
import { expect, it } from "vitest";
import { newOutboxFile, SQLITE_DRIVERS, storedEvent } from "./sqlite/files.js";

const ATTEMPT = { number: 1, startedAt: 1_767_225_600_000, durationMs: 3, status: 503 };
const LEASE_MS = 1_000;
const WINDOW_MS = 60_000;

/** To the millisecond, which only stores can show whose clock a test holds. */
const engines: Record<string, (clock: FixedClock) => { store: OutboxStore; remove?(): void }> = {
  memoryStore: (clock) => ({ store: memoryStore({ clock }) }),
  sqliteStore(clock) {
    const [openFile] = Object.values(SQLITE_DRIVERS);
    const place = newOutboxFile();
    if (!openFile) throw new Error("there is no driver");
    return { store: sqliteStore({ open: () => openFile(place.file), clock }), remove: place.remove };
  },
};

for (const [name, open] of Object.entries(engines)) {
  const on = (title: string, check: (store: OutboxStore, clock: FixedClock) => Promise<void>) =>
    it(`${name}: ${title}`, async () => {
      const clock = fixedClock("2026-01-01T00:00:00Z");
      const { store, remove } = open(clock);
      try {
        await check(store, clock);
      } finally {
        await store.close();
        remove?.();
      }
    });
  const take = async (store: OutboxStore) =>
    store.claim({
      limit: 10,
      leaseMs: LEASE_MS,
      listeners: new Map([["lst_1", { most: 10, windowMs: WINDOW_MS }]]),
    });
  const takeOne = async (store: OutboxStore) => {
    const [one] = await take(store);
    if (!one) throw new Error("nothing was claimed");
    return one;
  };
  const makeDead = async (store: OutboxStore) =>
    store.fail((await takeOne(store)).lease, {
      reason: "refused",
      code: "REQUEST_REFUSED",
      attempt: ATTEMPT,
      blocksKey: false,
    });
  const windows = new Map([["lst_1", { windowMs: WINDOW_MS, blocksKey: false }]]);

  on("a lease holds until its last millisecond, and the event is due with its end", async (store, clock) => {
    const event = storedEvent("lst_1");
    await store.enqueue([event]);
    await takeOne(store);
    clock.advance(LEASE_MS - 1);
    expect(await take(store)).toHaveLength(0);
    expect((await store.find(event.id))[0]?.state).toBe("in-flight");
    expect(await store.stats()).toMatchObject([{ pending: 0, inFlight: 1 }]);
    clock.advance(1);
    expect((await store.find(event.id))[0]?.state).toBe("pending");
    expect(await store.stats()).toMatchObject([{ pending: 1, inFlight: 0 }]);
    expect(await take(store)).toHaveLength(1);
  });

  on("a rescheduled event is due at its millisecond, and not before", async (store, clock) => {
    await store.enqueue([storedEvent("lst_1")]);
    const { lease, now } = await takeOne(store);
    await store.reschedule(lease, now + 500, ATTEMPT);
    clock.advance(499);
    expect(await take(store)).toHaveLength(0);
    clock.advance(1);
    expect(await take(store)).toHaveLength(1);
  });

  on("the window's last millisecond is inside it, for claims and for what expires", async (store, clock) => {
    await store.enqueue([storedEvent("lst_1"), storedEvent("lst_1")]);
    for (const { lease, now } of await take(store)) await store.reschedule(lease, now, ATTEMPT);
    clock.advance(WINDOW_MS);
    expect(await store.expire(windows)).toHaveLength(0);
    const [one, two] = await take(store);
    if (!one || !two) throw new Error("nothing was claimed at the end of the window");
    await store.reschedule(one.lease, one.now, ATTEMPT);
    await store.reschedule(two.lease, two.now, ATTEMPT);
    clock.advance(1);
    expect(await take(store)).toHaveLength(0);
    expect(await store.expire(windows)).toHaveLength(2);
  });

  on("the window's last millisecond is inside it, for a redrive", async (store, clock) => {
    await store.enqueue([storedEvent("lst_1")]);
    await makeDead(store);
    clock.advance(WINDOW_MS);
    const options = { dryRun: true };
    expect(await store.redrive({}, WINDOW_MS, options)).toEqual({ redriven: 1, pastWindow: 0 });
    clock.advance(1);
    expect(await store.redrive({}, WINDOW_MS, options)).toEqual({ redriven: 0, pastWindow: 1 });
  });

  on("before a time means before its millisecond", async (store, clock) => {
    await store.enqueue([storedEvent("lst_1")]);
    await makeDead(store);
    await store.enqueue([storedEvent("lst_1")]);
    const { lease } = await takeOne(store);
    await store.markDelivered([{ lease, outcome: "delivered", attempt: ATTEMPT }]);
    const now = clock.now();
    const drop = (before: number) => store.drop({ before }, { dryRun: true });
    expect([await drop(now), await drop(now + 1)]).toEqual([0, 1]);
    expect(await store.prune({ delivered: now, dead: now })).toBe(0);
    expect(await store.prune({ delivered: now + 1, dead: now })).toBe(1);
    expect(await store.prune({ delivered: now + 1, dead: now + 1 })).toBe(1);
  });

  on("a redriven event that is delivered is no dead letter in any list", async (store, clock) => {
    const event = storedEvent("lst_1");
    await store.enqueue([event]);
    await makeDead(store);
    clock.advance(10);
    await store.redrive({}, WINDOW_MS);
    expect((await store.find(event.id))[0]).toMatchObject({ state: "pending", dueAt: clock.now() });
    const { lease } = await takeOne(store);
    await store.markDelivered([{ lease, outcome: "delivered", attempt: ATTEMPT }]);
    for await (const letter of store.deadLetters()) expect(letter).toBeUndefined();
    expect(await store.stats()).toMatchObject([{ pending: 0, delivered: 1, dead: 0 }]);
    expect(await store.prune({ delivered: clock.now(), dead: clock.now() + 1 })).toBe(0);
  });
}
