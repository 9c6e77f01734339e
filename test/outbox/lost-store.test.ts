import { HookproofError } from "hookproof";
import type { OutboxStore } from "hookproof/outbox";
import { expect, it } from "vitest";
import { outboxBench, waitFor } from "./bench-outbox.js";

/** The bench's store behind a connection that can be cut. */
function cuttable(store: OutboxStore<never>) {
  let cut: "no" | "before" | "after" = "no";
  const lost = () => new HookproofError("OUTBOX_UNAVAILABLE", "The database is gone.");
  const behind = new Proxy(store, {
    get(target, name, receiver) {
      const value = Reflect.get(target, name, receiver);
      if (typeof value !== "function" || name === "onWork" || name === "dead") return value;
      if (name === "enqueue")
        return (...given: unknown[]) => {
          if (cut !== "no") throw lost();
          return value.apply(target, given);
        };
      return async (...given: unknown[]) => {
        if (cut === "before") throw lost();
        const result = await value.apply(target, given);
        if (cut === "after") throw lost();
        return result;
      };
    },
  });
  const set = (how: typeof cut) => {
    cut = how;
  };
  return { store: behind, set };
}

it("workers wait and go on when the store is back; enqueue fails at once", async () => {
  const bench = outboxBench();
  const server = await bench.receiver();
  const connection = cuttable(bench.store);
  const outbox = bench.outbox({ a: bench.listener(server) }, { store: connection.store });
  outbox.start();
  await outbox.enqueue({ listener: "a", payload: { n: 1 } });
  await waitFor(() => server.runs.size === 1);
  connection.set("before");
  await bench.passUntil(() => bench.told("store-changed").length === 1);
  expect(() => outbox.enqueue({ listener: "a", payload: { n: 2 } })).toThrow("The database is gone.");
  await bench.passUntil(() => false, 1_000, 30).catch(() => {});
  connection.set("no");
  await outbox.enqueue({ listener: "a", payload: { n: 3 } });
  await bench.passUntil(() => server.runs.size === 2);
  expect(bench.told("store-changed")).toMatchObject([
    { available: false, code: "OUTBOX_UNAVAILABLE" },
    { available: true },
  ]);
  await outbox.stop();
});

it("what was delivered while the store was gone is put down when it is back, and sent once", async () => {
  const bench = outboxBench();
  const connection = cuttable(bench.store);
  const server = await bench.receiver({
    intercept(request, response, receive) {
      connection.set("before");
      return receive(request, response);
    },
  });
  const outbox = bench.outbox({ a: bench.listener(server) }, { store: connection.store });
  const { eventId } = await outbox.enqueue({ listener: "a", payload: {} });
  outbox.start();
  await bench.passUntil(() => bench.told("store-changed").length === 1);
  await bench.passUntil(() => false, 500, 20).catch(() => {});
  connection.set("no");
  await bench.passUntil(async () => (await outbox.find(eventId))[0]?.state === "delivered");
  expect(server.requests).toHaveLength(1);
});

it("an answer of the store that is lost changes nothing", async () => {
  const bench = outboxBench();
  const connection = cuttable(bench.store);
  const server = await bench.receiver({
    intercept(request, response, receive) {
      if (server.requests.length === 1) connection.set("after");
      return receive(request, response);
    },
  });
  const outbox = bench.outbox({ a: bench.listener(server) }, { store: connection.store });
  const { eventId } = await outbox.enqueue({ listener: "a", payload: {} });
  outbox.start();
  await bench.passUntil(() => bench.told("store-changed").length === 1);
  connection.set("no");
  await bench.passUntil(() => bench.told("delivery-ended").length === 1);
  expect((await outbox.find(eventId))[0]).toMatchObject({ state: "delivered", attempts: [{ status: 200 }] });
  expect(bench.told("warning")).toEqual([]);
});

it("a worker that is stopped while the store is gone stops in time; another one delivers", async () => {
  const bench = outboxBench();
  const connection = cuttable(bench.store);
  const server = await bench.receiver({
    intercept(request, response, receive) {
      if (server.requests.length === 1) connection.set("before");
      return receive(request, response);
    },
  });
  const outbox = bench.outbox({ a: bench.listener(server) }, { store: connection.store });
  const { eventId } = await outbox.enqueue({ listener: "a", payload: {} });
  outbox.start();
  await waitFor(() => bench.told("store-changed").length === 1);
  await bench.passDuring(outbox.stop({ timeoutMs: 3_000 }));
  const other = bench.outbox({ a: bench.listener(server) });
  other.start();
  await bench.passUntil(async () => (await other.find(eventId))[0]?.state === "delivered", 5_000);
  expect((await other.find(eventId))[0]).toMatchObject({
    outcome: "accepted",
    attempts: [{ number: 2, status: 409 }],
  });
  expect(server.runs.get(eventId)).toBe(1);
});
