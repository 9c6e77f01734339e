import type { ServerResponse } from "node:http";
import { expect, it } from "vitest";
import { outboxBench, waitFor } from "./bench-outbox.js";

const numbered = (count: number) => Array.from({ length: count }, (_, n) => n);
const eventsFor = (listeners: readonly string[], each: number) =>
  listeners.flatMap((listener) => numbered(each).map((n) => ({ listener, payload: { n } })));

it("a listener that hangs has fewer attempts at once, and has them back when it answers", async () => {
  const bench = outboxBench();
  let hangs = false;
  const held: (() => void)[] = [];
  const hanging: ServerResponse[] = [];
  const server = await bench.receiver({
    async intercept(request, response, receive) {
      response.shouldKeepAlive = false; // what is cut off on a kept connection is sent once more by itself
      if (hangs) return void hanging.push(response);
      await new Promise<void>((answer) => held.push(answer));
      await receive(request, response);
    },
  });
  /** Each answer doubles what a listener is given at once, so that two of them make eight of two. */
  async function answerUntilTenAreHeld() {
    for (const places of [1, 2, 8, 10]) {
      await bench.passUntil(() => held.length === places);
      if (places < 10) for (const answer of held.splice(0)) answer();
    }
  }
  const options = { breaker: false, retry: { firstDelayMs: 1 } } as const;
  const outbox = bench.outbox({ a: bench.listener(server, options) });
  outbox.start();
  await outbox.enqueue(eventsFor(["a"], 40));
  await answerUntilTenAreHeld();
  hangs = true;
  for (const answer of held.splice(0)) answer();
  await waitFor(() => hanging.length === 10);
  bench.clock.advance(2_000); // the ten have hung for long when they are cut off
  for (const response of hanging.splice(0)) response.destroy();
  await bench.passUntil(() => hanging.length > 0);
  await bench.pass(5_000, 100);
  expect(hanging).toHaveLength(1);
  hangs = false;
  hanging.pop()?.destroy();
  await answerUntilTenAreHeld();
});

it("listeners get their turns where places are few", async () => {
  const bench = outboxBench();
  const server = await bench.receiver();
  const names = numbered(20).map((n) => `l${n}`);
  const listeners = Object.fromEntries(names.map((name) => [name, bench.listener(server)]));
  const outbox = bench.outbox(listeners, { concurrency: 2 });
  await outbox.enqueue(eventsFor(names, 5));
  await outbox.drain();
  const first = bench.told("delivery-ended").slice(0, 40);
  expect(new Set(first.map(({ listener }) => listener)).size).toBe(20);
});

it("neither a listener nor the process ever has more at once than its concurrency", async () => {
  const bench = outboxBench();
  let [atOnce, most, wanted] = [0, 0, 3];
  const server = await bench.receiver({
    async intercept(request, response, receive) {
      atOnce += 1;
      most = Math.max(most, atOnce);
      // The first answers are what a listener is given more for.
      if (server.runs.size >= wanted) await waitFor(() => most >= wanted);
      await receive(request, response);
      atOnce -= 1;
    },
  });
  const outbox = bench.outbox({ a: bench.listener(server, { concurrency: 3 }) });
  await outbox.enqueue(eventsFor(["a"], 40));
  await outbox.drain();
  expect(server.runs.size).toBe(40);
  expect(most).toBe(3);
  [most, wanted] = [0, 4];
  const names = numbered(10).map((n) => `l${n}`);
  const listeners = Object.fromEntries(names.map((name) => [name, bench.listener(server)]));
  const few = bench.outbox(listeners, { concurrency: 4 });
  await few.enqueue(eventsFor(names, 10));
  await few.drain();
  expect(server.runs.size).toBe(140);
  expect(most).toBe(4);
});
