import { HookproofError } from "hookproof";
import { describe, expect, it, vi } from "vitest";
import { outboxBench } from "./bench-outbox.js";

const HOUR_MS = 3_600_000;
const payload = { type: "user.offboarded" };

const codeOf = async (work: () => unknown): Promise<unknown> => {
  try {
    await work();
    return undefined;
  } catch (error) {
    return error instanceof HookproofError ? error.code : (error as Error).name;
  }
};

describe("a pause", () => {
  it("lets attempts under way end, starts no other in any worker, and says why", async () => {
    const bench = outboxBench();
    const [paused, other] = [await bench.receiver(), await bench.receiver()];
    const listeners = { paused: bench.listener(paused), other: bench.listener(other) };
    const outbox = bench.outbox(listeners);
    const worker = bench.outbox(listeners);
    await outbox.pause("paused", { reason: "their maintenance" });
    outbox.start();
    worker.start();
    for (const listener of ["paused", "other"]) await outbox.enqueue({ listener, payload });
    await bench.passUntil(() => other.runs.size === 1);
    await bench.pass(HOUR_MS, 60_000);
    expect(paused.requests).toHaveLength(0);
    const [stats] = (await worker.stats()).filter(({ listener }) => listener === "paused");
    expect(stats).toMatchObject({ pending: 1, paused: { reason: "their maintenance" } });
    expect(await worker.resume("paused")).toBe(true);
    await bench.passUntil(() => paused.runs.size === 1);
  });

  it("does not keep drain() from ending", async () => {
    const bench = outboxBench();
    const server = await bench.receiver();
    const outbox = bench.outbox({ a: bench.listener(server) });
    await outbox.enqueue({ listener: "a", payload });
    await outbox.pause("a");
    await bench.passDuring(outbox.drain());
    expect(server.requests).toHaveLength(0);
  });

  it("refuses an unknown listener, and a reason that is no short text", async () => {
    const bench = outboxBench();
    const outbox = bench.outbox({
      a: bench.listener({ url: "http://127.0.0.1:1/api/v1/webhooks/incoming/lst_1" }),
    });
    expect(await codeOf(() => outbox.pause("b"))).toBe("LISTENER_NAME_UNKNOWN");
    expect(await codeOf(() => outbox.resume("b"))).toBe("LISTENER_NAME_UNKNOWN");
    for (const reason of ["", "x".repeat(201), "a\0b", 7 as never])
      expect(await codeOf(() => outbox.pause("a", { reason }))).toBe("TypeError");
    expect(await outbox.resume("a")).toBe(false);
  });
});

describe("Retry-After", () => {
  it("of one worker's 429 is kept by the other one as well", async () => {
    const bench = outboxBench();
    let limited = true;
    const server = await bench.receiver({
      intercept: (request, response, receive) => {
        if (!limited) return receive(request, response);
        limited = false;
        return response.writeHead(429, { "Retry-After": "300" }).end();
      },
    });
    const first = bench.outbox({ a: bench.listener(server) });
    await first.enqueue({ listener: "a", payload });
    await bench.passDuring(first.drain());
    expect(server.requests).toHaveLength(1);
    const second = bench.outbox({ a: bench.listener(server) });
    await second.enqueue({ listener: "a", payload });
    await bench.passDuring(second.drain());
    expect(server.requests).toHaveLength(1);
    expect((await second.stats())[0]?.restsUntil).toBeGreaterThan(bench.storeClock.now() + 250_000);
    await bench.pass(301_000, 60_000);
    await bench.passDuring(second.drain());
    expect(server.runs.size).toBe(2);
  });
});

