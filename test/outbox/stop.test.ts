import { createOutbox, memoryStore } from "hookproof/outbox";
import type { OutboxStore } from "hookproof/outbox/store";
import { expect, it, vi } from "vitest";
import { outboxBench, waitFor } from "./bench-outbox.js";

it("stop claims no more and waits for what is under way", async () => {
  const bench = outboxBench();
  let answer = () => {};
  const mayAnswer = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const server = await bench.receiver({
    async intercept(request, response, receive) {
      await mayAnswer;
      await receive(request, response);
    },
  });
  const outbox = bench.outbox({ a: bench.listener(server), b: bench.listener(server) });
  await outbox.enqueue(["a", "b", "a", "b"].map((listener, n) => ({ listener, payload: { n } })));
  outbox.start();
  await waitFor(() => server.requests.length === 2);
  let stopped = false;
  const stop = outbox.stop().then(() => {
    stopped = true;
  });
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(stopped).toBe(false);
  answer();
  await stop;
  expect(server.runs.size).toBe(2);
  expect(await outbox.stats()).toMatchObject(Array(2).fill({ pending: 1, inFlight: 0, delivered: 1 }));
});

it("what was claimed while it was being stopped is given back, as nothing was sent", async () => {
  const bench = outboxBench();
  const server = await bench.receiver();
  let stopped: Promise<void> | undefined;
  const stopping: OutboxStore<never> = {
    ...bench.store,
    async claim(request) {
      const claimed = await bench.store.claim(request);
      if (claimed.length > 0) stopped = outbox.stop();
      return claimed;
    },
  };
  const outbox = bench.outbox({ a: bench.listener(server) }, { store: stopping });
  const { eventId } = await outbox.enqueue({ listener: "a", payload: {} });
  outbox.start();
  await waitFor(() => stopped !== undefined);
  await stopped;
  expect((await outbox.find(eventId))[0]).toMatchObject({ state: "pending", attempts: [] });
  expect(server.requests).toEqual([]);
  await bench.outbox({ a: bench.listener(server) }).drain();
  expect(bench.told("attempt-started")).toMatchObject([{ attempt: 1 }]);
});

it("has stopped once what it was claiming is given back, and not before", async () => {
  const bench = outboxBench();
  const server = await bench.receiver();
  const order: string[] = [];
  let comeBack: (() => void) | undefined;
  const store: OutboxStore<never> = {
    ...bench.store,
    async claim(request) {
      const claimed = await bench.store.claim(request);
      if (claimed.length > 0)
        await new Promise<void>((resolve) => {
          comeBack = resolve;
        });
      return claimed;
    },
    async release(leases) {
      await bench.store.release(leases);
      order.push("given back");
    },
  };
  const outbox = bench.outbox({ a: bench.listener(server) }, { store });
  await outbox.enqueue({ listener: "a", payload: {} });
  outbox.start();
  await waitFor(() => comeBack !== undefined);
  const stop = outbox.stop().then(() => order.push("stopped"));
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  comeBack?.();
  await stop;
  expect(order).toEqual(["given back", "stopped"]);
});

it("ends a drain as well, as a function that is about to be ended does", async () => {
  const bench = outboxBench();
  const server = await bench.receiver({ intercept: () => new Promise(() => {}) });
  const outbox = bench.outbox({ a: bench.listener(server) });
  const { eventId } = await outbox.enqueue({ listener: "a", payload: {} });
  const drain = outbox.drain();
  await waitFor(() => server.requests.length === 1);
  await outbox.stop({ timeoutMs: 0 });
  expect(await outbox.stats()).toMatchObject([{ pending: 1, inFlight: 0 }]);
  await drain;
  expect((await outbox.find(eventId))[0]).toMatchObject({ state: "pending" });
});

it("past its time it aborts attempts; their events are due again at once and run once in the end", async () => {
  const bench = outboxBench();
  let hangs = true;
  const server = await bench.receiver({
    async intercept(request, response, receive) {
      if (!hangs) return receive(request, response);
      // Accepted, and the answer never comes: the worst moment to be stopped.
      response.end = () => response;
      await receive(request, response);
    },
  });
  const outbox = bench.outbox({ a: bench.listener(server) });
  const { eventId } = await outbox.enqueue({ listener: "a", payload: {} });
  outbox.start();
  await waitFor(() => server.runs.size === 1);
  const stop = outbox.stop({ timeoutMs: 5_000 });
  bench.clock.advance(5_000);
  await stop;
  expect((await outbox.find(eventId))[0]).toMatchObject({
    state: "pending",
    dueAt: bench.storeClock.now(),
    attempts: [{ code: "ABORTED" }],
  });
  hangs = false;
  outbox.start();
  await waitFor(async () => (await outbox.find(eventId))[0]?.outcome === "delivered");
  await outbox.stop();
  expect(server.runs.get(eventId)).toBe(1);
});

it("stop without a start, twice, and start after a stop are all fine", async () => {
  const bench = outboxBench();
  const server = await bench.receiver();
  const outbox = bench.outbox({ a: bench.listener(server) });
  await outbox.stop();
  outbox.start();
  outbox.start();
  await Promise.all([outbox.stop(), outbox.stop()]);
  await outbox.enqueue({ listener: "a", payload: {} });
  outbox.start();
  await waitFor(() => server.runs.size === 1);
});

it("drain delivers what is due and leaves later retries waiting, started or not", async () => {
  const bench = outboxBench();
  const server = await bench.receiver({
    intercept(request, response, receive) {
      if (server.requests.length !== 1) return receive(request, response);
      request.resume();
      response.writeHead(500).end();
    },
  });
  const outbox = bench.outbox({
    a: bench.listener(server, { concurrency: 3, rate: { perSecond: 2_000, burst: 5 } }),
  });
  const enqueue = (count: number) =>
    outbox.enqueue(
      Array.from({ length: count }, (_, n) => ({ listener: "a", payload: { n }, orderingKey: `${n % 7}` })),
    );
  await enqueue(20);
  await bench.passDuring(outbox.drain(), 1);
  expect(server.runs.size).toBe(17); // the one that failed, and two behind it in its key
  outbox.start();
  await enqueue(20);
  await bench.passDuring(outbox.drain(), 1);
  expect((await outbox.stats())[0]?.inFlight).toBe(0);
  await bench.passUntil(() => server.runs.size === 40);
});

it("await using stops and closes the store", async () => {
  const bench = outboxBench();
  const server = await bench.receiver();
  const close = vi.fn(async () => {});
  const store = { ...memoryStore({ clock: bench.clock }), close };
  {
    await using outbox = createOutbox({
      store,
      listeners: { a: bench.listener(server) },
      clock: bench.clock,
    });
    outbox.start();
    await outbox.enqueue({ listener: "a", payload: {} });
    await waitFor(() => server.runs.size === 1);
  }
  expect(close).toHaveBeenCalledOnce();
});
