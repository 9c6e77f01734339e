// Rules of workers and their last signs of life.
import { newEventId } from "../../core/event.js";
import type { OutboxStore } from "../../outbox/outbox-store.js";
import { expectSame } from "../contract-case.js";
import { rule, type Trial } from "./subject.js";

const SECOND_MS = 1_000;
const HOUR_MS = 60 * 60 * SECOND_MS;
const MINUTE_MS = 60 * SECOND_MS;

const workerRule = (name: string, check: (trial: Trial, store: OutboxStore) => Promise<void>) =>
  rule(name, (trial) => check(trial, trial.store));

const worker = (name: string, runsForMs = 0) => ({ id: newEventId(), name, runsForMs });

/** For how long a store's workers have been silent, and how long they had run by then, in whole minutes. */
async function seen(store: OutboxStore): Promise<[name: string, silent: number, ran: number][]> {
  const now = await store.now();
  const minutes = (ms: number) => Math.round(ms / MINUTE_MS);
  return (await store.workers()).map(({ name, startedAt, lastSeenAt, silentMs }) => {
    expectSame(`when ${name} was last seen`, minutes(now - lastSeenAt), minutes(silentMs));
    return [name, minutes(silentMs), minutes(lastSeenAt - startedAt)];
  });
}

/** What is said of workers that run, that were stopped, and that were killed. */
export const workerRules = [
  workerRule(
    "two workers are seen: one that stops is gone, and one that is killed stays",
    async (trial, store) => {
      const [stopped, killed] = [worker("stopped"), worker('killed "1", ключ', 2 * HOUR_MS)];
      await store.alive(stopped);
      await store.alive(killed);
      const another = await trial.subject.open();
      expectSame("both", (await seen(another)).sort(), [
        [killed.name, 0, 120],
        ["stopped", 0, 0],
      ]);
      await trial.subject.passTime(3 * MINUTE_MS);
      await store.alive({ ...stopped, runsForMs: 3 * MINUTE_MS });
      expectSame("the one seen last first", await seen(another), [
        ["stopped", 0, 3],
        [killed.name, 3, 120],
      ]);
      await store.alive({ ...stopped, runsForMs: 3 * MINUTE_MS }, true);
      expectSame("the one that was killed", await seen(another), [[killed.name, 3, 120]]);
      await store.alive(worker("never seen"), true);
      expectSame("after one that was never seen has stopped", (await seen(another)).length, 1);
    },
  ),
  workerRule("a worker that was not seen for a day is forgotten", async ({ subject }, store) => {
    const [old, asleep] = [worker("old"), worker("asleep")];
    await store.alive(old);
    await store.alive(asleep);
    await subject.passTime(23 * HOUR_MS);
    await store.alive(worker("new"));
    expectSame("after 23 hours", (await seen(store)).length, 3);
    await subject.passTime(2 * HOUR_MS);
    await store.alive({ ...asleep, runsForMs: 25 * HOUR_MS });
    expectSame("after 25 hours", await seen(store), [
      ["asleep", 0, 25 * 60],
      ["new", 120, 0],
    ]);
  }),
  workerRule("so many workers are shown, those seen last", async ({ subject }, store) => {
    await store.alive(worker("old"));
    await subject.passTime(MINUTE_MS);
    for (let n = 0; n < 99; n++) await store.alive(worker("new"));
    expectSame("a hundred", (await store.workers()).length, 100);
    await store.alive(worker("new"));
    const names = new Set((await store.workers()).map(({ name }) => name));
    expectSame("one more", [(await store.workers()).length, ...names], [100, "new"]);
  }),
  workerRule(
    "what a worker was last seen at keeps its age when the clock is put back",
    async (trial, store) => {
      const [killed, running] = [worker("killed", HOUR_MS), worker("running")];
      await store.alive(killed);
      await trial.subject.passTime(3 * MINUTE_MS);
      await store.followClock();
      await store.alive(running);
      await trial.subject.passTime(-HOUR_MS);
      await store.alive({ ...running, runsForMs: MINUTE_MS });
      await store.followClock();
      await trial.subject.passTime(10 * MINUTE_MS);
      expectSame("both", await seen(store), [
        ["running", 10, 1],
        ["killed", 13, 60],
      ]);
    },
  ),
];