describe("deliverAt", () => {
  it("sends an event then, and its window begins then", async () => {
    const bench = outboxBench();
    const server = await bench.receiver();
    const outbox = bench.outbox({ a: bench.listener(server) });
    const deliverAt = new Date(bench.storeClock.now() + 30 * 24 * HOUR_MS);
    const { eventId } = await outbox.enqueue({ listener: "a", payload, deliverAt });
    await bench.passDuring(outbox.drain());
    expect(await outbox.find(eventId)).toMatchObject([{ state: "pending", dueAt: deliverAt.getTime() }]);
    await bench.pass(30 * 24 * HOUR_MS, 24 * HOUR_MS);
    await bench.passDuring(outbox.drain());
    expect(server.runs.get(eventId)).toBe(1);
  });

  it.each([
    ["text", "2026-05-01", "TypeError"],
    ["no date", new Date("never"), "TypeError"],
    ["infinity", Number.POSITIVE_INFINITY, "TypeError"],
    ["null", null, "TypeError"],
    ["more than a year away", Date.parse("2027-06-01"), "RangeError"],
  ])("refuses %s, and stores nothing", async (_, deliverAt, name) => {
    const bench = outboxBench();
    const outbox = bench.outbox({ a: bench.listener(await bench.receiver()) });
    const message = { listener: "a", payload, deliverAt: deliverAt as Date };
    expect(await codeOf(() => outbox.enqueue(message))).toBe(name);
    expect(await codeOf(() => outbox.prepare(message))).toBe(name);
    expect(await outbox.pending()).toEqual([]);
  });

  it("that has passed is now", async () => {
    const bench = outboxBench();
    const server = await bench.receiver();
    const outbox = bench.outbox({ a: bench.listener(server) });
    await outbox.enqueue({ listener: "a", payload, deliverAt: 0 });
    await bench.passDuring(outbox.drain());
    expect(server.runs.size).toBe(1);
  });
});

describe("a cancellation", () => {
  it("takes back what no attempt has begun for, and says what it was too late for", async () => {
    const bench = outboxBench();
    const server = await bench.receiver({ intercept: (_, response) => response.writeHead(503).end() });
    const outbox = bench.outbox({ a: bench.listener(server) });
    const tried = await outbox.enqueue({ listener: "a", payload });
    await bench.passDuring(outbox.drain());
    const fresh = await outbox.enqueue({ listener: "a", payload });
    expect(await outbox.cancel({ eventId: fresh.eventId.toUpperCase() })).toEqual({
      cancelled: 1,
      tooLate: 0,
    });
    expect(await outbox.cancel({ eventId: tried.eventId })).toEqual({ cancelled: 0, tooLate: 1 });
    expect(await outbox.find(fresh.eventId)).toMatchObject([{ state: "cancelled", attempts: [] }]);
    expect(await outbox.pending()).toMatchObject([{ id: tried.eventId, attempts: [{ status: 503 }] }]);
    const again = await outbox.enqueue({ listener: "a", payload, eventId: fresh.eventId });
    expect(again.eventId).toBe(fresh.eventId);
    await bench.passDuring(outbox.drain());
    expect(server.runs.has(fresh.eventId)).toBe(false);
  });

  it("names events in one way, as the other would be passed over", async () => {
    const bench = outboxBench();
    const outbox = bench.outbox({ a: bench.listener(await bench.receiver()) });
    const { eventId } = await outbox.enqueue({ listener: "a", payload });
    expect(await codeOf(() => outbox.cancel({ eventId, ids: [eventId] }))).toBe("TypeError");
    expect(await outbox.pending()).toHaveLength(1);
  });

  it("of everything has to say so listener by listener", async () => {
    const outbox = outboxBench().outbox({
      a: outboxBench().listener({ url: "http://127.0.0.1:1/api/v1/webhooks/incoming/lst_1" }),
    });
    for (const filter of [{}, undefined as never, null as never])
      expect(await codeOf(() => outbox.cancel(filter))).toBe("TypeError");
  });
});

