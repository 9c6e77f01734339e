// Rules of large numbers, and of a database that fails.
import type { OutboxStore } from "../../outbox/outbox-store.js";
import { expectSame } from "../contract-case.js";
import {
  attemptRecord,
  codeOf,
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

const many = <Item>(length: number, make: (index: number) => Item): Item[] =>
  Array.from({ length }, (_, index) => make(index));

/** After so many claims of 100 events, every event that can be claimed has to be. */
const CLAIMS = 3;

/** Rules with more events than one claim, page or call takes. */
export const loadRules = [
  rule("a long queue of one ordering key does not hold up other events", async (bench) => {
    const { store, take } = bench;
    for (let part = 0; part < 4; part++)
      await store.enqueue(many(500, () => event("behind", { orderingKey: "long" })));
    await store.enqueue(many(20, () => event("free")));
    const claimed: string[] = [];
    for (let claims = 0; claims < CLAIMS; claims++) claimed.push(...texts(await take(100)));
    expectSame("claimed", claimed.filter((text) => text === "free").length, 20);
    expectSame("claimed of the key", claimed.filter((text) => text === "behind").length, 1);
  }),
  rule("keys whose first event is to be tried again later do not hold up other events", async (bench) => {
    const { store, take } = bench;
    const keys = 400;
    await store.enqueue(many(keys, (key) => event("failing", { orderingKey: `${key}` })));
    await store.enqueue(many(keys, (key) => event("behind", { orderingKey: `${key}` })));
    const failing = await take(keys);
    expectSame("claimed at first", new Set(texts(failing)).size, 1);
    for (const { lease, now } of failing) await store.reschedule(lease, now + 3_600_000, failed(1));
    await store.enqueue(many(20, () => event("free")));
    const claimed: string[] = [];
    for (let claims = 0; claims < CLAIMS; claims++) claimed.push(...texts(await take(100)));
    expectSame(
      "claimed",
      claimed,
      many(20, () => "free"),
    );
  }),
  rule("workers at the same time deliver every event of every key, each key in its order", async (bench) => {
    const { store, subject } = bench;
    const [keys, each] = [12, 8];
    for (let place = 0; place < each; place++)
      await store.enqueue(many(keys, (key) => event(`${place}`, { orderingKey: `${key}` })));
    const stores = [store, await subject.open(), await subject.open(), await subject.open()];
    const seen = new Map<string, string[]>();
    let left = keys * each;
    async function work(own: OutboxStore): Promise<void> {
      for (let idle = 0; left > 0 && idle < 200; ) {
        const claimed = await own.claim({ limit: 5, leaseMs: LEASE_MS, listeners: sharesOf([LISTENER], 5) });
        idle = claimed.length === 0 ? idle + 1 : 0;
        await Promise.all(
          claimed.map(async (one, index) => {
            const { lease, now, attempt } = one;
            if (attempt === 1 && index % 3 === 0) return own.reschedule(lease, now, failed(1));
            if (attempt === 1 && index % 3 === 1) return own.release([lease]);
            // Before the call: once it is stored, another worker may have the next event before the answer is here.
            const key = String(one.event.orderingKey);
            seen.set(key, [...(seen.get(key) ?? []), ...texts([one])]);
            const good = await own.markDelivered([
              { lease, outcome: "delivered", attempt: attemptRecord(attempt) },
            ]);
            left -= good;
          }),
        );
      }
    }
    await Promise.all(stores.map(work));
    expectSame("events that nobody was given", left, 0);
    const wanted = many(each, String);
    for (const [key, order] of seen) expectSame(`the order of key ${key}`, order, wanted);
  }),
  rule("thousands of events past their window all become dead letters", async (bench) => {
    const { store, take, subject, deadLetters } = bench;
    const count = 2_100;
    await store.enqueue(many(count, (index) => event(`${index}`)));
    const claimed = await take(count);
    expectSame("claimed", claimed.length, count);
    await subject.passTime(WINDOW_MS + 10_000);
    expectSame("claimed past their window", (await take(count)).length, 0);
    const windows = new Map([[LISTENER, { windowMs: WINDOW_MS, blocksKey: false }]]);
    let expired = 0;
    for (let more = 1; more > 0; expired += more) more = (await store.expire(windows)).length;
    expectSame("expired", expired, count);
    // Many failed at the same moment, and there are more of them than a store reads at once.
    const letters = await deadLetters();
    expectSame("dead letters", new Set(letters.map(({ event: { id } }) => id)).size, count);
    expectSame("of them, listed twice", letters.length - count, 0);
    expectSame("as many as were wanted", (await deadLetters({}, { limit: 1_500 })).length, 1_500);
    const part = await store.redrive({}, WINDOW_MS, { newIds: true, limit: 700 });
    expectSame("redriven of them", part, { redriven: 700, pastWindow: 0 });
    expectSame("dropped of them", await store.drop({}, { limit: 700 }), 700);
    const [{ pending, dead } = { pending: 0, dead: 0 }] = await store.stats();
    expectSame("counted then", [pending, dead], [700, count - 1_400]);
    const rest = await store.redrive({}, WINDOW_MS, { newIds: true });
    expectSame("redriven of the rest", rest, { redriven: count - 1_400, pastWindow: 0 });
    expectSame("claimed in the end", (await take(count)).length, count - 700);
  }),
  rule("events behind one that expires, or is removed, go on in their order", async (bench) => {
    const { store, take, takeOne, failOne, deliver, subject } = bench;
    const keyed = (text: string) => event(text, { orderingKey: "k" });
    await store.enqueue(["1", "2", "3", "4"].map(keyed));
    const { lease, now } = await takeOne();
    expectSame("claimed next to the first", (await take()).length, 0);
    await store.reschedule(lease, now, failed(1));
    await subject.passTime(WINDOW_MS + 10_000);
    expectSame("claimed past its window", (await take()).length, 0);
    await store.expire(new Map([[LISTENER, { windowMs: WINDOW_MS, blocksKey: false }]]));
    const second = await failOne({ blocksKey: true });
    expectSame("the second", texts([second]), ["2"]);
    expectSame("claimed behind a blocking dead letter", (await take()).length, 0);
    await store.drop({});
    const third = await takeOne();
    expectSame("the third", texts([third]), ["3"]);
    expectSame("claimed next to it", (await take()).length, 0);
    await deliver(third.lease);
    expectSame("the fourth", texts([await takeOne()]), ["4"]);
  }),
  rule("prune gets past dead letters behind which events wait, however many they are", async (bench) => {
    const { store, put, take, failOne, subject } = bench;
    const keys = Array.from({ length: 1_050 }, (_, index) => String(index));
    const each = (text: string) => keys.map((orderingKey) => event(text, { orderingKey }));
    await store.enqueue(each("dead"));
    expectSame("claimed", (await take(keys.length)).length, keys.length);
    await store.enqueue(each("waits"));
    await subject.passTime(WINDOW_MS + LEASE_MS);
    const windows = new Map([[LISTENER, { windowMs: WINDOW_MS, blocksKey: true }]]);
    for (let more = 1; more > 0; ) more = (await store.expire(windows)).length;
    await put(event("last", { orderingKey: "last" }));
    await failOne({ blocksKey: true });
    await subject.passTime(60_000);
    expectSame("removed", await store.prune({ delivered: 0, dead: (await store.now()) - 1_000 }), 1);
    const [{ pending, dead } = { pending: 0, dead: 0 }] = await store.stats();
    expectSame("left", [pending, dead], [keys.length, keys.length]);
  }),
  rule("a caller may change its arguments as soon as a call has returned", async (bench) => {
    const { store, take, takeOne } = bench;
    const [one, two] = [event("one"), event("two")];
    const events = [one, two];
    const stored = store.enqueue(events);
    events.length = 0;
    await stored;
    const listeners = new Map(sharesOf([LISTENER], 1));
    const claiming = store.claim({ limit: 1, leaseMs: LEASE_MS, listeners });
    listeners.clear();
    const [first] = await claiming;
    expectSame("claimed", first && texts([first]), ["one"]);
    const second = await takeOne();
    const leases = [second.lease];
    const releasing = store.release(leases);
    leases.length = 0;
    await releasing;
    expectSame("released", texts(await take()), ["two"]);
    if (!first) return;
    const deliveries = [{ lease: first.lease, outcome: "delivered" as const, attempt: attemptRecord(1) }];
    const delivering = store.markDelivered(deliveries);
    deliveries.length = 0;
    expectSame("completed", await delivering, 1);
    const windows = new Map([[LISTENER, { windowMs: 1, blocksKey: false }]]);
    await bench.subject.passTime(LEASE_MS + 10_000);
    const expiring = store.expire(windows);
    windows.clear();
    expectSame("expired", (await expiring).length, 1);
    const ids = [two.id];
    const dropping = store.drop({ ids });
    ids.length = 0;
    expectSame("dropped", await dropping, 1);
    await store.enqueue([event("elsewhere", { listener: OTHER_LISTENER })]);
  }),
];

/** Longer than any time limit that a subject gives its store. */
const BOUND_MS = 20_000;
/** How many calls a store has to recover. */
const TRIES = 20;

/** Rules for a database that fails. A rule whose means the subject lacks passes without a check. */
export const failureRules = [
  rule("nothing of a rolled-back transaction comes, though its enqueueing was held up", async (bench) => {
    const { subject, store, put, take } = bench;
    const { transaction, holdUp } = subject;
    if (!transaction || !holdUp) return;
    await put(event("before"));
    const undone = event("undone");
    let code: unknown;
    await transaction("rollback", async (tx) => {
      const letGo = await holdUp();
      code = await codeOf(() => bounded(Promise.resolve(store.enqueue([undone], tx))));
      await letGo();
    });
    const failures = [undefined, "OUTBOX_UNAVAILABLE", "OUTBOX_OUTCOME_UNKNOWN"];
    expectSame(`whether it failed as it may: ${code}`, failures.includes(code as undefined), true);
    await transaction("commit", async (tx) => {
      await store.enqueue([event("next")], tx);
    });
    expectSame("claimed", texts(await take()).sort(), ["before", "next"]);
    await store.enqueue([event("afterwards", { id: undone.id })]);
    expectSame("claimed under its id", texts(await take()), ["afterwards"]);
  }),
  rule("a store whose connections hang comes back by itself", async (bench) => {
    const { subject, store, put } = bench;
    if (!subject.hang) return;
    await put(event("one"));
    await subject.hang();
    const claimed: string[] = [];
    for (let tries = 0; tries < TRIES && claimed.length === 0; tries++)
      await bounded(bench.take().then((found) => claimed.push(...texts(found)))).catch(failedAsItMay);
    expectSame("claimed", claimed, ["one"]);
    await subject.hang();
    let isStored = false;
    const two = event("two");
    for (let tries = 0; tries < TRIES && !isStored; tries++)
      await bounded(Promise.resolve(store.enqueue([two]))).then(() => {
        isStored = true;
      }, failedAsItMay);
    expectSame("whether it was stored in the end", isStored, true);
    expectSame("claimed then", texts(await bench.take()), ["two"]);
  }),
  rule("an enqueueing whose answer is lost says so, and can be repeated under its ids", async (bench) => {
    const { subject, store, put } = bench;
    if (!subject.loseAnswers) return;
    await put(event("before"));
    const one = event("one");
    let code: unknown;
    await subject.loseAnswers(async () => {
      code = await codeOf(() => bounded(Promise.resolve(store.enqueue([one]))));
    });
    expectSame("the code", code, "OUTBOX_OUTCOME_UNKNOWN");
    await eventually(() => store.enqueue([one]));
    expectSame("claimed", texts(await bench.take()).sort(), ["before", "one"]);
    await subject.passTime(LEASE_MS + 10_000);
    expectSame("of them, twice", (await bench.take()).length, 2);
  }),
];

/** Rejects after the bound, so that a rule ends even if the store hangs. */
async function bounded<Value>(work: Promise<Value>): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing came back for ${BOUND_MS} ms`)), BOUND_MS);
  });
  return Promise.race([work, limit]).finally(() => clearTimeout(timer));
}

function failedAsItMay(error: unknown): void {
  const { code } = error as { code?: unknown };
  if (code !== "OUTBOX_UNAVAILABLE" && code !== "OUTBOX_OUTCOME_UNKNOWN") throw error;
}

async function eventually(work: () => void | Promise<void>): Promise<void> {
  for (let tries = 1; ; tries++)
    try {
      return await bounded(Promise.resolve(work()));
    } catch (error) {
      failedAsItMay(error);
      if (tries === TRIES) throw error;
    }
}
