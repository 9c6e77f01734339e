import { fixedClock } from "hookproof/testing";
import { expect, it } from "vitest";
import type { Expressions } from "../../service/src/automations/expressions.js";
import { createRunWorker } from "../../service/src/automations/run-worker.js";
import { silentLog } from "../../service/src/server/log.js";
import type { Run } from "../../service/src/storage/runs.js";
import { openStorage } from "../../service/src/storage/storage.js";

const STEPS = [{ name: "a", condition: "", templates: { x: "{{ 1 }}" } }];
type Asked = Parameters<Expressions["values"]>[0] & {
  settle(outcome?: Awaited<ReturnType<Expressions["values"]>>): void;
  fail(error: Error): void;
};

/** A worker whose expressions are answered by the test, in a database in memory with automations. */
async function workerWith(automationIds: string[]) {
  const clock = fixedClock(1_000);
  const storage = await openStorage(undefined, clock);
  for (const id of automationIds)
    storage.automations.put({
      id,
      displayName: id,
      trigger: { hmac: {} },
      allowedCidrs: [],
      published: true,
      enabled: true,
      steps: STEPS,
      listenerId: id,
      hmacSecret: "any",
      createdAt: 0,
      updatedAt: 0,
    });
  const asked: Asked[] = [];
  const expressions = {
    values: (evaluation) =>
      new Promise((resolve, reject) => {
        asked.push({
          ...evaluation,
          settle: (outcome = { ok: true, value: ["1"] }) => resolve(outcome),
          fail: reject,
        });
      }),
  } as Partial<Expressions> as Expressions;
  const ended: Run[] = [];
  const options = { runs: storage.runs, expressions, clock, log: silentLog };
  const worker = createRunWorker({ ...options, onRun: (run) => ended.push(run) });
  const add = (automationId: string, id: string) => {
    storage.runs.add({
      id,
      automationId,
      eventId: id,
      body: `"${id}"`,
      steps: STEPS,
      createdAt: clock.now(),
    });
    clock.advance(1);
  };
  const askedFor = () => asked.map(({ context }) => JSON.parse(context).trigger);
  const endedIds = () => ended.map(({ id }) => id);
  return { add, asked, askedFor, endedIds, storage, worker };
}

it("runs automations side by side, and those of one in the order of their events", async () => {
  const { add, asked, askedFor, endedIds, worker } = await workerWith(["hangs", "other"]);
  for (const id of ["hang-1", "hang-2"]) add("hangs", id);
  for (const id of ["other-1", "other-2"]) add("other", id);
  worker.wake("hangs");
  worker.wake("other");
  await expect.poll(() => askedFor()).toEqual(["hang-1", "other-1"]);
  asked[1]?.settle();
  await expect.poll(() => askedFor()).toEqual(["hang-1", "other-1", "other-2"]);
  add("other", "other-3");
  worker.wake("other");
  asked[2]?.settle();
  await expect.poll(() => askedFor()).toHaveLength(4);
  asked[3]?.settle();
  await expect.poll(() => endedIds()).toEqual(["other-1", "other-2", "other-3"]);
  asked[0]?.settle();
  await expect.poll(() => askedFor()[4]).toBe("hang-2");
});

it("runs at most 100 automations at the same time, and lets them take turns", async () => {
  const ids = Array.from({ length: 102 }, (_, index) => `a${index}`);
  const { add, asked, askedFor, worker } = await workerWith(ids);
  for (const id of [...ids, "a0"]) add(id, `${id}-${id === "a0" ? Math.random() : 1}`);
  worker.start();
  await expect.poll(() => asked).toHaveLength(100);
  await new Promise((resolve) => setImmediate(resolve));
  expect(asked).toHaveLength(100);
  asked[0]?.settle();
  await expect.poll(() => askedFor()[100]).toBe("a100-1");
  asked[1]?.settle();
  await expect.poll(() => askedFor()[101]).toBe("a101-1");
  asked[2]?.settle();
  // The first automation has had its turn, and its second run comes behind all that waited.
  await expect.poll(() => askedFor()[102]).toMatch(/^a0-/);
});

it("takes up what a crash has left, and goes on where one automation's runs cannot be worked off", async () => {
  const { add, asked, askedFor, endedIds, storage, worker } = await workerWith(["broken", "left"]);
  add("broken", "broken-1");
  add("left", "left-1");
  storage.runs.begin("left", 0);
  worker.start();
  await expect.poll(() => askedFor()).toEqual(["broken-1", "left-1"]);
  asked[0]?.fail(new Error("no memory"));
  asked[1]?.settle();
  await expect.poll(() => endedIds()).toEqual(["left-1"]);
  add("broken", "broken-2");
  worker.wake("broken");
  await expect.poll(() => askedFor()[2]).toBe("broken-1");
});

it("stops with what is under way, which is done at the next start", async () => {
  const { add, asked, askedFor, endedIds, storage, worker } = await workerWith(["a", "b"]);
  add("a", "a-1");
  add("a", "a-2");
  worker.wake("a");
  await expect.poll(() => asked).toHaveLength(1);
  const stopped = worker.stop();
  asked[0]?.fail(new Error("The service has stopped."));
  await stopped;
  worker.wake("b");
  expect(askedFor()).toEqual(["a-1"]);
  expect(endedIds()).toEqual([]);
  expect(storage.runs.unfinished()).toEqual(["a"]);
});
