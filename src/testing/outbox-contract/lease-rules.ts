import { expectSame } from "./contract-case.js";
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
} from "./outbox-contract-subject.js";

/** Who may deliver an event, and for how long. */
export const leaseRules = [
  rule("a leased event is handed out to nobody else", async ({ put, take, takeOne, subject }) => {
    await put(event("one"));
    const { lease, now } = await takeOne();
    expectSame("how long the lease holds", lease.expiresAt - now, LEASE_MS);
    await subject.passTime(LEASE_MS - 10_000);
    expectSame("claimed", (await take()).length, 0);
  }),
  rule("many claims at the same time hand out each event once", async ({ subject, store }) => {
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
    const { put, takeOne, complete, subject, store } = bench;
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
    expectSame("complete", await complete(third.lease), 1);
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
  rule("no event is handed out past its window, however many there are", async (bench) => {
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
  rule("a stale lease does nothing", async ({ put, takeOne, complete, subject, store }) => {
    await put(event("one"));
    const { lease } = await takeOne();
    await subject.passTime(LEASE_MS + 10_000);
    const current = await takeOne();
    expectSame("complete", await complete(lease), 0);
    expectSame("reschedule", await store.reschedule(lease, current.now, failed(1)), false);
    const burial = { reason: "refused", code: "REQUEST_REFUSED", blocksKey: false } as const;
    expectSame("bury", await store.bury(lease, burial), false);
    await store.release([lease]);
    const [entry] = await store.find(lease.id);
    expectSame("its state", entry?.state, "in-flight");
    expectSame("its history", entry?.attempts, []);
    expectSame("complete by who holds it", await complete(current.lease), 1);
  }),
  rule("a delivered event is done with", async ({ put, takeOne, complete, take, subject, store }) => {
    await put(event("one"));
    const { lease } = await takeOne();
    expectSame("complete", await complete(lease), 1);
    expectSame("complete again", await complete(lease), 0);
    await subject.passTime(LEASE_MS + 10_000);
    expectSame("claimed", (await take()).length, 0);
    const [entry] = await store.find(lease.id);
    expectSame("its state", [entry?.state, entry?.outcome], ["delivered", "accepted"]);
    expectSame("its history", entry?.attempts, [attemptRecord(1)]);
  }),
  rule("deliveries end in groups, the stale ones left out", async ({ put, take, store }) => {
    await put(event("1"), event("2"), event("3"));
    const claimed = await take();
    const attempts = claimed.map(({ attempt }) => attempt);
    expectSame("the attempts", attempts, [1, 1, 1]);
    const [first, ...others] = claimed.map(({ lease }) => lease);
    if (!first) throw new Error("nothing claimed");
    await store.complete([
      { lease: first, outcome: "duplicate", attempt: attemptRecord(1, { status: 409 }) },
    ]);
    const all = [first, ...others].map((lease) => ({
      lease,
      outcome: "accepted" as const,
      attempt: attemptRecord(1),
    }));
    expectSame("still good", await store.complete(all), 2);
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
  rule("only the listeners asked for are served, each up to its own number", async ({ store, take }) => {
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
  rule("a claim hands out of each listener in turn, in the order of the request", async ({ store, take }) => {
    const names = ["b", "c", "a"];
    await store.enqueue(
      names.flatMap((listener) => [1, 2].map((place) => event(`${listener}${place}`, { listener }))),
    );
    expectSame("claimed", texts(await take(6, names)), ["b1", "c1", "a1", "b2", "c2", "a2"]);
  }),
  rule("with fewer places than listeners, those that stand first are served", async ({ store, take }) => {
    const names = ["b", "c", "a"];
    await store.enqueue([1, 2].flatMap(() => names.map((listener) => event(listener, { listener }))));
    expectSame("claimed", texts(await take(2, names)).sort(), ["b", "c"]);
  }),
];
