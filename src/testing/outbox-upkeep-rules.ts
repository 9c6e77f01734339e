import { expectSame } from "./contract-case.js";
import {
  event,
  failed,
  LEASE_MS,
  LISTENER,
  OTHER_LISTENER,
  rule,
  texts,
  WINDOW_MS,
} from "./outbox-contract-subject.js";

const windowsOf = (blocksKey = false) => new Map([[LISTENER, { windowMs: WINDOW_MS, blocksKey }]]);

/** What a store tells of itself, and how it is kept small. */
export const upkeepRules = [
  rule("events die when their window has closed, without being handed out", async (bench) => {
    const { put, takeOne, take, store, subject, deadLetters } = bench;
    const [old, fresh] = [event("old"), event("never attempted")];
    await put(old);
    const { lease, now } = await takeOne();
    await store.reschedule(lease, now, failed(1));
    await put(fresh);
    expectSame("expired within it", (await store.expire(windowsOf())).length, 0);
    await subject.passTime(WINDOW_MS + 10_000);
    const elsewhere = new Map([[OTHER_LISTENER, { windowMs: WINDOW_MS, blocksKey: false }]]);
    expectSame("expired for others", (await store.expire(elsewhere)).length, 0);
    const expired = await store.expire(windowsOf());
    expectSame(
      "expired",
      expired.map(({ listener, id, attempts }) => [listener, id, attempts]),
      [[LISTENER, old.id, 1]],
    );
    const [letter] = await deadLetters();
    expectSame(
      "the dead letter",
      [letter?.reason, letter?.code, letter?.attempts],
      ["window", "WINDOW_CLOSED", [failed(1)]],
    );
    expectSame("claimed", texts(await take()), ["never attempted"]);
  }),
  rule("an event that a worker holds is left to it, its window closed or not", async (bench) => {
    const { put, takeOne, store, subject } = bench;
    await put(event("one"));
    const { lease, now } = await takeOne();
    await store.reschedule(lease, now, failed(1));
    await subject.passTime(WINDOW_MS - 10_000);
    await takeOne();
    await subject.passTime(20_000);
    expectSame("expired", (await store.expire(windowsOf())).length, 0);
    await subject.passTime(LEASE_MS + 10_000);
    expectSame("expired once its lease has run out", (await store.expire(windowsOf())).length, 1);
  }),
  rule("an event that dies of its window blocks its key if it is to", async (bench) => {
    const { store, takeOne, take, subject } = bench;
    for (const blocksKey of [true, false]) {
      const orderingKey = String(blocksKey);
      await store.enqueue([event("1", { orderingKey }), event("2", { orderingKey })]);
      const { lease, now } = await takeOne();
      await store.reschedule(lease, now, failed(1));
      await subject.passTime(WINDOW_MS + 10_000);
      expectSame("expired", (await store.expire(windowsOf(blocksKey))).length, 1);
      expectSame("claimed", texts(await take()), blocksKey ? [] : ["2"]);
    }
  }),
  rule("an id is found at every listener, and an unknown one at none", async ({ put, store }) => {
    const one = event("one");
    await put(one, event("two", { id: one.id, listener: OTHER_LISTENER }));
    const found = await store.find(one.id);
    expectSame("where", found.map(({ listener }) => listener).sort(), [OTHER_LISTENER, LISTENER].sort());
    expectSame(
      "the first",
      [found[0]?.state, found[0]?.attempts, found[0]?.outcome],
      ["pending", [], undefined],
    );
    const now = await store.now();
    expectSame("whether it is due", (found[0]?.dueAt ?? Number.NaN) <= now, true);
    expectSame("nothing", await store.find("7d3a1c52-90be-4f0e-8b1d-5c2f4e6a7b81"), []);
  }),
  rule("stats count every event once, by its listener and state", async (bench) => {
    const { put, kill, takeOne, complete, store, subject } = bench;
    expectSame("of nothing", await store.stats(), []);
    await put(event("dead"));
    await kill();
    await put(event("delivered"));
    await complete((await takeOne()).lease);
    await put(event("in flight"));
    await takeOne();
    await put(event("oldest"));
    await subject.passTime(20_000);
    await put(event("younger"), event("elsewhere", { listener: OTHER_LISTENER }));
    const stats = new Map((await store.stats()).map((one) => [one.listener, one]));
    const { pending, inFlight, delivered, dead, oldestEnqueuedAt = 0 } = stats.get(LISTENER) ?? {};
    expectSame("counts", [pending, inFlight, delivered, dead], [2, 1, 1, 1]);
    const now = await store.now();
    const age = now - oldestEnqueuedAt;
    expectSame("whether the oldest is 20 s old", age >= 20_000 && age < 30_000, true);
    expectSame("pending elsewhere", stats.get(OTHER_LISTENER)?.pending, 1);
    await subject.passTime(LEASE_MS + 10_000);
    const later = (await store.stats()).find(({ listener }) => listener === LISTENER);
    expectSame("after the lease ran out", [later?.pending, later?.inFlight], [3, 0]);
  }),
  rule("the oldest pending event is told, whatever it waits for", async (bench) => {
    const { put, take, takeOne, store, subject } = bench;
    await put(event("to be tried again"));
    const { lease, now } = await takeOne();
    await store.reschedule(lease, now + 3_600_000, failed(1));
    const keyed = { listener: OTHER_LISTENER, orderingKey: "user-1" };
    await put(event("in flight", keyed), event("behind it", keyed));
    expectSame("claimed", texts(await take(2, [OTHER_LISTENER])), ["in flight"]);
    await subject.passTime(20_000);
    await put(event("new"), event("new", { listener: OTHER_LISTENER }));
    const later = await store.now();
    for (const { listener, pending, oldestEnqueuedAt = 0 } of await store.stats()) {
      expectSame("pending", pending, 2);
      expectSame(`whether the oldest of ${listener} is 20 s old`, later - oldestEnqueuedAt >= 20_000, true);
    }
  }),
  rule("what ended long ago is removed, and nothing else", async (bench) => {
    const { put, kill, takeOne, complete, store, subject } = bench;
    const [delivered, dead, pending] = [event("delivered"), event("dead"), event("pending")];
    await put(delivered);
    await complete((await takeOne()).lease);
    await put(dead);
    await kill();
    await put(pending);
    await subject.passTime(60_000);
    const states = async () => {
      const found = await Promise.all([delivered, dead, pending].map(({ id }) => store.find(id)));
      return found.map(([entry]) => entry?.state ?? "gone");
    };
    const now = await store.now();
    const [longAgo, justNow] = [now - 120_000, now - 1_000];
    expectSame("removed before their time", await store.prune({ delivered: longAgo, dead: longAgo }), 0);
    expectSame("removed of the delivered", await store.prune({ delivered: justNow, dead: longAgo }), 1);
    expectSame("the states then", await states(), ["gone", "dead", "pending"]);
    expectSame("removed of the dead", await store.prune({ delivered: longAgo, dead: justNow }), 1);
    expectSame("the states at last", await states(), ["gone", "gone", "pending"]);
    await put(delivered);
    expectSame("enqueued again", (await states())[0], "pending");
  }),
  rule("a removed dead letter no longer blocks its key", async ({ store, kill, take, subject }) => {
    await store.enqueue([event("1", { orderingKey: "k" }), event("2", { orderingKey: "k" })]);
    await kill({ blocksKey: true });
    await subject.passTime(60_000);
    const now = await store.now();
    await store.prune({ delivered: 0, dead: now - 1_000 });
    expectSame("claimed", texts(await take()), ["2"]);
  }),
];
