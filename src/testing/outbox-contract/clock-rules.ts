// Rules of a store's clock that is put back.
import { expectSame } from "../contract-case.js";
import {
  event,
  failed,
  LEASE_MS,
  LISTENER,
  OTHER_LISTENER,
  rule,
  sharesOf,
  type Trial,
  texts,
} from "./subject.js";

const HOUR_MS = 60 * 60_000;
const SECOND_MS = 1_000;

/** Whether a step is about an hour: the time at which the clock was last seen is up to a minute old. */
const isAboutAnHour = (ms: number) => ms > HOUR_MS - 70 * SECOND_MS && ms < HOUR_MS + 70 * SECOND_MS;

/** What may be noted of one event or its listener; each makes what it needs, and gives what notes it. */
const NOTED: Readonly<Record<string, (trial: Trial) => Promise<() => Promise<unknown>>>> = {
  "an event that was enqueued":
    async ({ put }) =>
    () =>
      put(event("one")),
  "a claim": async ({ put, takeOne, store }) => {
    await put(event("one"));
    return async () => store.release([(await takeOne()).lease]);
  },
  "a retry": async ({ put, takeOne, store }) => {
    await put(event("one"));
    const { lease, now } = await takeOne();
    return () => store.reschedule(lease, now, failed(1));
  },
  "a redrive": async ({ put, failOne, store }) => {
    await put(event("one"));
    await failOne();
    return () => store.redrive({}, HOUR_MS);
  },
  "a rest": async ({ put, store }) => {
    await put(event("one"));
    return () => store.rest(LISTENER, SECOND_MS);
  },
  "a pause": async ({ put, store }) => {
    await put(event("one"));
    return () => store.pause(LISTENER);
  },
  "an unknown name": async ({ put, store }) => {
    await put(event("one"));
    return () => store.unknown([LISTENER]);
  },
};