describe("pending()", () => {
  it("gives 100 unless it is told, and 1,000 at most", async () => {
    const bench = outboxBench();
    const outbox = bench.outbox({ a: bench.listener(await bench.receiver()) });
    const many = await outbox.enqueue(Array.from({ length: 120 }, () => ({ listener: "a", payload })));
    expect((await outbox.pending()).map(({ id }) => id)).toEqual(
      many.slice(0, 100).map(({ eventId }) => eventId),
    );
    expect(await outbox.pending({}, { limit: 1_000 })).toHaveLength(120);
    expect(await outbox.pending({ ids: [many[7]?.eventId.toUpperCase() ?? ""] })).toHaveLength(1);
    for (const limit of [0, 1_001, 1.5, "7" as never])
      expect(await codeOf(() => outbox.pending({}, { limit }))).toBe("RangeError");
  });
});

describe("stats()", () => {
  it("has the last error and the last success of this process", async () => {
    const bench = outboxBench();
    let isDown = true;
    const server = await bench.receiver({
      intercept: (request, response, receive) =>
        isDown ? response.writeHead(503).end("€".repeat(300)) : receive(request, response),
    });
    const outbox = bench.outbox({ a: bench.listener(server) });
    await outbox.enqueue({ listener: "a", payload });
    await bench.passDuring(outbox.drain());
    const failedAt = bench.clock.now();
    const [failed] = await outbox.stats();
    expect(failed?.lastError).toMatchObject({
      code: "RECEIVER_UNAVAILABLE",
      status: 503,
      answer: "€".repeat(200),
    });
    expect(failed?.lastError?.at).toBeLessThanOrEqual(failedAt);
    expect(failed?.lastSuccessAt).toBeUndefined();
    isDown = false;
    await bench.pass(HOUR_MS, 60_000);
    await bench.passDuring(outbox.drain());
    const [done] = await outbox.stats();
    expect(done?.lastSuccessAt).toBeGreaterThanOrEqual(failedAt);
    expect(done?.lastError?.status).toBe(503);
  });
});

it("an attempt that stop() aborts is no error of the listener", async () => {
  const bench = outboxBench();
  const server = await bench.receiver({ intercept: () => {} });
  const outbox = bench.outbox({ a: bench.listener(server) });
  await outbox.enqueue({ listener: "a", payload });
  outbox.start();
  await bench.passUntil(() => server.requests.length === 1);
  await bench.passDuring(outbox.stop({ timeoutMs: 0 }));
  expect(await outbox.stats()).toMatchObject([{ pending: 1 }]);
  expect((await outbox.stats())[0]?.lastError).toBeUndefined();
});

describe("without an observer", () => {
  const warned = async (options: { quiet?: boolean }) => {
    const lines: string[] = [];
    const spy = vi.spyOn(console, "warn").mockImplementation((line) => lines.push(String(line)));
    try {
      const bench = outboxBench();
      const server = await bench.receiver({ intercept: (_, response) => response.writeHead(401).end() });
      const outbox = bench.outbox({ a: bench.listener(server) }, { observe: undefined, ...options });
      for (const _ of "ab") await outbox.enqueue({ listener: "a", payload });
      await bench.passDuring(outbox.drain());
      await bench.pass(HOUR_MS, 60_000);
      await bench.passDuring(outbox.drain());
      expect(server.requests.length).toBeGreaterThan(2);
      const store = {
        ...bench.store,
        claim: () => Promise.reject(new HookproofError("OUTBOX_UNAVAILABLE", "gone")),
      };
      const broken = bench.outbox({ a: bench.listener(server) }, { observe: undefined, store, ...options });
      broken.start();
      await bench.pass(60_000, 1_000);
    } finally {
      spy.mockRestore();
    }
    return lines;
  };

  it("the first refusal and an unreachable store are a line each", async () => {
    const lines = await warned({});
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(/401 .*Likely: /);
    expect(lines[1]).toMatch(/store cannot be used \(OUTBOX_UNAVAILABLE: "gone"\)/);
  });

  it("quiet says nothing", async () => {
    expect(await warned({ quiet: true })).toEqual([]);
  });
});
