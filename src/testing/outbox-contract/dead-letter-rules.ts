import type { DeadLetterFilter } from "../outbox/outbox-store.js";
import { newEventId } from "../protocol/event-id.js";
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
  WINDOW_MS,
} from "./outbox-contract-subject.js";

const windowMs = WINDOW_MS;
const refused = (number: number) =>
  attemptRecord(number, { status: 400, code: "REQUEST_REFUSED", answer: '{"code":"BODY_NOT_JSON"}' });

/** What becomes of events that could not be delivered. */
export const deadLetterRules = [
  rule("a dead letter keeps the event, its reason and its whole history", async (bench) => {
    const { put, takeOne, take, store, subject, deadLetters } = bench;
    const one = event("one", { orderingKey: "k", traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01` });
    await put(one);
    const first = await takeOne();
    await store.reschedule(first.lease, first.now, failed(1));
    const { lease } = await takeOne();
    const burial = {
      reason: "refused",
      code: "REQUEST_REFUSED",
      attempt: refused(2),
      blocksKey: false,
    } as const;
    expectSame("bury", await store.bury(lease, burial), true);
    expectSame("bury again", await store.bury(lease, burial), false);
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
    const { enqueuedAt = 0, firstAttemptAt = 0, diedAt = 0 } = letter ?? {};
    const times = [enqueuedAt > 0, enqueuedAt <= firstAttemptAt, firstAttemptAt <= diedAt];
    expectSame("whether its times are in order", times, [true, true, true]);
    await subject.passTime(LEASE_MS + 10_000);
    expectSame("claimed", (await take()).length, 0);
    expectSame("its state", (await store.find(id))[0]?.state, "dead");
  }),
  rule("a burial without an attempt is told as well", async ({ put, takeOne, store, deadLetters }) => {
    await put(event("one"));
    const { lease } = await takeOne();
    await store.bury(lease, { reason: "unsendable", code: "OUTBOX_KEY_MISSING", blocksKey: false });
    const [letter] = await deadLetters();
    expectSame(
      "it",
      [letter?.reason, letter?.code, letter?.attempts],
      ["unsendable", "OUTBOX_KEY_MISSING", []],
    );
  }),
  rule("dead letters come by the order of their deaths, as many as are wanted", async (bench) => {
    const { put, take, store, subject, deadLetters } = bench;
    await put(event("third"), event("first"), event("second"));
    const claimed = await take();
    for (const text of ["first", "second", "third"]) {
      const one = claimed.find((each) => texts([each])[0] === text);
      const burial = { reason: "refused", code: "REQUEST_REFUSED", blocksKey: false } as const;
      if (one) await store.bury(one.lease, burial);
      await subject.passTime(1_000);
    }
    expectSame("all", texts(await deadLetters()), ["first", "second", "third"]);
    expectSame("two", texts(await deadLetters({}, { limit: 2 })), ["first", "second"]);
    await store.redrive({}, { limit: 2, windowMs });
    expectSame("the rest", texts(await deadLetters()), ["third"]);
  }),
  rule("a filter's fields must all fit", async (bench) => {
    const { store, put, kill, subject, take, deadLetters } = bench;
    const old = event("old");
    await put(old);
    await kill({ reason: "attempts", code: "RECEIVER_UNAVAILABLE" });
    await subject.passTime(60_000);
    const now = await store.now();
    await put(event("refused"));
    await kill();
    await put(event("elsewhere", { listener: OTHER_LISTENER }));
    const [other] = await take(1, [OTHER_LISTENER]);
    if (other) await store.bury(other.lease, { reason: "lost", code: "LEASE_LOST", blocksKey: false });
    const cases: [DeadLetterFilter, string[]][] = [
      [{ listener: LISTENER }, ["old", "refused"]],
      [{ listener: OTHER_LISTENER }, ["elsewhere"]],
      [{ ids: [old.id, newEventId()] }, ["old"]],
      [{ ids: [] }, []],
      [{ reason: "refused" }, ["refused"]],
      [{ reason: "lost" }, ["elsewhere"]],
      [{ code: "RECEIVER_UNAVAILABLE" }, ["old"]],
      [{ before: now - 10_000 }, ["old"]],
      [{ listener: LISTENER, reason: "lost" }, []],
    ];
    for (const [filter, wanted] of cases) {
      const name = JSON.stringify(filter);
      expectSame(`dead ${name}`, texts(await deadLetters(filter)), wanted);
      const { redriven } = await store.redrive(filter, { dryRun: true, windowMs });
      expectSame(`redrive ${name}`, redriven, wanted.length);
    }
    expectSame("a dry run redrove", (await take(100, [LISTENER, OTHER_LISTENER])).length, 0);
  }),
  rule("a redriven event is pending again under its id, with its history", async (bench) => {
    const { put, kill, takeOne, complete, store, deadLetters } = bench;
    const one = event("one");
    await put(one);
    await kill();
    expectSame("redrive", await store.redrive({ ids: [one.id] }, { windowMs }), {
      redriven: 1,
      pastWindow: 0,
    });
    expectSame("redrive again", await store.redrive({}, { windowMs }), { redriven: 0, pastWindow: 0 });
    expectSame("dead letters", (await deadLetters()).length, 0);
    const claimed = await takeOne();
    expectSame("its id", claimed.event.id, one.id);
    expectSame("its attempts", [claimed.attempt, claimed.attemptsBeforeRedrive], [2, 1]);
    expectSame("whether it was sent before", claimed.sentBefore, true);
    await complete(claimed.lease);
    expectSame("its history", (await store.find(one.id))[0]?.attempts.length, 2);
  }),
  rule("past the window a dead letter stays one, unless it gets a new id", async (bench) => {
    const { put, kill, takeOne, store, subject, deadLetters } = bench;
    const one = event("one");
    await put(one);
    await kill();
    await subject.passTime(windowMs + 10_000);
    for (const dryRun of [true, false])
      expectSame("redrive", await store.redrive({}, { dryRun, windowMs }), { redriven: 0, pastWindow: 1 });
    expectSame("dead letters", (await deadLetters()).length, 1);
    const id = newEventId();
    const result = await store.redrive({}, { newId: () => id, windowMs });
    expectSame("redrive with new ids", result, { redriven: 1, pastWindow: 0 });
    const claimed = await takeOne();
    expectSame("its id", claimed.event.id, id);
    expectSame("its text", texts([claimed]), ["one"]);
    expectSame("its attempts", [claimed.attempt, claimed.attemptsBeforeRedrive], [2, 1]);
    expectSame("the first attempt under it", claimed.firstAttemptAt, claimed.now);
    expectSame("whether it was sent before", claimed.sentBefore, false);
    expectSame("the history of the new id", (await store.find(id))[0]?.attempts.length, 1);
    expectSame("the old id", (await store.find(one.id)).length, 0);
  }),
  rule("a redrive takes no more than it is told to, those that died first", async (bench) => {
    const { put, kill, take, store, subject } = bench;
    for (const text of ["1", "2", "3"]) {
      await put(event(text));
      await kill();
      await subject.passTime(1_000);
    }
    const { redriven } = await store.redrive({}, { limit: 2, windowMs });
    expectSame("redriven", redriven, 2);
    expectSame("claimed", texts(await take()).sort(), ["1", "2"]);
  }),
  rule("what is dropped is gone, and lets its key go on", async (bench) => {
    const { store, put, kill, take, subject, deadLetters } = bench;
    const keyed = (text: string) => event(text, { orderingKey: "k" });
    const [first, later] = [keyed("1"), keyed("2")];
    await put(first, later);
    await kill({ blocksKey: true });
    await subject.passTime(1_000);
    await put(event("other"));
    await kill();
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
  rule("a redriven event may die again", async ({ put, kill, store, deadLetters }) => {
    await put(event("one"));
    await kill();
    await store.redrive({}, { windowMs });
    await kill({ code: "REDIRECT_REFUSED" });
    const [letter] = await deadLetters();
    expectSame("it", [letter?.code, letter?.attempts.length], ["REDIRECT_REFUSED", 2]);
  }),
];