/** What becomes of waiting events, leases and rests when the clock is put back. */
export const clockRules = [
  rule("a clock that goes on is not followed", async ({ store, subject, put, take }) => {
    expectSame("at first", await store.followClock(), 0);
    await put(event("later", { deliverAt: (await store.now()) + HOUR_MS }));
    await subject.passTime(2 * 60 * SECOND_MS);
    expectSame("after two minutes", await store.followClock(), 0);
    await subject.passTime(-2 * SECOND_MS);
    expectSame("two seconds back", await store.followClock(), 0);
    expectSame("claimed", (await take()).length, 0);
  }),
  rule("what was due is due again when the clock is put back by an hour", async (bench) => {
    const { store, subject, put, take, failOne } = bench;
    await store.followClock();
    await put(event("redriven"));
    await failOne();
    await put(event("head", { orderingKey: "key" }), event("behind", { orderingKey: "key" }), event("alone"));
    await put(event("paused", { listener: OTHER_LISTENER }));
    await store.pause(OTHER_LISTENER);
    await store.redrive({}, HOUR_MS);
    await subject.passTime(-HOUR_MS);
    expectSame("claimed before", (await take()).length, 0);
    expectSame("by how much", isAboutAnHour(await store.followClock()), true);
    expectSame("and once", await store.followClock(), 0);
    expectSame("claimed", texts(await take()).sort(), ["alone", "head", "redriven"]);
    await store.resume(OTHER_LISTENER);
    expectSame("after its pause", texts(await take(1, [OTHER_LISTENER])), ["paused"]);
    await subject.passTime(LEASE_MS + SECOND_MS);
    const again = await take();
    expectSame("when their leases are over", texts(again).sort(), ["alone", "head", "redriven"]);
    for (const { lease } of again) await bench.deliver(lease);
    expectSame("the next of the key", texts(await take()), ["behind"]);
  }),
  rule("an age counts from when the clock was put back", async ({ store, subject, put }) => {
    await store.followClock();
    await put(event("one"));
    await subject.passTime(-HOUR_MS);
    await store.followClock();
    await subject.passTime(5 * 60 * SECOND_MS);
    const [{ oldestAgeMs } = { oldestAgeMs: 0 }] = await store.stats();
    expectSame(
      "about five minutes",
      oldestAgeMs >= 290 * SECOND_MS && oldestAgeMs < 20 * 60 * SECOND_MS,
      true,
    );
  }),
  rule(
    "a retry, a lease and a rest last as long as they were to",
    async ({ store, subject, put, take, takeOne }) => {
      await store.followClock();
      await put(event("retried"));
      const retried = await takeOne();
      await store.reschedule(retried.lease, retried.now + 10 * 60 * SECOND_MS, failed(1));
      await put(event("leased"));
      await takeOne();
      await put(event("resting", { listener: OTHER_LISTENER }));
      await store.rest(OTHER_LISTENER, 10 * 60 * SECOND_MS);
      await subject.passTime(-HOUR_MS);
      await store.followClock();
      const both = [LISTENER, OTHER_LISTENER];
      expectSame("at once", (await take(9, both)).length, 0);
      await subject.passTime(LEASE_MS + SECOND_MS);
      expectSame("after the lease", texts(await take(9, both)), ["leased"]);
      await subject.passTime(11 * 60 * SECOND_MS);
      const claimed = await store.claim({ limit: 9, leaseMs: LEASE_MS, listeners: sharesOf(both, 9) });
      expectSame("after ten minutes", texts(claimed).sort(), ["leased", "resting", "retried"]);
    },
  ),
  rule("a retry waits as long as it was to, though its attempt took longer than the step", async (trial) => {
    const { store, subject, put, take, takeOne } = trial;
    await store.followClock();
    await put(event("one"));
    const { lease, now } = await takeOne();
    await subject.passTime(HOUR_MS / 2); // as on a machine that stood still
    await store.followClock();
    const at = await store.now();
    // Where the stored times were moved and not the clock, the lease ends as much sooner.
    const expiresAt = lease.expiresAt - (HOUR_MS / 2 - (at - now));
    await store.reschedule({ ...lease, expiresAt }, at + 10 * SECOND_MS, failed(1));
    await subject.passTime(-HOUR_MS / 3);
    await store.followClock();
    await subject.passTime(12 * SECOND_MS);
    expectSame("claimed", texts(await take()), ["one"]);
  }),
  ...Object.entries(NOTED).map(([what, note]) =>
    rule(`${what} while nobody looked at the clock tells that it was put back`, async (trial) => {
      const { store, subject, take } = trial;
      const write = await note(trial);
      await store.followClock();
      await subject.passTime(HOUR_MS / 2);
      await write();
      await subject.passTime(-HOUR_MS / 3);
      const backMs = await store.followClock();
      expectSame("about 20 minutes", backMs > 19 * 60 * SECOND_MS && backMs < 21 * 60 * SECOND_MS, true);
      expectSame("and once", await store.followClock(), 0);
      await subject.passTime(2 * SECOND_MS);
      await store.resume(LISTENER);
      await store.changed(LISTENER);
      expectSame("claimed", texts(await take()), ["one"]);
    }),
  ),
  rule("an attempt that is under way when the clock is put back ends as ever", async (bench) => {
    const { store, subject, put, take, takeOne, deliver } = bench;
    await store.followClock();
    await put(event("one"), event("two"), event("three"), event("four"));
    const [one, two, three] = [await takeOne(), await takeOne(), await takeOne()];
    await subject.passTime(-HOUR_MS);
    await store.followClock();
    expectSame("delivered", await deliver(one.lease), 1);
    await store.release([two.lease]);
    await store.reschedule(three.lease, three.now + 60 * SECOND_MS, failed(1));
    expectSame("claimed", texts(await take()).sort(), ["four", "two"]);
    await subject.passTime(LEASE_MS - 5 * SECOND_MS);
    expectSame("too early for the retry", (await take()).length, 0);
    await subject.passTime(10 * SECOND_MS);
    expectSame("in time", texts(await take()).includes("three"), true);
  }),
  rule("a claim that is released counts as it did before the clock was put back", async (bench) => {
    const { store, subject, put, takeOne } = bench;
    await store.followClock();
    await put(event("one"));
    const first = await takeOne();
    await subject.passTime(-HOUR_MS);
    await store.followClock();
    await store.release([first.lease]);
    const again = await takeOne();
    expectSame("the first attempt again", [again.attempt, again.sentBefore], [1, false]);
    await store.reschedule(again.lease, again.now, failed(1));
    await subject.passTime(SECOND_MS);
    const second = await takeOne();
    await subject.passTime(-HOUR_MS);
    await store.followClock();
    await store.release([second.lease]);
    const last = await takeOne();
    expectSame("the second attempt again", [last.attempt, last.sentBefore], [2, true]);
  }),
  rule("a dead letter of before the clock was put back is redriven as one that was sent", async (bench) => {
    const { store, subject, put, failOne, take, takeOne } = bench;
    await store.followClock();
    await put(event("one"), event("two"), event("three"));
    for (let dead = 0; dead < 3; dead++) await failOne();
    await subject.passTime(-HOUR_MS);
    const redriven = async () => {
      await store.redrive({}, HOUR_MS, { limit: 1 });
      return takeOne();
    };
    const leased = await redriven();
    expectSame("at once", [leased.attempt, leased.sentBefore], [2, true]);
    const retried = await redriven();
    await store.reschedule(retried.lease, retried.now + 10 * 60 * SECOND_MS, failed(2));
    await store.followClock();
    expectSame("a lease and a retry of after it stay", (await take()).length, 0);
    const later = await redriven();
    expectSame("later", [later.attempt, later.sentBefore], [2, true]);
  }),
  rule("a time that was given stays, when the clock is put back", async ({ store, subject, put, take }) => {
    await store.followClock();
    const at = (await store.now()) + 30 * 60 * SECOND_MS;
    await put(event("at a time", { deliverAt: at }));
    await subject.passTime(-HOUR_MS);
    const aheadMs = at - (await store.now());
    await store.followClock();
    if (aheadMs < 60 * 60 * SECOND_MS) return; // the stored times were moved, and not the clock
    await subject.passTime(aheadMs - 60 * SECOND_MS);
    expectSame("before it", (await take()).length, 0);
    await subject.passTime(2 * 60 * SECOND_MS);
    expectSame("after it", texts(await take()), ["at a time"]);
  }),
];
