import { HookproofError } from "hookproof";
import type { OutboxAttempt } from "hookproof/outbox";
import type { OutboxStore } from "hookproof/outbox/store";
import { describe, expect, it } from "vitest";
import { outboxBench, waitFor } from "./bench-outbox.js";

/** The bench's store behind a connection that can be cut. */
function cuttable(store: OutboxStore<never>) {
  let cut: "no" | "before" | "after" = "no";
  let calls = 0;
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
        calls += 1;
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
  return {
    store: behind,
    set,
    get calls() {
      return calls;
    },
  };
}

it("workers wait and go on when the store is back; enqueue fails at once", async () => {
  const bench = outboxBench();
  const server = await bench.receiver();
  const connection = cuttable(bench.store);
  const outbox = bench.outbox({ a: bench.listener(server) }, { store: connection.store });
  outbox.start();
  await outbox.enqueue({ listener: "a", payload: { n: 1 } });
  await bench.quiet();
  expect(server.runs.size).toBe(1);
  connection.set("before");
  await bench.passUntil(() => bench.told("store-changed").length === 1);
  expect(() => outbox.enqueue({ listener: "a", payload: { n: 2 } })).toThrow("The database is gone.");
  const before = connection.calls;
  await bench.pass(60_000, 100);
  expect(connection.calls - before).toBe(16); // every 5 s in the end, and not at every look
  connection.set("no");
  await outbox.enqueue({ listener: "a", payload: { n: 3 } });
  await bench.passUntil(() => server.runs.size === 2);
  expect(bench.told("store-changed")).toMatchObject([
    { available: false, code: "OUTBOX_UNAVAILABLE" },
    { available: true },
  ]);
  await outbox.stop();
});

it("a store that may be read and not written is told of once, and asked at growing pauses", async () => {
  const bench = outboxBench();
  const server = await bench.receiver();
  const cause = new Error("cannot execute UPDATE in a read-only transaction");
  let [isReadOnly, claims] = [true, 0];
  const claim = bench.store.claim;
  bench.store.claim = async (request) => {
    claims += 1;
    if (isReadOnly) throw new HookproofError("OUTBOX_UNAVAILABLE", "no", { cause });
    return claim(request);
  };
  const outbox = bench.outbox(() => bench.listener(server));
  await outbox.enqueue({ listener: "a", payload: {} });
  outbox.start();
  await bench.pass(60_000, 100);
  expect(bench.told("store-changed")).toMatchObject([{ available: false, reason: `"${cause.message}"` }]);
  expect(claims).toBeLessThan(20);
  isReadOnly = false;
  await bench.passUntil(() => server.runs.size === 1);
  expect(bench.told("store-changed")).toMatchObject([{ available: false }, { available: true }]);
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
  await bench.pass(10_000, 500);
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
    outcome: "delivered",
    attempts: [{ number: 2, status: 409 }],
  });
  expect(server.runs.get(eventId)).toBe(1);
});

describe.each(["before", "after"] as const)(
  "while the store is gone (its answers lost %s its work)",
  (how) => {
    it.each([
      [503, "pending", "RECEIVER_UNAVAILABLE"],
      [413, "dead", "REQUEST_REFUSED"],
    ] as const)("what a %i came to is put down when it is back", async (status, state, code) => {
      const bench = outboxBench();
      const connection = cuttable(bench.store);
      const server = await bench.receiver({
        intercept(request, response) {
          if (server.requests.length === 1) connection.set(how);
          request.resume();
          response.writeHead(status).end();
        },
      });
      const retry = { firstDelayMs: 3_600_000, maxDelayMs: 3_600_000 };
      const outbox = bench.outbox({ a: bench.listener(server, { retry }) }, { store: connection.store });
      const { eventId } = await outbox.enqueue({ listener: "a", payload: {} });
      outbox.start();
      await bench.passUntil(() => bench.told("store-changed").length === 1);
      await bench.pass(10_000, 500);
      connection.set("no");
      await bench.passUntil(async () => (await outbox.find(eventId))[0]?.state === state, 500, 40);
      const told = state === "dead" ? "delivery-ended" : "retry-scheduled";
      await bench.passUntil(() => bench.told(told).length === 1, 500, 40);
      await bench.pass(10_000, 500); // until the last try is done as well
      expect((await outbox.find(eventId))[0]?.attempts).toMatchObject([{ number: 1, status, code }]);
      expect(server.requests).toHaveLength(1);
      expect(bench.told("warning")).toEqual([]); // a lease that may be ours was not lost
    });
  },
);

