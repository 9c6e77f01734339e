import { expect, it } from "vitest";
import { outboxBench, waitFor } from "./bench-outbox.js";

it("each worker takes only listeners it knows, and an event goes to one of them", async () => {
  const bench = outboxBench();
  const [one, two, shared] = [await bench.receiver(), await bench.receiver(), await bench.receiver()];
  const first = bench.outbox({ one: bench.listener(one), shared: bench.listener(shared) });
  const second = bench.outbox({
    two: bench.listener(two),
    shared: bench.listener(shared, { concurrency: 2 }),
  });
  await first.enqueue(Array.from({ length: 20 }, (_, n) => ({ listener: "one", payload: { n } })));
  await second.enqueue(Array.from({ length: 20 }, (_, n) => ({ listener: "two", payload: { n } })));
  await first.enqueue(Array.from({ length: 100 }, (_, n) => ({ listener: "shared", payload: { n } })));
  expect(() => first.enqueue({ listener: "two", payload: {} })).toThrow(/"two".*"one", "shared"/);
  second.start();
  await bench.passUntil(() => two.runs.size === 20 && shared.runs.size > 0);
  expect(one.runs.size).toBe(0);
  expect((await second.stats()).find(({ listener }) => listener === "one")).toMatchObject({ pending: 20 });
  first.start();
  await bench.passUntil(() => one.runs.size === 20 && shared.runs.size === 100);
  expect(shared.requests).toHaveLength(100);
});

it("a worker with another idea of the window keeps to its own", async () => {
  const bench = outboxBench();
  const server = await bench.receiver({
    intercept(request, response) {
      request.resume();
      response.writeHead(500).end();
    },
  });
  const patient = bench.outbox({ a: bench.listener(server) });
  const hasty = bench.outbox({
    a: bench.listener(server, { retry: { windowMs: 1_000, firstDelayMs: 5_000 } }),
  });
  const { eventId } = await patient.enqueue({ listener: "a", payload: {} });
  patient.start();
  await waitFor(() => bench.told("retry-scheduled").length === 1);
  await patient.stop();
  bench.clock.advance(10_000);
  hasty.start();
  await waitFor(async () => (await patient.find(eventId))[0]?.state === "dead");
  expect(server.requests).toHaveLength(1);
});
