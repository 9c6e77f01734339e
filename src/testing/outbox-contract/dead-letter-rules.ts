// Rules of dead letters, expiry and removal.
import { isEventId, newEventId } from "../../core/event.js";
import type { DeadLetterFilter } from "../../outbox/records.js";
import { expectSame } from "../contract-case.js";
import {
  attemptRecord,
  event,
  failed,
  LEASE_MS,
  LISTENER,
  OTHER_LISTENER,
  rule,
  texts,
  WINDOW_MS,
} from "./subject.js";

const windowMs = WINDOW_MS;
const refused = (number: number) =>
  attemptRecord(number, { status: 400, code: "REQUEST_REFUSED", answer: '{"code":"BODY_NOT_JSON"}' });

/** Dead letters: listing, redriving, dropping. */
export const deadLetterRules = [
  rule("a dead letter keeps the event, its reason and its whole history", async (bench) => {
    const { put, takeOne, take, store, subject, deadLetters } = bench;
    const one = event("one", { orderingKey: "k", traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01` });
    await put(one);
    const first = await takeOne();
    await store.reschedule(first.lease, first.now, failed(1));
    const { lease } = await takeOne();
    const failure = {
      reason: "refused",
      code: "REQUEST_REFUSED",
      attempt: refused(2),
      blocksKey: false,
    } as const;
    expectSame("fail", await store.fail(lease, failure), true);
    expectSame("fail again", await store.fail(lease, failure), false);
    const [letter, ...more] = await deadLetters();
    expectSame("more of them", more.length, 0);
    expectSame("why", [letter?.reason, letter?.code], ["refused", "REQUEST_REFUSED"]);
    expectSame("its history", letter?.attempts, [failed(1), refused(2)]);
    expectSame("the event", letter && texts([letter]), ["one"]);
    const { id, listener, digest, orderingKey, traceparent } = letter?.event ?? one;
    expectSame(
      "its fields",
      [id, listener, digest, orderingKey, traceparent],
      [one.id, LISTENER, one.digest, "k", one.traceparent],
    );
    const { enqueuedAt = 0, firstAttemptAt = 0, failedAt = 0 } = letter ?? {};
    const times = [enqueuedAt > 0, enqueuedAt <= firstAttemptAt, firstAttemptAt <= failedAt];
    expectSame("whether its times are in order", times, [true, true, true]);
    await subject.passTime(LEASE_MS + 10_000);
    expectSame("claimed", (await take()).length, 0);
    expectSame("its state", (await store.find(id))[0]?.state, "dead");
  }),
  rule("a dead letter can have no attempt", async ({ put, takeOne, store, deadLetters }) => {
    await put(event("one"));
    const { lease } = await takeOne();
    await store.fail(lease, { reason: "unsendable", code: "OUTBOX_KEY_MISSING", blocksKey: false });
    const [letter] = await deadLetters();
    expectSame(
      "it",
      [letter?.reason, letter?.code, letter?.attempts],
      ["unsendable", "OUTBOX_KEY_MISSING", []],
    );
  }),
  rule("dead letters are listed in the order in which they failed, up to a limit", async (bench) => {
    const { put, take, store, subject, deadLetters } = bench;
    await put(event("third"), event("first"), event("second"));
    const claimed = await take();
    for (const text of ["first", "second", "third"]) {
      const one = claimed.find((each) => texts([each])[0] === text);
      const failure = { reason: "refused", code: "REQUEST_REFUSED", blocksKey: false } as const;
      if (one) await store.fail(one.lease, failure);
      await subject.passTime(1_000);
    }
    expectSame("all", texts(await deadLetters()), ["first", "second", "third"]);
    expectSame("two", texts(await deadLetters({}, { limit: 2 })), ["first", "second"]);
    await store.redrive({}, windowMs, { limit: 2 });
    expectSame("the rest", texts(await deadLetters()), ["third"]);
  }),
  rule("a filter's fields must all fit", async (bench) => {
    const { store, put, failOne, subject, take, deadLetters } = bench;
    const old = event("old");
    await put(old);
    await failOne({ reason: "attempts", code: "RECEIVER_UNAVAILABLE" });
    await subject.passTime(60_000);
    const now = await store.now();
    await put(event("refused"));
    await failOne();
    await put(event("elsewhere", { listener: OTHER_LISTENER }));
    const [other] = await take(1, [OTHER_LISTENER]);
    if (other) await store.fail(other.lease, { reason: "unsendable", code: "LEASE_LOST", blocksKey: false });
    const cases: [DeadLetterFilter, string[]][] = [
      [{ listener: LISTENER }, ["old", "refused"]],
      [{ listener: OTHER_LISTENER }, ["elsewhere"]],
      [{ ids: [old.id, newEventId()] }, ["old"]],
      [{ ids: [] }, []],
      [{ reason: "refused" }, ["refused"]],
      [{ reason: "unsendable" }, ["elsewhere"]],
      [{ code: "RECEIVER_UNAVAILABLE" }, ["old"]],
      [{ before: now - 10_000 }, ["old"]],
      [{ listener: LISTENER, reason: "unsendable" }, []],
    ];
    for (const [filter, wanted] of cases) {
      const name = JSON.stringify(filter);
      expectSame(`dead ${name}`, texts(await deadLetters(filter)), wanted);
      const { redriven } = await store.redrive(filter, windowMs, { dryRun: true });
      expectSame(`redrive ${name}`, redriven, wanted.length);
    }
    expectSame("a dry run redrove", (await take(100, [LISTENER, OTHER_LISTENER])).length, 0);
  }),
  rule("a redriven event is pending again under its id, with its history", async (bench) => {
    const { put, failOne, takeOne, deliver, store, deadLetters } = bench;
    const one = event("one");
    await put(one);
    await failOne();
    expectSame("redrive", await store.redrive({ ids: [one.id] }, windowMs), {
      redriven: 1,
      pastWindow: 0,
    });
    expectSame("redrive again", await store.redrive({}, windowMs), { redriven: 0, pastWindow: 0 });
    expectSame("dead letters", (await deadLetters()).length, 0);
    const claimed = await takeOne();
    expectSame("its id", claimed.event.id, one.id);
    expectSame("its attempts", [claimed.attempt, claimed.attemptsBeforeRedrive], [2, 1]);
    expectSame("whether it was sent before", claimed.sentBefore, true);
    await deliver(claimed.lease);
    expectSame("its history", (await store.find(one.id))[0]?.attempts.length, 2);
  }),
  rule("past the window a dead letter stays one, unless it gets a new id", async (bench) => {
    const { put, failOne, takeOne, store, subject, deadLetters } = bench;
    const one = event("one");
    await put(one);
    await failOne();
    await subject.passTime(windowMs + 10_000);
    for (const dryRun of [true, false])
      expectSame("redrive", await store.redrive({}, windowMs, { dryRun }), { redriven: 0, pastWindow: 1 });
    expectSame("dead letters", (await deadLetters()).length, 1);
    const result = await store.redrive({}, windowMs, { newIds: true });
    expectSame("redrive with new ids", result, { redriven: 1, pastWindow: 0 });
    const claimed = await takeOne();
    const { id } = claimed.event;
    expectSame("whether its id is a new UUID v4", id !== one.id && isEventId(id), true);
    expectSame("its text", texts([claimed]), ["one"]);
    expectSame("its attempts", [claimed.attempt, claimed.attemptsBeforeRedrive], [2, 1]);
    expectSame("the first attempt under it", claimed.firstAttemptAt, claimed.now);
    expectSame("whether it was sent before", claimed.sentBefore, false);
    expectSame("the history of the new id", (await store.find(id))[0]?.attempts.length, 1);
    expectSame("the old id", (await store.find(one.id)).length, 0);
  }),
  rule("a redrive takes at most its limit, the oldest dead letters first", async (bench) => {
    const { put, failOne, take, store, subject } = bench;
    for (const text of ["1", "2", "3"]) {
      await put(event(text));
      await failOne();
      await subject.passTime(1_000);
    }
    const { redriven } = await store.redrive({}, windowMs, { limit: 2 });
    expectSame("redriven", redriven, 2);
    expectSame("claimed", texts(await take()).sort(), ["1", "2"]);
  }),
  rule("a dropped dead letter is removed, and its key goes on", async (bench) => {
    const { store, put, failOne, take, subject, deadLetters } = bench;
    const keyed = (text: string) => event(text, { orderingKey: "k" });
    const [first, later] = [keyed("1"), keyed("2")];
    await put(first, later);
    await failOne({ blocksKey: true });
    await subject.passTime(1_000);
    await put(event("other"));
    await failOne();
    const refused = { code: "REQUEST_REFUSED" } as const;
    expectSame("dropped of no such code", await store.drop({ code: "LEASE_LOST" }), 0);
    expectSame("a dry run", await store.drop(refused, { dryRun: true }), 2);
    expectSame("claimed before", (await take()).length, 0);
    expectSame("dropped", await store.drop(refused, { limit: 1 }), 1);
    expectSame("still dead", texts(await deadLetters()), ["other"]);
    expectSame("the dropped one", await store.find(first.id), []);
    expectSame("claimed then", texts(await take()), ["2"]);
    expectSame("dropped at last", await store.drop({}), 1);
    await put(first);
    expectSame("the id is free again", (await store.find(first.id))[0]?.state, "pending");
  }),
  rule("a redriven event can become a dead letter again", async ({ put, failOne, store, deadLetters }) => {
    await put(event("one"));
    await failOne();
    await store.redrive({}, windowMs);
    await failOne({ code: "REDIRECT_REFUSED" });
    const [letter] = await deadLetters();
    expectSame("it", [letter?.code, letter?.attempts.length], ["REDIRECT_REFUSED", 2]);
  }),
];

const windowsOf = (blocksKey = false) => new Map([[LISTENER, { windowMs: WINDOW_MS, blocksKey }]]);

/** Expiry, lookups and removal. */
export const upkeepRules = [
  rule("an event becomes a dead letter when its window has closed, without another claim", async (bench) => {
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
  rule("a leased event does not expire before its lease", async (bench) => {
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
  rule("an expired event blocks its key only if its listener says so", async (bench) => {
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
    const { put, failOne, takeOne, deliver, store, subject } = bench;
    expectSame("of nothing", await store.stats(), []);
    await put(event("dead"));
    await failOne();
    await put(event("delivered"));
    await deliver((await takeOne()).lease);
    await put(event("in flight"));
    await takeOne();
    await put(event("oldest"));
    await subject.passTime(20_000);
    await put(event("younger"), event("elsewhere", { listener: OTHER_LISTENER }));
    const stats = new Map((await store.stats()).map((one) => [one.listener, one]));
    const { pending, inFlight, delivered, dead, oldestAgeMs: age = 0 } = stats.get(LISTENER) ?? {};
    expectSame("counts", [pending, inFlight, delivered, dead], [2, 1, 1, 1]);
    expectSame("whether the oldest is 20 s old", age >= 20_000 && age < 30_000, true);
    expectSame("pending elsewhere", stats.get(OTHER_LISTENER)?.pending, 1);
    await subject.passTime(LEASE_MS + 10_000);
    const later = (await store.stats()).find(({ listener }) => listener === LISTENER);
    expectSame("after the lease ran out", [later?.pending, later?.inFlight], [3, 0]);
  }),
  rule("stats show the age of the oldest pending event, whatever it waits for", async (bench) => {
    const { put, take, takeOne, store, subject } = bench;
    await put(event("to be tried again"));
    const { lease, now } = await takeOne();
    await store.reschedule(lease, now + 3_600_000, failed(1));
    const keyed = { listener: OTHER_LISTENER, orderingKey: "user-1" };
    await put(event("in flight", keyed), event("behind it", keyed));
    expectSame("claimed", texts(await take(2, [OTHER_LISTENER])), ["in flight"]);
    await subject.passTime(20_000);
    await put(event("new"), event("new", { listener: OTHER_LISTENER }));
    for (const { listener, pending, oldestAgeMs } of await store.stats()) {
      expectSame("pending", pending, 2);
      expectSame(`whether the oldest of ${listener} is 20 s old`, oldestAgeMs >= 20_000, true);
    }
  }),
  rule("prune removes events that ended long ago, and nothing else", async (bench) => {
    const { put, failOne, takeOne, deliver, store, subject } = bench;
    const [delivered, dead, pending] = [event("delivered"), event("dead"), event("pending")];
    await put(delivered);
    await deliver((await takeOne()).lease);
    await put(dead);
    await failOne();
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
  rule("a waiting event says which event of its key it waits behind", async (bench) => {
    const { store, put, take, failOne, deliver } = bench;
    const keyed = (text: string) => event(text, { orderingKey: "k" });
    const [first, second, third, free] = [keyed("1"), keyed("2"), keyed("3"), event("free")];
    await put(first, second, third);
    const behind = async ({ id }: { readonly id: string }) => {
      const [[found], [listed]] = await Promise.all([store.find(id), store.pending({ ids: [id] }, 1)]);
      if (listed) expectSame("listed", listed.waitsBehind ?? null, found?.waitsBehind ?? null);
      const { id: before, state } = found?.waitsBehind ?? {};
      return [found?.orderingKey, before, state];
    };
    expectSame("the first", await behind(first), ["k", undefined, undefined]);
    expectSame("the third", await behind(third), ["k", first.id, "pending"]);
    const [claimed] = await take();
    expectSame("under way", await behind(first), ["k", undefined, undefined]);
    expectSame("the second", await behind(second), ["k", first.id, "in-flight"]);
    if (claimed) await deliver(claimed.lease);
    expectSame("the second then", await behind(second), ["k", undefined, undefined]);
    await failOne({ blocksKey: true });
    expectSame("a dead letter", await behind(second), ["k", undefined, undefined]);
    expectSame("behind a dead letter", await behind(third), ["k", second.id, "dead"]);
    for await (const { failedAt } of store.deadLetters())
      expectSame("since when", (await store.find(third.id))[0]?.waitsBehind?.since, failedAt);
    await put(free);
    expectSame("without a key", await behind(free), [undefined, undefined, undefined]);
  }),
  rule("prune keeps a dead letter behind which events of its key wait", async (bench) => {
    const { store, put, failOne, take, subject, deadLetters } = bench;
    const [first, second] = [event("1", { orderingKey: "k" }), event("2", { orderingKey: "k" })];
    await put(first, second);
    await failOne({ blocksKey: true });
    await put(event("lets its key go on", { orderingKey: "other" }));
    await failOne();
    await subject.passTime(60_000);
    await put(event("3", { orderingKey: "other" }));
    const prune = async () => store.prune({ delivered: 0, dead: (await store.now()) - 1_000 });
    expectSame("removed", await prune(), 1);
    expectSame("kept", texts(await deadLetters()), ["1"]);
    expectSame("claimed", texts(await take()), ["3"]);
    await store.cancel({ ids: [second.id] });
    expectSame("removed when nothing waits behind it", await prune(), 1);
    await put(event("4", { orderingKey: "k" }));
    expectSame("claimed then", texts(await take()), ["4"]);
  }),
];
