import { expect, it } from "vitest";
import { outboxBench, waitFor } from "./bench-outbox.js";

it("one hanging listener among 50 holds back no other", async () => {
  const bench = outboxBench();
  const hanging = await bench.receiver({ intercept: () => {} });
  const well = await bench.receiver();
  const listeners = Object.fromEntries(
    Array.from({ length: 50 }, (_, n) => [`l${n}`, bench.listener(n === 0 ? hanging : well)]),
  );
  const outbox = bench.outbox(listeners, { concurrency: 60 });
  // The hanging one's events come first, and there are as many of them as of all the others.
  await outbox.enqueue(Array.from({ length: 490 }, (_, n) => ({ listener: "l0", payload: { n } })));
  outbox.start();
  await waitFor(() => hanging.requests.length === 10);
  const others = Object.keys(listeners).slice(1);
  await outbox.enqueue(
    others.flatMap((listener) => Array.from({ length: 10 }, (_, n) => ({ listener, payload: { n } }))),
  );
  // No time passes on the outbox's clock: nothing waits for a time-out, nor for the next look.
  await waitFor(() => bench.told("delivery-ended").length === 490);
  expect(bench.told("delivery-ended").map(({ ageMs }) => ageMs)).toEqual(Array(490).fill(0));
  expect(hanging.requests).toHaveLength(10);
});

it("listeners get their turns where places are few", async () => {
  const bench = outboxBench();
  const server = await bench.receiver();
  const listeners = Object.fromEntries(
    Array.from({ length: 20 }, (_, n) => [`l${n}`, bench.listener(server)]),
  );
  const outbox = bench.outbox(listeners, { concurrency: 2 });
  await outbox.enqueue(
    Object.keys(listeners).flatMap((listener) =>
      Array.from({ length: 5 }, (_, n) => ({ listener, payload: { n } })),
    ),
  );
  await outbox.drain();
  const first = bench.told("delivery-ended").slice(0, 40);
  expect(new Set(first.map(({ listener }) => listener)).size).toBe(20);
});

it("a listener never gets more at once than its concurrency", async () => {
  const bench = outboxBench();
  let [atOnce, most] = [0, 0];
  const server = await bench.receiver({
    async intercept(request, response, receive) {
      atOnce += 1;
      most = Math.max(most, atOnce);
      await new Promise((resolve) => setTimeout(resolve, 3));
      atOnce -= 1;
      await receive(request, response);
    },
  });
  const outbox = bench.outbox({ a: bench.listener(server, { concurrency: 3 }) });
  await outbox.enqueue(Array.from({ length: 40 }, (_, n) => ({ listener: "a", payload: { n } })));
  await outbox.drain();
  expect(server.runs.size).toBe(40);
  expect(most).toBe(3);
});
