import { expectSame } from "./contract-case.js";
import {
  attemptRecord,
  event,
  failed,
  LEASE_MS,
  LISTENER,
  OTHER_LISTENER,
  rule,
  texts,
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
    const listeners = new Map([[LISTENER, 7]]);
    const claims = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 ? store : other).claim({ limit: 7, leaseMs: LEASE_MS, listeners }),
      ),
    );
    const claimed = claims.flat();
    expectSame("claimed", [claimed.length, new Set(claimed.map(({ lease }) => lease.id)).size], [60, 60]);
  }),
  rule("an event whose lease ran out goes to the next worker, with its attempts", async (bench) => {
    const { put, attempt, takeOne, subject, store } = bench;
    await put(event("one"));
    const crashed = await attempt();
    await subject.passTime(LEASE_MS + 10_000);
    const takenOver = await takeOne();
    expectSame("the attempts begun", takenOver.attempts, 1);
    expectSame("whether the first one's time is known", takenOver.firstAttemptAt !== undefined, true);
    expectSame("whether the tokens differ", crashed.lease.token !== takenOver.lease.token, true);
    const [begun] = await store.begin([takenOver.lease]);
    expectSame("the attempt", begun?.attempt, 2);
    const age = (begun?.now ?? 0) - (begun?.firstAttemptAt ?? 0);
    expectSame("whether the first attempt's time was kept", age >= LEASE_MS, true);
  }),
  rule("a claim that is to begin counts the attempt, or leaves that to begin", async (bench) => {
    const { put, complete, subject, store } = bench;
    const claim = async () => {
      const listeners = new Map([[LISTENER, 1]]);
      const [claimed] = await store.claim({ limit: 1, leaseMs: LEASE_MS, listeners, begin: true });
      if (!claimed) throw new Error("claim: expected 1 event, got 0");
      const [begun] = claimed.begun ? [claimed.begun] : await store.begin([claimed.lease]);
      return { ...claimed, begun };
    };
    await put(event("one"));
    const first = await claim();
    expectSame("the first attempt", first.begun?.attempt, 1);
    expectSame("whether it is the event's first", first.begun?.firstAttemptAt, first.begun?.now);
    expectSame("the attempts before it", [first.attempts, first.firstAttemptAt], [0, undefined]);
    await subject.passTime(LEASE_MS + 10_000);
    const second = await claim();
    expectSame("the second attempt", [second.attempts, second.begun?.attempt], [1, 2]);
    expectSame("when the first attempt was", second.firstAttemptAt, second.begun?.firstAttemptAt);
    const age = (second.begun?.now ?? 0) - (second.begun?.firstAttemptAt ?? 0);
    expectSame("whether the first attempt's time was kept", age >= LEASE_MS, true);
    const [entry] = await store.find(second.lease.id);
    expectSame("what is known of it", entry?.firstAttemptAt, second.begun?.firstAttemptAt);
    expectSame("complete", await complete(second.lease), 1);
  }),
  rule("a stale lease does nothing", async ({ put, attempt, takeOne, complete, subject, store }) => {
    await put(event("one"));
    const { lease } = await attempt();
    await subject.passTime(LEASE_MS + 10_000);
    const current = await takeOne();
    expectSame(
      "begin",
      (await store.begin([lease, current.lease])).map((one) => one?.attempt),
      [undefined, 2],
    );
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
  rule("a delivered event is done with", async ({ put, attempt, complete, take, subject, store }) => {
    await put(event("one"));
    const { lease } = await attempt();
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
    const begun = await store.begin(claimed.map(({ lease }) => lease));
    expectSame(
      "begun",
      begun.map((one) => one?.attempt),
      [1, 1, 1],
    );
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
    const { put, attempt, take, takeOne, subject, store } = bench;
    await put(event("one"));
    const { lease, now } = await attempt();
    expectSame("reschedule", await store.reschedule(lease, now + 100_000, failed(1)), true);
    expectSame("reschedule again", await store.reschedule(lease, now + 100_000, failed(1)), false);
    const [entry] = await store.find(lease.id);
    expectSame("its state", [entry?.state, entry?.attempts], ["pending", [failed(1)]]);
    await subject.passTime(90_000);
    expectSame("claimed before", (await take()).length, 0);
    await subject.passTime(11_000);
    const again = await takeOne();
    expectSame("the attempts begun", again.attempts, 1);
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
      ["a", 2],
      ["b", 4],
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
  rule("with fewer places than listeners, those that stand first are served", async ({ store, take }) => {
    const names = ["b", "c", "a"];
    await store.enqueue([1, 2].flatMap(() => names.map((listener) => event(listener, { listener }))));
    expectSame("claimed", texts(await take(2, names)).sort(), ["b", "c"]);
  }),
];
