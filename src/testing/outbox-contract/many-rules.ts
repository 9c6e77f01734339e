// Rules of many listeners and limits that all workers share.

import type { ClaimShare, OutboxStore } from "../../outbox/outbox-store.js";
import type { Rate } from "../../outbox/rate.js";
import { expectSame } from "../contract-case.js";
import { attemptRecord, event, LEASE_MS, LISTENER, rule, type Trial, texts, WINDOW_MS } from "./subject.js";

const HOUR_MS = 60 * 60_000;

const named = (count: number) => Array.from({ length: count }, (_, n) => `listener ${n}`);

/** All that a store says is due, page by page, by name. */
async function allDue(store: OutboxStore, max = 100): Promise<string[]> {
  const names: string[] = [];
  let next: string | undefined;
  do {
    const page = await store.due(next, max);
    names.push(...page.listeners.map(({ listener }) => listener));
    next = page.next;
  } while (next !== undefined);
  return names.sort();
}

/** A claim of `LISTENER` under limits that hold over all workers. */
const takeWithin = (store: OutboxStore, limits: Pick<ClaimShare, "concurrency" | "rate">, limit = 100) =>
  store.claim({
    limit,
    leaseMs: LEASE_MS,
    listeners: new Map([[LISTENER, { most: limit, windowMs: WINDOW_MS, ...limits }]]),
  });

const putMany = ({ store }: Trial, count: number) =>
  store.enqueue(Array.from({ length: count }, (_, n) => event(String(n))));

