// Rules of claims, leases and ordering keys.
import { expectSame } from "../contract-case.js";
import {
  attemptRecord,
  event,
  failed,
  LEASE_MS,
  LISTENER,
  OTHER_LISTENER,
  rule,
  sharesOf,
  texts,
  WINDOW_MS,
} from "./subject.js";

/** Claims and leases. */
export const leaseRules = [
  rule("a leased event is not claimed again", async ({ put, take, takeOne, subject }) => {
    await put(event("one"));
    const { lease, now } = await takeOne();
    expectSame("how long the lease holds", lease.expiresAt - now, LEASE_MS);
    await subject.passTime(LEASE_MS - 10_000);
    expectSame("claimed", (await take()).length, 0);
  }),
  rule("concurrent claims lease each event once", async ({ subject, store }) => {
    await store.enqueue(Array.from({ length: 60 }, (_, index) => event(String(index))));
    const other = await subject.open();
    const listeners = sharesOf([LISTENER], 7);
    const claims = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 ? store : other).claim({ limit: 7, leaseMs: LEASE_MS, listeners }),
      ),
    );
    const claimed = claims.flat();
    expectSame("claimed", [claimed.length, new Set(claimed.map(({ lease }) => lease.id)).size], [60, 60]);
  }),
  rule("a claim counts the attempt, and keeps when the first one was", async (bench) => {
    const { put, takeOne, deliver, subject, store } = bench;
    await put(event("one"));
    const first = await takeOne();
    expectSame("the first attempt", [first.attempt, first.sentBefore], [1, false]);
    expectSame("when it was", first.firstAttemptAt, first.now);
    await store.reschedule(first.lease, first.now, failed(1));
    const second = await takeOne();
    expectSame("the second, at the same moment", [second.attempt, second.sentBefore], [2, true]);
    expectSame("when the first one was", second.firstAttemptAt, first.now);
    await subject.passTime(LEASE_MS + 10_000);
    const third = await takeOne();
    expectSame("the third, after a crash", [third.attempt, third.sentBefore], [3, true]);
    expectSame("whether the tokens differ", third.lease.token !== second.lease.token, true);
    expectSame("how long ago the first one was", third.now - third.firstAttemptAt >= LEASE_MS, true);
    const [entry] = await store.find(third.lease.id);
    expectSame("what is known of it", entry?.firstAttemptAt, third.firstAttemptAt);
    expectSame("deliver", await deliver(third.lease), 1);
  }),
  rule(
    "leases are found by the ids of their events until these end, also when they have expired",
    async (bench) => {
      const { put, take, takeOne, deliver, store, subject } = bench;
      const events = [event("one"), event("two", { orderingKey: "key" }), event("three")];
      await put(...events);
      const ids = events.map(({ id }) => id);
      const found = async (listener = LISTENER) =>
        [...(await store.leases(listener, [...ids, "no id"]))].sort(
          (a, b) => ids.indexOf(a.lease.id) - ids.indexOf(b.lease.id),
        );
      expectSame("before a claim", await found(), []);
      const claims = [await takeOne(), await takeOne(), await takeOne()];
      const held = claims.map(({ lease, attempt }) => ({ lease, attempt }));
      expectSame("after three claims", await found(), held);
      expectSame("of another listener", await found(OTHER_LISTENER), []);
      await store.release([claims[2]?.lease ?? never()]);
      const [one, two] = await found();
      expectSame("after a release", [one, two], held.slice(0, 2));
      await subject.passTime(LEASE_MS + 10_000);
      const tokens = (await found()).map(({ lease }) => lease.token);
      expectSame("when they have expired", tokens, [one?.lease.token, two?.lease.token]);
      expectSame("deliver", await deliver((await found())[1]?.lease ?? never()), 1);
      const again = (await take()).find(({ lease }) => lease.id === ids[0]);
      expectSame("the attempt of the first one", again?.attempt, 2);
      expectSame("and its lease", (await found())[0]?.lease, again?.lease);
      expectSame("by the lease of before", await deliver(one?.lease ?? never()), 0);
      expectSame("by the one that was found", await deliver((await found())[0]?.lease ?? never()), 1);
      expectSame(
        "at the end",
        (await found()).map(({ lease }) => lease.id),
        [ids[2]],
      );
    },
  ),
  rule("when an event was enqueued is told wherever the event is", async (bench) => {
    const { put, takeOne, deadLetters, store, subject } = bench;
    // An hour for a slow machine whose store's clock does not stand still.
    const isAgo = async (enqueuedAt: number | undefined, ms: number) => {
      const ageMs = (await store.now()) - (enqueuedAt ?? Number.NaN);
      return ageMs >= ms && ageMs < ms + 3_600_000;
    };
    await put(event("one", { orderingKey: "k" }));
    await subject.passTime(20_000);
    const first = await takeOne();
    expectSame("by the first claim", await isAgo(first.enqueuedAt, 20_000), true);
    await store.reschedule(first.lease, first.now, failed(1));
    await subject.passTime(20_000);
    const second = await takeOne();
    expectSame("by the second claim", await isAgo(second.enqueuedAt, 40_000), true);
    expectSame("by find", await isAgo((await store.find(second.lease.id))[0]?.enqueuedAt, 40_000), true);
    await store.fail(second.lease, { reason: "refused", code: "REQUEST_REFUSED", blocksKey: false });
    const [letter] = await deadLetters();
    expectSame("by its dead letter", await isAgo(letter?.enqueuedAt, 40_000), true);
    await put(event("two"));
    const tried = await takeOne();
    await store.reschedule(tried.lease, tried.now, failed(1));
    const [waits] = await store.pending({}, 1);
    expectSame("among what waits", await isAgo(waits?.enqueuedAt, 0), true);
    await subject.passTime(WINDOW_MS + 10_000);
    const windows = new Map([[LISTENER, { windowMs: WINDOW_MS, blocksKey: false }]]);
    const [expired] = await store.expire(windows);
    expectSame("when it expires", await isAgo(expired?.enqueuedAt, WINDOW_MS + 10_000), true);
    expectSame("with its attempts", expired?.attempts, 1);
  }),
  rule("a released event is as it was before its claim", async (bench) => {
    const { put, takeOne, store, subject } = bench;
    await put(event("one"));
    const first = await takeOne();
    await store.release([first.lease]);
    expectSame("the first attempt", (await store.find(first.lease.id))[0]?.firstAttemptAt, undefined);
    await subject.passTime(20_000);
    const again = await takeOne();
    expectSame("the attempt", [again.attempt, again.sentBefore], [1, false]);
    expectSame("when it was", again.firstAttemptAt, again.now);
    await store.reschedule(again.lease, again.now, failed(1));
    const second = await takeOne();
    await store.release([second.lease]);
    const third = await takeOne();
    expectSame("the second attempt", [third.attempt, third.sentBefore], [2, true]);
    expectSame("when the first one was", third.firstAttemptAt, again.firstAttemptAt);
    await store.release([third.lease, third.lease]);
    expectSame("released twice", (await takeOne()).attempt, 2);
  }),
  rule("no event is claimed past its window, however many there are", async (bench) => {
    const { store, take, subject } = bench;
    await store.enqueue(Array.from({ length: 600 }, (_, index) => event(String(index))));
    for (const { lease, now } of await take(600)) await store.reschedule(lease, now + 1_000, failed(1));
    await store.enqueue([event("of another window", { listener: OTHER_LISTENER })]);
    const [other] = await take(1, [OTHER_LISTENER]);
    if (other) await store.reschedule(other.lease, other.now, failed(1));
    await subject.passTime(WINDOW_MS - 60_000);
    const [inside] = await take(1);
    expectSame("inside it", inside?.attempt, 2);
    if (inside) await store.release([inside.lease]);
    await subject.passTime(70_000);
    await store.enqueue([event("fresh")]);
    const listeners = new Map([
      [LISTENER, { most: 100, windowMs: WINDOW_MS }],
      [OTHER_LISTENER, { most: 100, windowMs: WINDOW_MS + 3_600_000 }],
    ]);
    const claimed = texts(await store.claim({ limit: 100, leaseMs: LEASE_MS, listeners }));
    expectSame("claimed", claimed.sort(), ["fresh", "of another window"]);
  }),
  rule("a stale lease does nothing", async ({ put, takeOne, deliver, subject, store }) => {
    await put(event("one"));
    const { lease } = await takeOne();
    await subject.passTime(LEASE_MS + 10_000);
    const current = await takeOne();
    expectSame("deliver", await deliver(lease), 0);
    expectSame("reschedule", await store.reschedule(lease, current.now, failed(1)), false);
    const failure = { reason: "refused", code: "REQUEST_REFUSED", blocksKey: false } as const;
    expectSame("fail", await store.fail(lease, failure), false);
    await store.release([lease]);
    const [entry] = await store.find(lease.id);
    expectSame("its state", entry?.state, "in-flight");
    expectSame("its history", entry?.attempts, []);
    expectSame("deliver by who holds it", await deliver(current.lease), 1);
  }),
  rule(
    "a delivered event is not claimed again, and keeps its history",
    async ({ put, takeOne, deliver, take, subject, store }) => {
      await put(event("one"));
      const { lease } = await takeOne();
      expectSame("deliver", await deliver(lease), 1);
      expectSame("deliver again", await deliver(lease), 0);
      await subject.passTime(LEASE_MS + 10_000);
      expectSame("claimed", (await take()).length, 0);
      const [entry] = await store.find(lease.id);
      expectSame("its state", [entry?.state, entry?.outcome], ["delivered", "delivered"]);
      expectSame("its history", entry?.attempts, [attemptRecord(1)]);
    },
  ),
  rule("deliveries are stored in groups, without those of stale leases", async ({ put, take, store }) => {
    await put(event("1"), event("2"), event("3"));
    const claimed = await take();
    const attempts = claimed.map(({ attempt }) => attempt);
    expectSame("the attempts", attempts, [1, 1, 1]);
    const [first, ...others] = claimed.map(({ lease }) => lease);
    if (!first) throw new Error("nothing claimed");
    await store.markDelivered([
      { lease: first, outcome: "duplicate", attempt: attemptRecord(1, { status: 409 }) },
    ]);
    const all = [first, ...others].map((lease) => ({
      lease,
      outcome: "delivered" as const,
      attempt: attemptRecord(1),
    }));
    expectSame("still good", await store.markDelivered(all), 2);
    expectSame("the outcome of the first", (await store.find(first.id))[0]?.outcome, "duplicate");
  }),
  rule("a rescheduled event waits for its time, and keeps its history", async (bench) => {
    const { put, takeOne, take, subject, store } = bench;
    await put(event("one"));
    const { lease, now } = await takeOne();
    expectSame("reschedule", await store.reschedule(lease, now + 100_000, failed(1)), true);
    expectSame("reschedule again", await store.reschedule(lease, now + 100_000, failed(1)), false);
    const [entry] = await store.find(lease.id);
    expectSame("its state", [entry?.state, entry?.attempts], ["pending", [failed(1)]]);
    await subject.passTime(90_000);
    expectSame("claimed before", (await take()).length, 0);
    await subject.passTime(11_000);
    const again = await takeOne();
    expectSame("the attempt", again.attempt, 2);
  }),
  rule("a released event is due at once", async ({ put, takeOne, take, store }) => {
    await put(event("one"), event("two"));
    const { lease } = await takeOne();
    await store.release([lease]);
    const [entry] = await store.find(lease.id);
    expectSame("its state", entry?.state, "pending");
    expectSame("claimed", texts(await take()).sort(), ["one", "two"]);
  }),
  rule("a claim takes only the requested listeners, each up to its own number", async ({ store, take }) => {
    const of = (listener: string) => Array.from({ length: 5 }, () => event(listener, { listener }));
    await store.enqueue([...of("a"), ...of("b"), ...of("c")]);
    const listeners = new Map([
      ["a", { most: 2, windowMs: WINDOW_MS }],
      ["b", { most: 4, windowMs: WINDOW_MS }],
    ]);
    const claimed = texts(await store.claim({ limit: 100, leaseMs: LEASE_MS, listeners }));
    expectSame("claimed", claimed.sort(), ["a", "a", "b", "b", "b", "b"]);
    expectSame("nothing for nobody", (await take(100, [])).length, 0);
  }),
  rule("a listener with many events leaves room for one with few", async ({ store, take }) => {
    await store.enqueue(Array.from({ length: 200 }, () => event("many")));
    await store.enqueue(Array.from({ length: 3 }, () => event("few", { listener: OTHER_LISTENER })));
    const claimed = texts(await take(10, [LISTENER, OTHER_LISTENER]));
    expectSame("claimed", claimed.length, 10);
    expectSame("claimed of the few", claimed.filter((text) => text === "few").length, 3);
  }),
  rule(
    "a claim takes one event of each listener in turn, in the order of the request",
    async ({ store, take }) => {
      const names = ["b", "c", "a"];
      await store.enqueue(
        names.flatMap((listener) => [1, 2].map((place) => event(`${listener}${place}`, { listener }))),
      );
      expectSame("claimed", texts(await take(6, names)), ["b1", "c1", "a1", "b2", "c2", "a2"]);
    },
  ),
  rule(
    "with a limit below the number of listeners, the first listeners are served",
    async ({ store, take }) => {
      const names = ["b", "c", "a"];
      await store.enqueue([1, 2].flatMap(() => names.map((listener) => event(listener, { listener }))));
      expectSame("claimed", texts(await take(2, names)).sort(), ["b", "c"]);
    },
  ),
];