it.each([
  [200, "1 delivered, but not before another worker took over"],
  [503, "another worker has taken the event over"],
  [413, "another worker has taken the event over"],
])("tells of a lease that was lost during an attempt that got %i", async (status, words) => {
  const bench = outboxBench();
  const server = await bench.receiver({
    intercept(request, response) {
      request.resume();
      response.writeHead(status).end();
    },
  });
  const store: OutboxStore<never> = {
    ...bench.store,
    markDelivered: async () => 0,
    reschedule: async () => false,
    fail: async () => false,
  };
  const outbox = bench.outbox({ a: bench.listener(server) }, { store });
  await outbox.enqueue({ listener: "a", payload: {} });
  outbox.start();
  await waitFor(() => bench.told("warning").length === 1);
  expect(bench.told("warning")[0]?.message).toContain("LEASE_LOST");
  expect(bench.told("warning")[0]?.message).toContain(words);
  await outbox.stop();
  expect(bench.told("delivery-ended").filter(({ outcome }) => outcome === "dead")).toEqual([]);
});

it("what the store failed with is told", async () => {
  const bench = outboxBench();
  const connection = cuttable(bench.store);
  const outbox = bench.outbox({ a: bench.listener(await bench.receiver()) }, { store: connection.store });
  connection.set("before");
  outbox.start();
  await waitFor(() => bench.told("store-changed").length === 1);
  expect(bench.told("store-changed")[0]?.cause).toMatchObject({ message: "The database is gone." });
});

describe.each([
  ["an answer", (attempt?: OutboxAttempt) => attempt?.answer !== undefined],
  ["anything of it", () => true],
])("a store that cannot take %s of one attempt", (what, isPoison) => {
  const cause = Object.assign(new Error("no equivalent in this encoding"), { code: "22P05" });
  const refused = () => new HookproofError("OUTBOX_UNAVAILABLE", "no", { cause });

  it.each([
    [200, "markDelivered"],
    [413, "fail"],
    [503, "reschedule"],
  ] as const)("is not asked over and over, and holds up no other event: %i", async (status, method) => {
    const bench = outboxBench();
    const server = await bench.receiver({
      intercept(request, response) {
        request.resume();
        response.writeHead(request.url?.includes("lst_bad") ? status : 200).end("\u{1F4A5}");
      },
    });
    let asked = 0;
    const watch = (attempt?: OutboxAttempt) => {
      if (attempt?.status === 200 && status !== 200) return;
      asked += 1;
      if (isPoison(attempt)) throw refused();
    };
    const { store } = bench;
    const poisoned: OutboxStore<never> = {
      ...store,
      markDelivered: async (all) => {
        for (const { lease, attempt } of all) if (lease.listener === "bad") watch(attempt);
        return store.markDelivered(all);
      },
      reschedule: async (lease, at, attempt) => {
        watch(attempt);
        return store.reschedule(lease, at, attempt);
      },
      fail: async (lease, failure) => {
        watch(failure.attempt);
        return store.fail(lease, failure);
      },
    };
    expect(poisoned[method]).not.toBe(store[method]);
    const bad = { url: server.url.replace(/[^/]+$/, "lst_bad") };
    const outbox = bench.outbox(
      { bad: bench.listener(bad), good: bench.listener(server) },
      { store: poisoned },
    );
    const { eventId } = await outbox.enqueue({ listener: "bad", payload: {} });
    outbox.start();
    await bench.passUntil(() => asked >= (what === "an answer" && status !== 200 ? 2 : 1));
    await outbox.enqueue({ listener: "good", payload: {} });
    await bench.passUntil(() => bench.told("delivery-ended").some(({ listener }) => listener === "good"));
    expect(asked).toBeLessThanOrEqual(2);
    expect(bench.told("store-changed")).toEqual([]);
    const warnings = bench.told("warning").map(({ message }) => message);
    const cannotNote = expect.stringMatching(/store cannot note .*"no equivalent in this encoding"/);
    if (what === "an answer") {
      expect(warnings).not.toContainEqual(cannotNote);
      const state = { 200: "delivered", 413: "dead", 503: "pending" }[status];
      await bench.passUntil(async () => (await outbox.find(eventId))[0]?.state === state);
    } else expect(warnings).toContainEqual(cannotNote);
  });
});

it("a store that knows the time, and whose tables are gone, is not told as available in between", async () => {
  const bench = outboxBench();
  const server = await bench.receiver();
  let isGone = false;
  let failExpiry = () => {};
  const error = new HookproofError("OUTBOX_UNAVAILABLE", "relation does not exist");
  const store: OutboxStore<never> = {
    ...bench.store,
    expire: () =>
      new Promise((_, reject) => {
        failExpiry = () => reject(error);
      }),
    claim: async (request) => (isGone ? Promise.reject(error) : bench.store.claim(request)),
  };
  bench.outbox({ one: bench.listener(server) }, { store }).start();
  await bench.pass(2_000, 100);
  isGone = true; // while upkeep is at work
  await bench.pass(2_000, 100);
  failExpiry();
  await bench.pass(20_000, 100);
  expect(bench.told("store-changed").map(({ available }) => available)).toEqual([false]);
});