/** Which listeners have due events, and the limits that hold over all workers. */
export const manyRules = [
  rule("due names the listeners with due events, each once, in pages of any size", async (trial) => {
    const { put, store } = trial;
    expectSame("of nothing", await allDue(store), []);
    const names = named(7);
    for (const listener of names) await put(event("one", { listener }), event("two", { listener }));
    await put(event("later", { listener: "later", deliverAt: (await store.now()) + HOUR_MS }));
    for (const max of [1, 3, 7, 100]) expectSame(`by ${max}`, await allDue(store, max), names);
    await trial.take(2, [names[0] ?? ""]);
    expectSame("without the claimed ones", await allDue(store), names.slice(1));
    await trial.subject.passTime(HOUR_MS + 1_000);
    expectSame("in an hour", await allDue(store), ["later", ...names].sort());
  }),
  rule("due names a listener whose events have ordering keys", async ({ put, takeOne, deliver, store }) => {
    await put(event("one", { orderingKey: "k" }), event("two", { orderingKey: "k" }));
    expectSame("due", await allDue(store), [LISTENER]);
    const { lease } = await takeOne();
    await deliver(lease);
    expectSame("due after the first", await allDue(store), [LISTENER]);
  }),
  rule("due leaves out listeners that are paused or rest", async ({ put, store }) => {
    const [paused = "", resting = "", open = ""] = named(3);
    for (const listener of [paused, resting, open]) await put(event("one", { listener }));
    await store.pause(paused);
    await store.rest(resting, HOUR_MS);
    expectSame("due", await allDue(store), [open]);
    await store.resume(paused);
    expectSame("due then", await allDue(store), [paused, open].sort());
  }),
  rule(
    "an unknown listener is named again after a pause, which grows, until it has changed",
    async (trial) => {
      const { put, take, store, subject } = trial;
      const [gone = "", open = ""] = named(2);
      await put(event("one", { listener: gone }), event("two", { listener: gone, orderingKey: "k" }));
      await put(event("one", { listener: open }));
      expectSame("due at first", await allDue(store), [gone, open].sort());
      await store.unknown([gone, gone]);
      const isUnknown = async () => {
        const found: boolean[] = [];
        let next: string | undefined;
        do {
          const page = await (await subject.open()).due(next, 10);
          found.push(
            ...page.listeners.filter((one) => one.listener === gone).map((one) => one.isUnknown === true),
          );
          next = page.next;
        } while (next !== undefined);
        return found;
      };
      while ((await isUnknown()).length > 0); // what was due is put aside, some at each look
      expectSame("due then", await allDue(store), [open]);
      const since = (await store.stats()).find(({ listener }) => listener === gone)?.unknownSince ?? 0;
      expectSame("it is known since when", Math.abs((await store.now()) - since) < 60_000, true);
      await put(event("three", { listener: gone }));
      expectSame("due with one more", await allDue(store), [open]);
      await subject.passTime(HOUR_MS);
      expectSame("named after the pause, in every process", await isUnknown(), [true]);
      await store.unknown([gone]);
      expectSame("named after it was still unknown", await isUnknown(), []);
      await subject.passTime(HOUR_MS / 2);
      expectSame("named before the pause has ended that is as long as it was unknown", await isUnknown(), []);
      await store.changed(gone);
      expectSame("due after the change", await allDue(store), [gone, open].sort());
      expectSame("claimed", texts(await take(10, [gone])).sort(), ["one", "three", "two"]);
      const after = (await store.stats()).find(({ listener }) => listener === gone);
      expectSame("whether it is unknown", after?.unknownSince, undefined);
    },
  ),
  rule(
    "an event of a listener that was unknown for its whole window becomes a dead letter",
    async (trial) => {
      const { put, store, subject, deadLetters } = trial;
      const [gone = "", late = ""] = named(2);
      const windows = new Map([gone, late].map((name) => [name, { windowMs: WINDOW_MS, blocksKey: false }]));
      await put(event("one", { listener: gone }), event("two", { listener: gone, orderingKey: "k" }));
      await put(event("one", { listener: late }));
      await store.unknown([gone]);
      await allDue(store);
      await subject.passTime(WINDOW_MS / 2);
      await put(event("three", { listener: gone }));
      await store.unknown([late]);
      await allDue(store);
      await subject.passTime(WINDOW_MS / 2 + 10_000);
      const expired: string[] = [];
      for (let more = 1; more > 0; ) {
        const some = await store.expire(windows);
        expired.push(...some.map(({ listener }) => listener));
        more = some.length;
      }
      expectSame("expired", expired, [gone, gone]);
      const letters = await deadLetters();
      expectSame("the dead letters", texts(letters).sort(), ["one", "two"]);
      expectSame(
        "why",
        new Set(letters.map(({ code }) => code)).size === 1 && letters[0]?.code,
        "WINDOW_CLOSED",
      );
    },
  ),
  rule("an unknown listener that is paused as well comes back when both have ended", async (trial) => {
    const { put, store } = trial;
    for (const first of ["pause", "unknown"]) {
      const listener = `first ${first}`;
      await put(event("one", { listener }));
      await store.pause(listener);
      await store.unknown([listener]);
      await allDue(store);
      if (first === "pause") await store.resume(listener);
      else await store.changed(listener);
      expectSame(`due after one, ${first}`, (await allDue(store)).includes(listener), false);
      if (first === "pause") await store.changed(listener);
      else await store.resume(listener);
      expectSame(`due after both, ${first}`, (await allDue(store)).includes(listener), true);
    }
  }),
  rule("due says in every process when a listener changed", async ({ put, store, subject }) => {
    const [changed = "", other = ""] = named(2);
    for (const listener of [changed, other]) await put(event("one", { listener }));
    const before = await store.now();
    await store.changed(changed);
    const elsewhere = await subject.open();
    const found = (await elsewhere.due(undefined, 10))?.listeners ?? [];
    const at = (name: string) => found.find(({ listener }) => listener === name)?.changedAt ?? 0;
    expectSame("the time", at(changed) >= before - 1_000 && at(changed) <= before + HOUR_MS, true);
    expectSame("of another", at(other), 0);
  }),
  rule("each change of a listener counts, also where the clock stands still", async (trial) => {
    const { store } = trial;
    await trial.put(event("one"));
    const seen: number[] = [];
    for (let n = 0; n < 5; n++) {
      await store.changed(LISTENER);
      const { listeners } = await store.due(undefined, 10);
      seen.push(listeners[0]?.changedAt ?? 0);
    }
    expectSame(
      "growing",
      seen,
      [...new Set(seen)].sort((a, b) => a - b),
    );
  }),
  rule("a pause holds events that a look went over, and a resume brings them back", async (trial) => {
    const { put, take, store, takeOne, deliver } = trial;
    await put(event("1"), event("2", { orderingKey: "k" }), event("3", { orderingKey: "k" }));
    await store.pause(LISTENER);
    expectSame("due", await allDue(store), []);
    await put(event("4"), event("5", { orderingKey: "k" }));
    expectSame("due again", await allDue(store), []);
    expectSame("claimed", (await take()).length, 0);
    expectSame("listed", (await store.pending({}, 10)).length, 5);
    expectSame(
      "pending",
      (await store.stats()).map(({ pending }) => pending),
      [5],
    );
    await store.resume(LISTENER);
    expectSame("due then", await allDue(store), [LISTENER]);
    const claimed = await take();
    expectSame("claimed then", texts(claimed).sort(), ["1", "2", "4"]);
    for (const { lease } of claimed) await deliver(lease);
    const next = await takeOne();
    expectSame("the next of the key", texts([next]), ["3"]);
    await deliver(next.lease);
    expectSame("the last of the key", texts([await takeOne()]), ["5"]);
  }),
  rule("what a pause holds can be cancelled, and expires", async (trial) => {
    const { put, store, subject, takeOne } = trial;
    const gone = event("gone");
    await put(event("tried"));
    const { lease } = await takeOne();
    await store.reschedule(lease, (await store.now()) + 1, attemptRecord(1));
    await put(gone, event("keyed", { orderingKey: "k" }), event("all"));
    await subject.passTime(1_000);
    await store.pause(LISTENER);
    await allDue(store);
    expectSame("one", await store.cancel({ ids: [gone.id] }), { cancelled: 1, tooLate: 0 });
    expectSame("all", await store.cancel({ listener: LISTENER }), { cancelled: 2, tooLate: 1 });
    await subject.passTime(WINDOW_MS + 1_000);
    const windows = new Map([[LISTENER, { windowMs: WINDOW_MS, blocksKey: false }]]);
    expectSame("expired", (await store.expire(windows)).length, 1);
  }),
  rule("a listener's concurrency holds over all workers", async (trial) => {
    const { store, subject, deliver } = trial;
    await putMany(trial, 20);
    const workers = [store, await subject.open(), await subject.open()];
    const claims = await Promise.all(workers.map((one) => takeWithin(one, { concurrency: 4 })));
    const claimed = claims.flat();
    expectSame("claimed by all", claimed.length, 4);
    expectSame("more", (await takeWithin(store, { concurrency: 4 })).length, 0);
    const [first, second] = claimed;
    if (first) await deliver(first.lease);
    if (second) await store.reschedule(second.lease, (await store.now()) + HOUR_MS, attemptRecord(1));
    expectSame("after two have ended", (await takeWithin(workers[1] ?? store, { concurrency: 4 })).length, 2);
    await subject.passTime(LEASE_MS + 1_000);
    expectSame("after the leases", (await takeWithin(store, { concurrency: 4 })).length, 4);
  }),
  rule("a listener's rate holds over all workers", async (trial) => {
    const { store, subject } = trial;
    await putMany(trial, 60);
    const rate: Rate = { perSecond: 2, burst: 10 };
    const workers = [store, await subject.open(), await subject.open()];
    const claims = await Promise.all(workers.map((one) => takeWithin(one, { rate })));
    expectSame("a burst", claims.flat().length >= 10 && claims.flat().length <= 11, true);
    let taken = (await takeWithin(store, { rate })).length;
    await subject.passTime(4_000);
    for (const one of workers) taken += (await takeWithin(one, { rate })).length;
    expectSame("in four seconds", taken >= 7 && taken <= 10, true);
    await subject.passTime(60_000);
    expectSame("after a minute", (await takeWithin(store, { rate })).length, 10);
    expectSame("without the rate", (await takeWithin(store, {}, 5)).length, 5);
  }),
  // Rates so slow that no machine's delay gives another token.
  rule("a rate of which one number alone is another holds from the next claim on", async (trial) => {
    const { store } = trial;
    await putMany(trial, 30);
    const slow: Rate = { perSecond: 0.01, burst: 4 };
    const taken = async (rate: Rate) => (await takeWithin(store, { rate })).length;
    expectSame("a burst", [await taken(slow), await taken(slow)], [4, 0]);
    const wider = { ...slow, burst: 6 };
    expectSame("another burst alone", [await taken(wider), await taken(wider)], [2, 0]);
    const quicker = { ...wider, perSecond: 0.05 };
    expectSame("another perSecond alone", [await taken(quicker), await taken(quicker)], [6, 0]);
    const single = { perSecond: 0.05 };
    expectSame("no burst, which is one", [await taken(single), await taken(single)], [1, 0]);
  }),
  // As after a clock that was put back: what is kept of a rate lies hours ahead of now.
  rule("a rate waits for no time further ahead than its burst and one event", async (trial) => {
    const { store } = trial;
    await putMany(trial, 20);
    const slow: Rate = { perSecond: 2 / 3_600, burst: 4 };
    expectSame("a burst", (await takeWithin(store, { rate: slow })).length, 4);
    expectSame("two hours ahead", (await takeWithin(store, { rate: slow })).length, 0);
    const quick: Rate = { perSecond: 0.1, burst: 3 };
    expectSame("counts as now", (await takeWithin(store, { rate: quick })).length, 3);
    expectSame("and as used", (await takeWithin(store, { rate: quick })).length, 0);
  }),
  rule(
    "an event of several listeners has its body at each of them, whatever becomes of the others",
    async (trial) => {
      const { store, subject, take, deliver } = trial;
      const names = named(4);
      const one = event("for all");
      const fanOut = () => store.enqueue(names.map((listener) => ({ ...one, listener })));
      await fanOut();
      await fanOut();
      const [first, second, ...rest] = await take(10, names);
      expectSame("how many", rest.length, 2);
      if (!first || !second) return;
      expectSame("the body", texts([first, second]), ["for all", "for all"]);
      await deliver(first.lease);
      await store.fail(second.lease, { reason: "refused", code: "REQUEST_REFUSED", blocksKey: false });
      await store.release(rest.map(({ lease }) => lease));
      for (let hour = 0; hour < 3; hour++) {
        await subject.passTime(HOUR_MS);
        await store.prune({ delivered: 0, dead: 0 });
      }
      const later = await take(10, names);
      expectSame("the body hours later", texts(later), ["for all", "for all"]);
      for (const { lease } of later) await deliver(lease);
      expectSame("the dead letter's", texts(await trial.deadLetters()), ["for all"]);
      const { redriven } = await store.redrive({}, WINDOW_MS, { newIds: true });
      expectSame("redriven", redriven, 1);
      const [again] = await take(10, names);
      expectSame(
        "under a new id",
        [again && texts([again])[0], again?.event.id === one.id],
        ["for all", false],
      );
      await store.enqueue([{ ...one, listener: "another" }]);
      expectSame("a further listener's", texts(await take(1, ["another"])), ["for all"]);
    },
  ),
];
