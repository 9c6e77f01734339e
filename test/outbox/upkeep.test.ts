import { HookproofError } from "hookproof";
import type { OutboxStore } from "hookproof/outbox/store";
import { describe, expect, it } from "vitest";
import { outboxBench, waitFor } from "./bench-outbox.js";

const DAY_MS = 86_400_000;

describe("upkeep that fails", () => {
  const withoutDelete = async (name: "prune" | "expire" | "stats") => {
    const bench = outboxBench();
    const server = await bench.receiver();
    const denied = new HookproofError("OUTBOX_UNAVAILABLE", "permission denied for table outbox");
    let isDenied = true;
    let calls = 0;
    const store = {
      ...bench.store,
      async [name](...given: never[]) {
        calls += 1;
        if (isDenied) throw denied;
        return (bench.store[name] as (...all: never[]) => unknown)(...given);
      },
    } as OutboxStore<never>;
    const outbox = bench.outbox({ a: bench.listener(server) }, { store });
    return {
      bench,
      server,
      outbox,
      calls: () => calls,
      allow: () => {
        isDenied = false;
      },
    };
  };

  it.each([
    ["prune", 6],
    ["expire", 61],
    ["stats", 21],
  ] as const)("(%s) stops no delivery, and is told once", async (name, count) => {
    const { bench, server, outbox, calls, allow } = await withoutDelete(name);
    outbox.start();
    await outbox.enqueue([1, 2, 3].map((n) => ({ listener: "a", payload: { n } })));
    await waitFor(() => server.runs.size === 3);
    await bench.pass(300_000);
    await outbox.enqueue({ listener: "a", payload: {} });
    await bench.quiet();
    expect(server.runs.size).toBe(4);
    expect(bench.told("warning")).toHaveLength(1);
    expect(bench.told("warning")[0]?.message).toBe(
      `The outbox's upkeep fails (${name}); events are delivered all the same. Cause: "permission denied for table outbox"`,
    );
    expect(bench.told("upkeep-changed")).toMatchObject([{ job: name, works: false }]);
    expect(bench.told("store-changed")).toEqual([]);
    expect(calls()).toBe(count); // at its own times, and not at each look
    allow();
    await bench.pass(120_000);
    expect(bench.told("warning")).toHaveLength(1);
    expect(bench.told("upkeep-changed")).toMatchObject([{ works: false }, { job: name, works: true }]);
  });

  it("is not told of next to a store that is gone", async () => {
    const bench = outboxBench();
    const server = await bench.receiver();
    let isGone = false;
    const gone = () => new HookproofError("OUTBOX_UNAVAILABLE", "gone");
    const store = new Proxy(bench.store, {
      get(target, name, receiver) {
        const value = Reflect.get(target, name, receiver);
        if (typeof value !== "function" || name === "onWork") return value;
        return async (...given: unknown[]) => {
          if (isGone) throw gone();
          return value.apply(target, given);
        };
      },
    });
    const outbox = bench.outbox({ a: bench.listener(server) }, { store });
    outbox.start();
    await bench.pass(10_000);
    isGone = true;
    await bench.pass(120_000);
    expect(bench.told("store-changed")).toMatchObject([
      { available: false, code: "OUTBOX_UNAVAILABLE", cause: { message: "gone" } },
    ]);
    expect(bench.told("warning")).toEqual([]);
  });
});

