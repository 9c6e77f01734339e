import type { BodyEncryption, DeadLetter } from "hookproof/outbox";
import type { OutboxStore } from "hookproof/outbox/store";
import { describe, expect, it } from "vitest";
import { outboxBench, waitFor } from "./bench-outbox.js";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const ATTEMPT = { number: 1, startedAt: 0, durationMs: 1, status: 503 } as const;

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
}

/** What the first attempts of workers that have been gone since leave in a store. */
async function attemptedOnce(store: OutboxStore<never>, count: number): Promise<void> {
  const listeners = new Map([["a", { most: count, windowMs: 7 * DAY_MS }]]);
  const claimed = await store.claim({ limit: count, leaseMs: 60_000, listeners });
  expect(claimed).toHaveLength(count);
  for (const { lease, now } of claimed) await store.reschedule(lease, now + 1_000, ATTEMPT);
}

it("nothing is sent past the window, however much waits when the workers come back", async () => {
  const bench = outboxBench();
  const server = await bench.receiver();
  const outbox = bench.outbox({ a: bench.listener(server) });
  const count = 1_500;
  await outbox.enqueue(Array.from({ length: count }, (_, n) => ({ listener: "a", payload: { n } })));
  await attemptedOnce(bench.store, count);
  bench.clock.advance(7 * DAY_MS + HOUR_MS);
  const { eventId } = await outbox.enqueue({ listener: "a", payload: { fresh: true } });
  await outbox.drain();
  expect([...server.runs.keys()]).toEqual([eventId]);
  expect(server.requests).toHaveLength(1);
  const letters = await all(outbox.deadLetters());
  expect(letters).toHaveLength(count);
  expect(new Set(letters.map(({ reason, code }) => `${reason} ${code}`))).toEqual(
    new Set(["window WINDOW_CLOSED"]),
  );
  const told = bench.told("delivery-ended").filter(({ code }) => code === "WINDOW_CLOSED");
  expect(told).toHaveLength(count);
  expect(new Set(told.map(({ ageMs }) => ageMs))).toEqual(new Set([7 * DAY_MS + HOUR_MS]));
  expect(told[0]).toMatchObject({ attempts: 1, outcome: "dead", listener: "a" });
});

describe("the attempt itself looks at the window, last thing before the first byte", () => {
  const waitingSecondAttempt = async (passMs: number, encryption?: BodyEncryption) => {
    const bench = outboxBench();
    const server = await bench.receiver();
    // A store that hands out what is past its window, as one of somebody else's may.
    const store: OutboxStore<never> = {
      ...bench.store,
      claim: (request) =>
        bench.store.claim({
          ...request,
          listeners: new Map(
            [...request.listeners].map(([name, { most }]) => [name, { most, windowMs: 9e15 }]),
          ),
        }),
      expire: async () => [],
    };
    const outbox = bench.outbox(
      { a: bench.listener(server, { retry: { windowMs: HOUR_MS } }) },
      { store, ...(encryption ? { encryption } : {}) },
    );
    const { eventId } = await outbox.enqueue({ listener: "a", payload: {} });
    await attemptedOnce(bench.store, 1);
    bench.clock.advance(passMs);
    return { bench, server, outbox, eventId };
  };
  const lettersOf = async ({ outbox }: Awaited<ReturnType<typeof waitingSecondAttempt>>) =>
    (await all<DeadLetter>(outbox.deadLetters())).map(({ reason, code, attempts }) => [
      reason,
      code,
      attempts.length,
    ]);

  it("in the last millisecond it sends, and after it it does not", async () => {
    const inside = await waitingSecondAttempt(HOUR_MS);
    await inside.outbox.drain();
    expect(inside.server.runs.size).toBe(1);
    const outside = await waitingSecondAttempt(HOUR_MS + 1);
    await outside.outbox.drain();
    expect(outside.server.requests).toEqual([]);
    expect(await lettersOf(outside)).toEqual([["window", "WINDOW_CLOSED", 1]]);
    expect(outside.bench.told("delivery-ended")).toMatchObject([
      { eventId: outside.eventId, outcome: "dead", code: "WINDOW_CLOSED" },
    ]);
    expect(outside.bench.told("attempt-started")).toEqual([]);
  });

  it("also when the window closes while its body is decrypted", async () => {
    let decrypting = () => {};
    const encryption: BodyEncryption = {
      encrypt: async (body) => ({ body, keyId: "own" }),
      decrypt: async (body) => {
        decrypting();
        return body;
      },
    };
    const late = await waitingSecondAttempt(HOUR_MS, encryption);
    decrypting = () => late.bench.clock.advance(1);
    await late.outbox.drain();
    expect(late.server.requests).toEqual([]);
    expect(await lettersOf(late)).toEqual([["window", "WINDOW_CLOSED", 1]]);
  });

  it("a dead letter that was redriven inside its window is not sent after it", async () => {
    const bench = outboxBench();
    let refuses = true;
    const server = await bench.receiver({
      intercept(request, response, receive) {
        if (!refuses) return receive(request, response);
        request.resume();
        response.writeHead(413).end();
      },
    });
    const outbox = bench.outbox({ a: bench.listener(server) });
    await outbox.enqueue({ listener: "a", payload: {} });
    await outbox.drain();
    refuses = false;
    bench.clock.advance(6 * DAY_MS);
    expect(await outbox.redrive()).toEqual({ redriven: 1, pastWindow: 0 });
    bench.clock.advance(DAY_MS);
    await outbox.drain();
    expect(server.requests).toHaveLength(1);
    expect((await all(outbox.deadLetters())).map(({ code }) => code)).toEqual(["WINDOW_CLOSED"]);
  });
});

