import { hostname } from "node:os";
import { HookproofError } from "hookproof";
import type { OutboxStore } from "hookproof/outbox/store";
import { expect, it, onTestFinished, vi } from "vitest";
import { outboxBench, waitFor } from "./bench-outbox.js";

type Alive = OutboxStore["alive"];

/** A bench whose store does something of its own with each sign of life, and counts them. */
async function bench(alive?: (own: Alive, ...given: Parameters<Alive>) => Promise<void>) {
  const made = outboxBench();
  const server = await made.receiver();
  const signs: Parameters<Alive>[] = [];
  const own = made.store.alive;
  const store: OutboxStore<never> = {
    ...made.store,
    alive: (...given) => {
      signs.push(given);
      return alive ? alive(own, ...given) : own(...given);
    },
  };
  const outbox = (options = {}) => made.outbox({ a: made.listener(server) }, { store, ...options });
  return { ...made, server, signs, outbox };
}

it("a worker says each ten seconds that it is alive, and is gone once it has stopped", async () => {
  const { outbox, signs, pass, storeClock } = await bench();
  const worker = outbox({ worker: "web 1" });
  const startedAt = storeClock.now();
  worker.start();
  await pass(60_000);
  expect(signs).toHaveLength(7); // the first at once
  const seen = { id: signs[0]?.[0].id, name: "web 1", startedAt };
  expect(await worker.workers()).toEqual([{ ...seen, lastSeenAt: startedAt + 60_000, silentMs: 0 }]);
  await worker.stop();
  expect(signs).toHaveLength(8);
  expect(await worker.workers()).toEqual([]);
});

it("one that was killed stays with its last sign, and its process's name", async () => {
  const { outbox, pass, storeClock } = await bench(async (own, worker, isGone) => {
    if (!isGone) await own(worker);
  });
  const killed = outbox();
  const startedAt = storeClock.now();
  killed.start();
  await pass(5_000, 100);
  await killed.stop(); // which its store does not hear of
  await pass(180_000);
  const running = outbox();
  expect(await running.workers()).toMatchObject([
    { name: `${hostname()}:${process.pid}`, startedAt, lastSeenAt: startedAt, silentMs: 185_000 },
  ]);
});

it("a drain is a worker while it runs", async () => {
  const { outbox, signs } = await bench();
  const drained = outbox();
  await drained.enqueue({ listener: "a", payload: {} });
  await drained.drain();
  expect(signs.map(([, isGone]) => isGone)).toEqual([false, true]);
  expect(await drained.workers()).toEqual([]);
});

it("a sign that cannot be stored stops nothing, and is told once", async () => {
  let isRefused = true;
  const { outbox, signs, server, pass, quiet, told } = await bench(async (own, ...given) => {
    if (isRefused) throw new HookproofError("OUTBOX_UNAVAILABLE", "permission denied for table worker");
    await own(...given);
  });
  const worker = outbox();
  worker.start();
  await pass(60_000);
  await worker.enqueue({ listener: "a", payload: {} });
  await quiet();
  expect(server.runs.size).toBe(1);
  expect(signs).toHaveLength(7); // the first at once
  expect(told("store-changed")).toEqual([]);
  expect(told("warning").map(({ message }) => message)).toEqual([
    'The outbox cannot note that this worker is alive; events are delivered all the same. Cause: "permission denied for table worker"',
  ]);
  isRefused = false;
  await pass(20_000);
  expect(await worker.workers()).toHaveLength(1);
});

it("a store that never answers a sign holds up no delivery and no stop, and is asked once", async () => {
  const { outbox, signs, server, pass, quiet } = await bench(() => new Promise(() => {}));
  const worker = outbox();
  worker.start();
  await pass(60_000);
  await worker.enqueue({ listener: "a", payload: {} });
  await quiet();
  expect(server.runs.size).toBe(1);
  expect(signs).toHaveLength(1);
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  let isStopped = false;
  const stopped = worker.stop().then(() => {
    isStopped = true;
  });
  await vi.advanceTimersByTimeAsync(1_999);
  expect(isStopped).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  await stopped;
});

it("a store in JavaScript that lacks workers is said to, and delivers", async () => {
  const made = outboxBench();
  const server = await made.receiver();
  const { alive: _, workers: __, ...store } = made.store;
  const outbox = made.outbox({ a: made.listener(server) }, { store: store as OutboxStore });
  outbox.start();
  await outbox.enqueue({ listener: "a", payload: {} });
  await waitFor(() => server.runs.size === 1 && made.told("warning").length > 0);
  expect(made.told("warning")).toEqual([
    expect.objectContaining({ message: expect.stringContaining("cannot note that this worker is alive") }),
  ]);
});

it.each(["", "x".repeat(201), "a\0b", "\ud800"])("a worker's name is a short text: %j", async (worker) => {
  const { outbox } = await bench();
  expect(() => outbox({ worker })).toThrow("worker must be a name of 1 to 200 characters");
});
