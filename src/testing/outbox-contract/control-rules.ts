// Rules of pauses, cancellations and events for later.
import type { OutboxStore } from "../../outbox/outbox-store.js";
import { expectSame } from "../contract-case.js";
import {
  attemptRecord,
  event,
  failed,
  LISTENER,
  OTHER_LISTENER,
  rule,
  type Trial,
  texts,
} from "./subject.js";

const HOUR_MS = 60 * 60_000;
const MAX = 100;

const statsOf = async (store: OutboxStore, listener = LISTENER) =>
  (await store.stats()).find((one) => one.listener === listener);

const stateOf = async ({ store }: Trial, id: string) => (await store.find(id)).map(({ state }) => state);

/** Pauses, rests, cancellations, and events for later. */
export const controlRules = [
  rule("nothing of a paused listener is claimed, by any worker, until it is resumed", async (trial) => {
    const { put, take, store, subject } = trial;
    const both = [LISTENER, OTHER_LISTENER];
    await put(event("one"), event("other", { listener: OTHER_LISTENER }), event("two"));
    await store.pause(LISTENER, "moving house");
    expectSame("claimed", texts(await take(MAX, both)), ["other"]);
    const elsewhere = await subject.open();
    expectSame("why, elsewhere", (await statsOf(elsewhere))?.paused?.reason, "moving house");
    await store.pause(LISTENER, "still moving");
    const { paused, pending } = (await statsOf(store)) ?? {};
    expectSame("why", [paused?.reason, pending], ["still moving", 2]);
    expectSame("whether it is known since when", (paused?.since ?? 0) > 0, true);
    expectSame("resume", await elsewhere.resume(LISTENER), true);
    expectSame("resume again", await store.resume(LISTENER), false);
    expectSame("claimed then", texts(await take(MAX, both)), ["one", "two"]);
    expectSame("paused", (await statsOf(store))?.paused, undefined);
  }),
  rule("a pause that keeps the reason does not replace the one of a person", async (trial) => {
    const { store, take, put } = trial;
    await store.pause(LISTENER, "410", { keepReason: true });
    expectSame("why", (await statsOf(store))?.paused?.reason, "410");
    await store.pause(LISTENER, "moving house");
    const { paused } = (await statsOf(store)) ?? {};
    await store.pause(LISTENER, "410", { keepReason: true });
    expectSame("why then", (await statsOf(store))?.paused, paused);
    await store.pause(OTHER_LISTENER);
    await store.pause(OTHER_LISTENER, "410", { keepReason: true });
    expectSame("why the other", (await statsOf(store, OTHER_LISTENER))?.paused?.reason, undefined);
    await store.resume(LISTENER);
    await put(event("one"));
    expectSame("claimed then", texts(await take(MAX)), ["one"]);
  }),
  rule("a pause needs no event and no reason, and outlives the store", async ({ store, subject, put }) => {
    await store.pause(OTHER_LISTENER);
    const again = await subject.open();
    const stats = await statsOf(again, OTHER_LISTENER);
    expectSame("its counts", [stats?.pending, stats?.oldestAgeMs], [0, 0]);
    expectSame("its reason", [stats?.paused?.reason, typeof stats?.paused?.since], [undefined, "number"]);
    await put(event("elsewhere"));
    expectSame("the others", (await statsOf(store))?.paused, undefined);
  }),
  rule("what was claimed before a pause goes on", async ({ put, takeOne, take, store, deliver }) => {
    await put(event("one"), event("two"));
    const first = await takeOne();
    const second = await takeOne();
    await store.pause(LISTENER);
    expectSame("delivered", await deliver(first.lease), 1);
    expectSame("rescheduled", await store.reschedule(second.lease, second.now, failed(1)), true);
    expectSame("claimed", (await take()).length, 0);
    await store.resume(LISTENER);
    expectSame("claimed then", texts(await take()), ["two"]);
  }),
  rule("a listener rests for every worker, until the latest time that was asked for", async (trial) => {
    const { put, take, store, subject } = trial;
    await put(event("one"), event("other", { listener: OTHER_LISTENER }));
    const before = await store.now();
    await store.rest(LISTENER, 20_000);
    const after = await store.now();
    await store.rest(LISTENER, 10_000);
    const elsewhere = await subject.open();
    const { restsUntil = 0 } = (await statsOf(elsewhere)) ?? {};
    expectSame("until when", before + 20_000 <= restsUntil && restsUntil <= after + 20_000, true);
    await subject.passTime(15_000);
    expectSame("claimed", texts(await take(MAX, [LISTENER, OTHER_LISTENER])), ["other"]);
    await subject.passTime(5_001);
    expectSame("claimed then", texts(await take()), ["one"]);
    expectSame("it rests", (await statsOf(store))?.restsUntil, undefined);
  }),
  rule("an event with deliverAt is due then, and not old before", async (trial) => {
    const { put, take, takeOne, deliver, store, subject } = trial;
    const later = event("later", { deliverAt: (await store.now()) + HOUR_MS });
    await put(later, event("now"));
    const due = await takeOne();
    expectSame("claimed", texts([due]), ["now"]);
    await deliver(due.lease);
    const [entry] = await store.find(later.id);
    expectSame("when it is due", [entry?.state, entry?.dueAt], ["pending", later.deliverAt]);
    const { pending, oldestAgeMs } = (await statsOf(store)) ?? {};
    expectSame("pending, and its age", [pending, oldestAgeMs], [1, 0]);
    await subject.passTime(HOUR_MS - 30_000);
    expectSame("claimed half a minute too early", (await take()).length, 0);
    await subject.passTime(40_000);
    const age = (await statsOf(store))?.oldestAgeMs ?? 0;
    expectSame("whether its age counts from then", age >= 9_000 && age < HOUR_MS, true);
    const one = await takeOne();
    expectSame("claimed then, for the first time", [texts([one]), one.firstAttemptAt], [["later"], one.now]);
  }),
  rule("a deliverAt that has passed is now", async ({ put, take, store }) => {
    await put(event("late", { deliverAt: (await store.now()) - HOUR_MS }));
    expectSame("claimed", texts(await take()), ["late"]);
  }),
  rule("later events of an ordering key wait for a deliverAt", async (trial) => {
    const { put, take, takeOne, deliver, store, subject } = trial;
    const deliverAt = (await store.now()) + HOUR_MS;
    await put(event("1", { orderingKey: "k", deliverAt }), event("2", { orderingKey: "k" }), event("free"));
    const free = await takeOne();
    expectSame("claimed", texts([free]), ["free"]);
    await deliver(free.lease);
    expectSame("nothing else", (await take()).length, 0);
    await subject.passTime(HOUR_MS + 1);
    const first = await takeOne();
    expectSame("claimed then", texts([first]), ["1"]);
    await deliver(first.lease);
    expectSame("claimed last", texts(await take()), ["2"]);
  }),
  rule("what no attempt has begun for can be cancelled, and is not sent", async (trial) => {
    const { put, take, store, deadLetters } = trial;
    const [gone, kept] = [event("gone"), event("kept")];
    await put(gone, kept);
    expectSame("cancel", await store.cancel({ ids: [gone.id] }), { cancelled: 1, tooLate: 0 });
    expectSame("its state", await stateOf(trial, gone.id), ["cancelled"]);
    expectSame("cancel again", await store.cancel({ ids: [gone.id] }), { cancelled: 0, tooLate: 1 });
    await put(gone);
    expectSame("claimed", texts(await take()), ["kept"]);
    expectSame("dead letters", (await deadLetters()).length, 0);
    const { pending, inFlight, delivered, dead } = (await statsOf(store)) ?? {};
    expectSame("the counts", [pending, inFlight, delivered, dead], [0, 1, 0, 0]);
  }),
  rule("what has begun or ended is not cancelled", async (trial) => {
    const { put, takeOne, store, deliver, failOne } = trial;
    const all = ["retry", "delivered", "dead", "in flight", "waits"].map((text) => event(text));
    const [retry, delivered, dead, flying, waits] = all as [
      (typeof all)[0],
      (typeof all)[0],
      (typeof all)[0],
      (typeof all)[0],
      (typeof all)[0],
    ];
    await put(retry);
    const tried = await takeOne();
    await store.reschedule(tried.lease, tried.now + HOUR_MS, failed(1));
    await put(delivered);
    await deliver((await takeOne()).lease);
    await put(dead);
    await failOne();
    await put(flying);
    await takeOne();
    await put(waits);
    expectSame("of the listener", await store.cancel({ listener: LISTENER }), { cancelled: 1, tooLate: 2 });
    expectSame("by id", await store.cancel({ ids: all.map(({ id }) => id) }), { cancelled: 0, tooLate: 5 });
    expectSame("of no event", await store.cancel({ ids: [event("unknown").id] }), {
      cancelled: 0,
      tooLate: 0,
    });
    const states = await Promise.all(
      [retry, delivered, dead, flying, waits].map(({ id }) => stateOf(trial, id)),
    );
    expectSame("their states", states.flat(), ["pending", "delivered", "dead", "in-flight", "cancelled"]);
  }),
  rule("a cancellation keeps to its listener", async (trial) => {
    const { put, take, store } = trial;
    const one = event("one");
    await put(one, event("other", { id: one.id, listener: OTHER_LISTENER }));
    const only = { ids: [one.id], listener: OTHER_LISTENER };
    expectSame("cancel", await store.cancel(only), { cancelled: 1, tooLate: 0 });
    expectSame("claimed", texts(await take(MAX, [LISTENER, OTHER_LISTENER])), ["one"]);
  }),
  rule("a released event, which was not sent, can be cancelled", async ({ put, takeOne, store }) => {
    await put(event("one"));
    const { lease } = await takeOne();
    await store.release([lease]);
    expectSame("cancel", await store.cancel({ listener: LISTENER }), { cancelled: 1, tooLate: 0 });
  }),
  rule("a cancelled event of an ordering key lets the next one go", async ({ put, take, store }) => {
    const keyed = ["1", "2", "3"].map((text) => event(text, { orderingKey: "k" }));
    await put(...keyed);
    await store.cancel({ ids: keyed.slice(0, 2).map(({ id }) => id) });
    expectSame("claimed", texts(await take()), ["3"]);
  }),
  rule("many events of a listener are cancelled at once", async ({ store, take }) => {
    await store.enqueue(Array.from({ length: 1_203 }, (_, index) => event(String(index))));
    expectSame("cancel", await store.cancel({ listener: LISTENER }), { cancelled: 1_203, tooLate: 0 });
    expectSame("claimed", (await take()).length, 0);
  }),
  rule("cancelled events are removed with those that were delivered", async (trial) => {
    const { put, store, subject } = trial;
    const one = event("one");
    await put(one);
    await store.cancel({ ids: [one.id] });
    await subject.passTime(10_000);
    const now = await store.now();
    expectSame("too early", await store.prune({ delivered: now - 20_000, dead: now }), 0);
    expectSame("removed", await store.prune({ delivered: now, dead: 0 }), 1);
    expectSame("its state", await stateOf(trial, one.id), []);
    expectSame("its listener", await statsOf(store), undefined);
  }),
  rule("what waits is listed, the first that was enqueued first, with its attempts", async (trial) => {
    const { put, takeOne, deliver, store } = trial;
    const done = event("done");
    await put(done);
    await deliver((await takeOne()).lease);
    const [tried, flying, waits] = [event("tried"), event("flying"), event("waits", { orderingKey: "k" })];
    await put(tried);
    const first = await takeOne();
    await store.reschedule(first.lease, first.now + HOUR_MS, failed(1));
    await put(flying);
    await takeOne();
    await put(waits, event("other", { listener: OTHER_LISTENER }));
    const listed = await store.pending({ listener: LISTENER }, MAX);
    expectSame(
      "ids",
      listed.map(({ id }) => id),
      [tried.id, flying.id, waits.id],
    );
    expectSame(
      "states",
      listed.map(({ state }) => state),
      ["pending", "in-flight", "pending"],
    );
    expectSame("the first one's due time", listed[0]?.dueAt, first.now + HOUR_MS);
    expectSame("the first one's attempts", listed[0]?.attempts, [failed(1)]);
    expectSame(
      "all, at most two",
      (await store.pending({}, 2)).map(({ id }) => id),
      [tried.id, flying.id],
    );
    expectSame(
      "by id",
      (await store.pending({ ids: [waits.id, done.id] }, MAX)).map(({ id }) => id),
      [waits.id],
    );
  }),
  rule("a repeated delivery of a cancelled id changes nothing", async ({ put, takeOne, store, deliver }) => {
    await put(event("one"));
    const { lease } = await takeOne();
    await store.release([lease]);
    await store.cancel({ listener: LISTENER });
    expectSame("delivered", await deliver(lease), 0);
    expectSame("rescheduled", await store.reschedule(lease, await store.now(), attemptRecord(1)), false);
  }),
];