const keyed = (text: string, orderingKey = "k") => event(text, { orderingKey });

/** The order among events of one ordering key. */
export const orderRules = [
  rule("events of one key are claimed one at a time, other events next to them", async (bench) => {
    const { store, take, deliver, put } = bench;
    await store.enqueue([keyed("k1"), keyed("k2"), keyed("k3"), keyed("j1", "j"), event("free")]);
    await put(event("elsewhere", { listener: OTHER_LISTENER, orderingKey: "k" }));
    const first = await take(100, [LISTENER, OTHER_LISTENER]);
    expectSame("claimed at first", texts(first).sort(), ["elsewhere", "free", "j1", "k1"]);
    for (const { event: one, lease } of first) if (one.orderingKey === "k") await deliver(lease);
    const second = await take();
    expectSame("claimed then", texts(second), ["k2"]);
    for (const { lease } of second) await deliver(lease);
    expectSame("claimed last", texts(await take()), ["k3"]);
  }),
  rule("a key waits for an event that is to be tried again", async (bench) => {
    const { put, takeOne, take, deliver, store, subject } = bench;
    await put(keyed("1"), keyed("2"));
    const { lease, now } = await takeOne();
    await store.reschedule(lease, now + 100_000, failed(1));
    await subject.passTime(50_000);
    expectSame("claimed meanwhile", (await take()).length, 0);
    await subject.passTime(60_000);
    const again = await takeOne();
    expectSame("claimed then", texts([again]), ["1"]);
    await deliver(again.lease);
    expectSame("claimed afterwards", texts(await take()), ["2"]);
  }),
  rule("a key waits for an event whose worker crashed, and for one that was released", async (bench) => {
    const { put, take, takeOne, store, subject } = bench;
    await put(keyed("1"), keyed("2"));
    await takeOne();
    await subject.passTime(LEASE_MS + 10_000);
    const again = await takeOne();
    expectSame("taken over", texts([again]), ["1"]);
    await store.release([again.lease]);
    expectSame("after the release", texts(await take()), ["1"]);
  }),
  rule("a dead letter lets its key go on", async ({ put, failOne, take }) => {
    await put(keyed("1"), keyed("2"));
    await failOne({ blocksKey: false });
    expectSame("claimed", texts(await take()), ["2"]);
  }),
  rule(
    "a dead letter redriven to its place waits for one in flight, and goes before it after a crash",
    async (bench) => {
      const { put, failOne, take, takeOne, deliver, store, subject } = bench;
      await put(keyed("1"), keyed("2"));
      await failOne({ blocksKey: false });
      await takeOne();
      await store.redrive({}, WINDOW_MS, { place: "kept" });
      expectSame("claimed meanwhile", (await take()).length, 0);
      await subject.passTime(LEASE_MS + 10_000);
      const first = await takeOne();
      expectSame("claimed then", texts([first]), ["1"]);
      await deliver(first.lease);
      expectSame("claimed afterwards", texts(await take()), ["2"]);
    },
  ),
  rule("a dead letter that blocks its key does so until it is redriven and delivered", async (bench) => {
    const { put, failOne, take, takeOne, deliver, store } = bench;
    await put(keyed("1"), keyed("2"), keyed("other", "j"));
    await failOne({ blocksKey: true });
    expectSame("claimed", texts(await take()), ["other"]);
    await put(keyed("3"));
    expectSame("claimed of those that came later", (await take()).length, 0);
    await store.redrive({}, WINDOW_MS, { place: "kept" });
    const first = await takeOne();
    expectSame("redriven", texts([first]), ["1"]);
    await deliver(first.lease);
    const second = await takeOne();
    await deliver(second.lease);
    expectSame("claimed then", texts([second, ...(await take())]), ["2", "3"]);
  }),
  rule("a redriven event joins at the end of its key, or keeps its place", async (bench) => {
    const { put, failOne, takeOne, deliver, store } = bench;
    const order = async () => {
      const seen: string[] = [];
      for (let left = 3; left > 0; left--) {
        const one = await takeOne();
        seen.push(...texts([one]));
        await deliver(one.lease);
      }
      return seen;
    };
    for (const [place, wanted] of [
      ["end", ["2", "3", "1"]],
      ["kept", ["1", "2", "3"]],
    ] as const) {
      await put(keyed("1"), keyed("2"), keyed("3"));
      await failOne();
      await store.redrive({}, WINDOW_MS, { place });
      expectSame(`the order, place ${place}`, await order(), wanted);
    }
  }),
  rule("a redriven event that keeps its place holds back the later ones while it waits", async (bench) => {
    const { put, failOne, take, takeOne, store } = bench;
    await put(keyed("1"), keyed("2"));
    await failOne();
    await store.redrive({}, WINDOW_MS, { place: "kept" });
    const first = await takeOne();
    expectSame("claimed", texts([first]), ["1"]);
    await store.reschedule(first.lease, first.now + 100_000, failed(2));
    expectSame("claimed meanwhile", (await take()).length, 0);
  }),
  rule("a redriven event that keeps its place waits for a later one that is under way", async (bench) => {
    const { put, failOne, take, takeOne, deliver, store } = bench;
    await put(keyed("1"), keyed("2"), keyed("3"));
    await failOne();
    const later = await takeOne();
    await store.redrive({}, WINDOW_MS, { place: "kept" });
    expectSame("claimed meanwhile", (await take()).length, 0);
    await deliver(later.lease);
    expectSame("claimed then", texts(await take()), ["1"]);
  }),
];

function never(): never {
  throw new Error("a lease is missing");
}