describe("upkeep", () => {
  it("holds up no delivery while it takes long", async () => {
    const bench = outboxBench();
    const server = await bench.receiver();
    let finish = () => {};
    const slow = new Promise<void>((resolve) => {
      finish = resolve;
    });
    let pruned = 0;
    const store: OutboxStore<never> = {
      ...bench.store,
      async prune(before) {
        pruned += 1;
        await slow;
        return bench.store.prune(before);
      },
    };
    const outbox = bench.outbox({ a: bench.listener(server) }, { store });
    outbox.start();
    await waitFor(() => pruned === 1);
    await outbox.enqueue({ listener: "a", payload: {} });
    await waitFor(() => server.runs.size === 1);
    await bench.pass(300_000);
    expect(pruned).toBe(1); // and is not begun twice
    let isDrained = false;
    const drained = outbox.drain().then(() => {
      isDrained = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(isDrained).toBe(false);
    finish();
    await drained;
  });

  it("expires and prunes at its times, and at once again while there is more", async () => {
    const bench = outboxBench();
    const server = await bench.receiver();
    const calls = { expire: 0, prune: 0, stats: 0 };
    const more = { expire: 0, prune: 0 };
    const letter = { listener: "a", id: "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10", enqueuedAt: 0, attempts: 3 };
    const store: OutboxStore<never> = {
      ...bench.store,
      async expire() {
        calls.expire += 1;
        more.expire -= 1;
        return more.expire >= 0 ? [{ ...letter, enqueuedAt: bench.storeClock.now() - 1_000 }] : [];
      },
      async prune() {
        calls.prune += 1;
        more.prune -= 1;
        return more.prune >= 0 ? 1 : 0;
      },
      async stats() {
        calls.stats += 1;
        return [];
      },
    };
    const outbox = bench.outbox({ a: bench.listener(server) }, { store });
    outbox.start();
    await waitFor(() => calls.stats === 1);
    expect(calls).toEqual({ expire: 1, prune: 1, stats: 1 });
    await bench.pass(59_000, 500);
    expect(calls).toEqual({ prune: 1, stats: 4, expire: 12 });
    more.expire = 5;
    more.prune = 4;
    await bench.pass(5_500, 500);
    await waitFor(() => more.expire < 0 && more.prune < 0); // without another step of the clock
    expect(bench.told("delivery-ended")).toHaveLength(5);
    expect(bench.told("delivery-ended")[0]).toMatchObject({
      eventId: letter.id,
      listener: "a",
      outcome: "dead",
      attempts: 3,
      ageMs: 1_000,
      code: "WINDOW_CLOSED",
    });
  });

  it("asks after the windows of each of many listeners", async () => {
    const bench = outboxBench();
    const names = Array.from({ length: 2_500 }, (_, n) => `tenant-${n}`);
    const asked = new Set<string>();
    const store: OutboxStore<never> = {
      ...bench.store,
      async expire(windows) {
        for (const name of windows.keys()) asked.add(name);
        return bench.store.expire(windows);
      },
    };
    const listener = bench.listener(await bench.receiver());
    bench.outbox(Object.fromEntries(names.map((name) => [name, listener])), { store }).start();
    await bench.pass(120_000);
    expect(asked.size).toBe(names.length);
  });

  it("keeps what was delivered for 7 days and dead letters for 30, by the store's clock", async () => {
    const bench = outboxBench();
    const server = await bench.receiver({
      intercept(request, response, receive) {
        if (server.requests.length > 1) return receive(request, response);
        request.resume();
        response.writeHead(413).end();
      },
    });
    const outbox = bench.outbox({ a: bench.listener(server) });
    const dead = await outbox.enqueue({ listener: "a", payload: { n: 1 } });
    await outbox.drain();
    const delivered = await outbox.enqueue({ listener: "a", payload: { n: 2 } });
    await outbox.drain();
    const states = async () => {
      const found = await Promise.all([dead, delivered].map(({ eventId }) => outbox.find(eventId)));
      return found.map(([entry]) => entry?.state ?? "gone");
    };
    const statesAfter = async (ms: number) => {
      bench.clock.advance(ms);
      await outbox.drain();
      return states();
    };
    expect(await statesAfter(7 * DAY_MS)).toEqual(["dead", "delivered"]);
    expect(await statesAfter(61_000)).toEqual(["dead", "gone"]);
    expect(await statesAfter(23 * DAY_MS - 61_000)).toEqual(["dead", "gone"]);
    expect(await statesAfter(61_000)).toEqual(["gone", "gone"]);
  });
});