it("the window counts from the first attempt, however long an event has waited for it", async () => {
  const bench = outboxBench();
  const server = await bench.receiver({
    intercept(request, response, receive) {
      if (server.requests.length > 1) return receive(request, response);
      request.resume();
      response.writeHead(503).end();
    },
  });
  const outbox = bench.outbox({ a: bench.listener(server) });
  const { eventId } = await outbox.enqueue({ listener: "a", payload: {} });
  bench.clock.advance(30 * DAY_MS);
  outbox.start();
  await bench.passUntil(() => server.runs.get(eventId) === 1);
  expect(await all(outbox.deadLetters())).toEqual([]);
});

describe("a lease that is too short for an attempt", () => {
  const withLeaseOf = async (ms: number) => {
    const bench = outboxBench();
    const server = await bench.receiver();
    const released: string[] = [];
    const store: OutboxStore<never> = {
      ...bench.store,
      async claim(request) {
        const claimed = await bench.store.claim(request);
        return claimed.map((one) => ({ ...one, lease: { ...one.lease, expiresAt: one.now + leaseMs } }));
      },
      release(leases) {
        released.push(...leases.map(({ id }) => id));
        leaseMs = 60_000;
        return bench.store.release(leases);
      },
    };
    let leaseMs = ms;
    const options = { concurrency: 1, attemptTimeoutMs: 10_000 };
    const outbox = bench.outbox({ a: bench.listener(server, options) }, { store });
    const { eventId } = await outbox.enqueue({ listener: "a", payload: {} });
    outbox.start();
    await waitFor(() => server.runs.get(eventId) === 1);
    await outbox.stop();
    return { bench, released, eventId };
  };

  it("lets none start: the event is given back, and its place is free again", async () => {
    const { bench, released, eventId } = await withLeaseOf(12_499); // 10 s for the attempt, and 2.5 s
    expect(released).toEqual([eventId]);
    expect(bench.told("attempt-started")).toMatchObject([{ attempt: 1 }]);
    expect(bench.told("warning")).toEqual([]);
  });

  it("is one of less than 2.5 s more than it may take", async () => {
    const { released } = await withLeaseOf(12_500);
    expect(released).toEqual([]);
  });

  it("as it is after a claim whose answer took long", async () => {
    const bench = outboxBench();
    const server = await bench.receiver();
    let slow = true;
    const store: OutboxStore<never> = {
      ...bench.store,
      async claim(request) {
        const claimed = await bench.store.claim(request);
        if (slow && claimed.length > 0) {
          slow = false;
          bench.clock.advance(50_000);
        }
        return claimed;
      },
    };
    const outbox = bench.outbox({ a: bench.listener(server) }, { store });
    const { eventId } = await outbox.enqueue({ listener: "a", payload: {} });
    outbox.start();
    await waitFor(() => server.runs.get(eventId) === 1);
    expect(bench.told("attempt-started")).toMatchObject([{ attempt: 1 }]);
    await outbox.stop();
    expect((await outbox.find(eventId))[0]).toMatchObject({ state: "delivered", attempts: [{ number: 1 }] });
  });
});
