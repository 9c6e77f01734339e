import { createEvent } from "hookproof";
import { expect, it } from "vitest";
import { outboxBench } from "./bench-outbox.js";

const DAY_MS = 86_400_000;

async function withDeadLetters() {
  const bench = outboxBench();
  let broken = true;
  const server = await bench.receiver({
    intercept(request, response, receive) {
      if (!broken) return receive(request, response);
      request.resume();
      response.writeHead(400).end();
    },
  });
  const outbox = bench.outbox({
    a: bench.listener(server),
    b: bench.listener(server, { retry: { windowMs: 60_000 } }),
  });
  const events = await outbox.enqueue(["a", "a", "b"].map((listener, n) => ({ listener, payload: { n } })));
  await outbox.drain();
  return {
    bench,
    server,
    outbox,
    ids: events.map(({ eventId }) => eventId),
    mend() {
      broken = false;
    },
  };
}

it("redrive shows what it would do, does it, and the same id arrives", async () => {
  const { outbox, server, ids, mend } = await withDeadLetters();
  expect(await outbox.redrive({}, { dryRun: true })).toEqual({ redriven: 3, pastWindow: 0 });
  expect(await outbox.redrive({ listener: "a" }, { dryRun: true })).toEqual({ redriven: 2, pastWindow: 0 });
  expect((await outbox.stats()).reduce((sum, { dead }) => sum + dead, 0)).toBe(3);
  mend();
  expect(await outbox.redrive({}, { limit: 2 })).toEqual({ redriven: 2, pastWindow: 0 });
  expect(await outbox.redrive()).toEqual({ redriven: 1, pastWindow: 0 });
  await outbox.drain();
  expect([...server.runs.keys()].sort()).toEqual([...ids].sort());
});

it("past a listener's own window it takes a new id, which is told by the result", async () => {
  const { bench, outbox, server, ids, mend } = await withDeadLetters();
  bench.clock.advance(120_000);
  mend();
  expect(await outbox.redrive()).toEqual({ redriven: 2, pastWindow: 1 });
  expect(await outbox.redrive({}, { newIds: true })).toEqual({ redriven: 1, pastWindow: 0 });
  await outbox.drain();
  expect(server.runs.size).toBe(3);
  expect(server.runs.has(ids[2] ?? "")).toBe(false);
});

it("a redriven event has all its attempts again, and keeps its history", async () => {
  const bench = outboxBench();
  const server = await bench.receiver({
    intercept(request, response) {
      request.resume();
      response.writeHead(500).end();
    },
  });
  const retry = { maxAttempts: 2, firstDelayMs: 1_000 };
  const outbox = bench.outbox({ a: bench.listener(server, { retry, breaker: false }) });
  const { eventId } = await outbox.enqueue({ listener: "a", payload: {} });
  outbox.start();
  const died = (times: number) => bench.told("delivery-ended").length === times;
  await bench.passUntil(() => died(1));
  await outbox.redrive();
  const before = bench.told("retry-scheduled").length;
  await bench.passUntil(() => died(2));
  expect((await outbox.find(eventId))[0]?.attempts.map(({ number }) => number)).toEqual([1, 2, 3, 4]);
  // The schedule starts anew: 1 s and a quarter of jitter after its first attempt, not 4 s.
  expect(bench.told("retry-scheduled")[before]).toMatchObject({ attempt: 4, delayMs: 1_250 });
});

it("a 409 for the new id of a redriven event is a duplicate: nothing was sent under it before", async () => {
  const { bench, outbox, ids, mend } = await withDeadLetters();
  bench.clock.advance(7 * DAY_MS);
  mend();
  const store = bench.store;
  await store.redrive({ ids: [ids[2] ?? ""] }, DAY_MS, { newIds: true });
  const listeners = new Map([["b", { most: 1, windowMs: DAY_MS }]]);
  const [claimed] = await store.claim({ limit: 1, leaseMs: 1_000, listeners });
  if (!claimed) throw new Error("nothing was redriven");
  await store.release([claimed.lease]);
  const used = claimed.event.id;
  await outbox.enqueue({ listener: "a", payload: { other: true }, eventId: used });
  await outbox.drain();
  const found = await outbox.find(used);
  expect(found.map(({ listener, outcome }) => [listener, outcome]).sort()).toEqual([
    ["a", "delivered"],
    ["b", "duplicate"],
  ]);
});

it("what has ended is kept for as long as it is to be, and an id is recognised until then", async () => {
  const { bench, outbox, server, mend } = await withDeadLetters();
  mend();
  const event = createEvent({ kept: true });
  await outbox.enqueue({ listener: "a", payload: event });
  outbox.start();
  await bench.passUntil(() => server.runs.size === 1);
  await bench.passUntil(() => bench.clock.now() > Date.parse("2026-01-07T23:00:00Z"), DAY_MS / 4);
  await outbox.enqueue({ listener: "a", payload: event });
  expect((await outbox.find(event.id))[0]?.state).toBe("delivered");
  await bench.passUntil(async () => (await outbox.find(event.id)).length === 0, DAY_MS / 4);
  expect(bench.clock.now()).toBeGreaterThanOrEqual(Date.parse("2026-01-08T00:00:00Z"));
  await bench.passUntil(async () => (await outbox.stats()).every(({ dead }) => dead === 0), DAY_MS / 4);
  expect(bench.clock.now()).toBeGreaterThanOrEqual(Date.parse("2026-01-31T00:00:00Z"));
});

it("drop without a filter is refused, and {} is all of them", async () => {
  const bench = outboxBench();
  const outbox = bench.outbox({ a: bench.listener(await bench.receiver()) });
  for (const filter of [undefined, null, "all"])
    await expect(outbox.drop(filter as never)).rejects.toThrow("filter must say which dead letters");
  expect(await outbox.drop({})).toBe(0);
});
