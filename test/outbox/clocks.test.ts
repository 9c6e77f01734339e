import { describe, expect, it } from "vitest";
import { systemClock } from "../../src/core/clock.js";
import { outboxBench, waitFor } from "./bench-outbox.js";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const STEPS: [what: string, ms: number][] = [
  ["back by an hour", -HOUR_MS],
  ["back by a day", -DAY_MS],
  ["forward by an hour", HOUR_MS],
  ["forward by a day", DAY_MS],
];

it("the machine's clock has a part that only grows, in whole milliseconds", () => {
  const first = systemClock.monotonic?.() ?? Number.NaN;
  expect(Number.isInteger(first)).toBe(true);
  expect(systemClock.monotonic?.()).toBeGreaterThanOrEqual(first);
});

describe.each(STEPS)("a worker's clock that is put %s", (_, stepMs) => {
  it("keeps an open breaker and a Retry-After pause as long as they were to be", async () => {
    const bench = outboxBench();
    let answers: "ill" | "well" = "ill";
    const failing = await bench.receiver({
      intercept(request, response, receive) {
        if (answers === "well") return receive(request, response);
        request.resume();
        response.writeHead(500).end();
      },
    });
    const busy = await bench.receiver({
      intercept(request, response, receive) {
        if (answers === "well") return receive(request, response);
        request.resume();
        response.writeHead(503, { "Retry-After": "60" }).end();
      },
    });
    // The receivers' clock goes right, and the worker notices by their answers that its own does not.
    const outbox = bench.outbox({ failing: bench.listener(failing), busy: bench.listener(busy) });
    await outbox.enqueue(Array.from({ length: 20 }, (_, n) => ({ listener: "failing", payload: { n } })));
    await outbox.enqueue([1, 2, 3].map((n) => ({ listener: "busy", payload: { n } })));
    outbox.start();
    await waitFor(() => bench.told("breaker-changed").length === 1 && busy.requests.length > 0);
    await waitFor(async () => (await outbox.stats()).every(({ inFlight }) => inFlight === 0));
    const [before, beforeBusy] = [failing.requests.length, busy.requests.length];
    answers = "well";
    bench.clock.adjust(stepMs);
    await bench.pass(29_000);
    expect(failing.requests.length).toBe(before);
    await bench.pass(28_000);
    expect(busy.requests.length).toBe(beforeBusy);
    await bench.passUntil(() => failing.runs.size === 20 && busy.runs.size === 3, 1_000, 60);
  });

  it("moves no retry, and closes no window, when it happens during an attempt", async () => {
    const bench = outboxBench();
    const server = await bench.receiver({
      intercept(request, response, receive) {
        if (server.requests.length > 1) return receive(request, response);
        bench.clock.adjust(stepMs);
        request.resume();
        response.writeHead(500).end();
      },
    });
    const outbox = bench.outbox({ a: bench.listener(server) });
    const { eventId } = await outbox.enqueue({ listener: "a", payload: {} });
    outbox.start();
    await waitFor(() => bench.told("retry-scheduled").length === 1);
    expect(bench.told("retry-scheduled")).toMatchObject([{ delayMs: 1_250 }]);
    await waitFor(async () => (await outbox.find(eventId))[0]?.state === "pending");
    expect((await outbox.find(eventId))[0]).toMatchObject({
      dueAt: bench.storeClock.now() + 1_250,
      attempts: [{ durationMs: 0 }],
    });
    await bench.passUntil(() => bench.told("delivery-ended").length === 1, 500, 20);
    expect(bench.told("delivery-ended")).toMatchObject([{ outcome: "delivered", ageMs: 1_500 }]);
  });

  it("goes on with upkeep, gauges and rates as before", async () => {
    const bench = outboxBench();
    const server = await bench.receiver();
    const outbox = bench.outbox(
      { a: bench.listener(server, { rate: { perSecond: 1, burst: 1 } }) },
      { retention: { deliveredMs: 120_000, deadMs: 120_000 } },
    );
    await outbox.enqueue([1, 2, 3, 4, 5].map((n) => ({ listener: "a", payload: { n } })));
    outbox.start();
    await waitFor(() => server.runs.size === 1);
    bench.clock.adjust(stepMs);
    await bench.passUntil(() => server.runs.size === 5, 500, 20);
    const told = bench.told("backlog").length;
    await bench.pass(45_000);
    expect(bench.told("backlog").length - told).toBe(3);
    await bench.passUntil(async () => (await bench.store.stats()).length === 0, 1_000, 200);
  });
});

describe("the store's clock, put back by an hour", () => {
  it("stops nothing that waits for longer than the next look, and is told", async () => {
    const bench = outboxBench();
    let answers: "ill" | "well" = "ill";
    const server = await bench.receiver({
      intercept(request, response, receive) {
        if (answers === "well") return receive(request, response);
        request.resume();
        response.writeHead(503, { "Retry-After": "120" }).end();
      },
    });
    const outbox = bench.outbox({
      a: bench.listener(server),
      slow: bench.listener(server, { rate: { perSecond: 0.1, burst: 1 } }),
    });
    await outbox.enqueue([1, 2, 3].map((n) => ({ listener: "a", orderingKey: `k${n % 2}`, payload: { n } })));
    await outbox.enqueue([4, 5, 6].map((n) => ({ listener: "slow", payload: { n } })));
    outbox.start();
    await waitFor(() => server.requests.length >= 2);
    await waitFor(async () => (await outbox.stats()).every(({ inFlight }) => inFlight === 0));
    answers = "well";
    bench.storeClock.adjust(-HOUR_MS);
    const late = await outbox.enqueue({
      listener: "a",
      payload: {},
      deliverAt: bench.storeClock.now() + HOUR_MS / 2,
    });
    await bench.pass(110_000);
    expect(bench.told("warning").map(({ message }) => message)).toEqual([
      "The clock of the outbox's store was put back by 60 minutes. What was due is due, and retries wait no longer than they were to.",
    ]);
    expect(bench.told("backlog").at(-1)?.oldestAgeMs).toBeGreaterThan(60_000);
    await bench.passUntil(() => server.runs.size === 6, 1_000, 120);
    expect(server.runs.has(late.eventId)).toBe(false);
    await bench.passUntil(() => server.runs.has(late.eventId), 10_000, 300);
    expect(bench.told("warning")).toHaveLength(1);
  });
});

describe("a 400 that comes of a clock that is wrong", () => {
  it("ends no event: it is tried again, with one warning, until the clock is right", async () => {
    const bench = outboxBench();
    const right = { now: () => bench.storeClock.now() };
    const server = await bench.receiver({ clock: right });
    // Days off, which is more than is corrected by a receiver's word.
    bench.clock.adjust(right.now() - bench.clock.now() + 55 * HOUR_MS);
    const outbox = bench.outbox({ a: bench.listener(server) });
    await outbox.enqueue(Array.from({ length: 30 }, (_, n) => ({ listener: "a", payload: { n } })));
    outbox.start();
    await bench.passUntil(() => server.requests.length >= 90);
    expect(await bench.store.stats()).toMatchObject([{ dead: 0 }]);
    expect(bench.told("warning")).toHaveLength(1);
    expect(bench.told("warning")[0]?.message).toMatch(
      /400 REQUEST_REFUSED.*clock: it is 33\d\d minutes ahead of/,
    );
    expect(bench.told("breaker-changed")).toEqual([]);
    bench.clock.adjust(right.now() - bench.clock.now());
    await bench.passUntil(() => server.runs.size === 30, 1_000);
  });

  it("also where the receiver says so and its answer has no date", async () => {
    const bench = outboxBench();
    let refuses = true;
    const server = await bench.receiver({
      intercept(request, response, receive) {
        if (!refuses) return receive(request, response);
        request.resume();
        response.sendDate = false;
        response.removeHeader("Date");
        response.writeHead(400).end('{"code":"TIMESTAMP_OUT_OF_WINDOW"}');
      },
    });
    const outbox = bench.outbox({ a: bench.listener(server) });
    const { eventId } = await outbox.enqueue({ listener: "a", payload: {} });
    outbox.start();
    await waitFor(() => bench.told("retry-scheduled").length === 1);
    expect(bench.told("warning")[0]?.message).toContain("a clock that is more than 5 minutes off");
    refuses = false;
    await bench.passUntil(() => server.runs.get(eventId) === 1);
  });

  it("but ends with the window, and any other 400 ends the event at once", async () => {
    const bench = outboxBench();
    const server = await bench.receiver({ clock: { now: () => bench.clock.now() - 3 * DAY_MS } });
    const outbox = bench.outbox({ a: bench.listener(server, { retry: { windowMs: 60_000 } }) });
    await outbox.enqueue({ listener: "a", payload: {} });
    outbox.start();
    await bench.passUntil(() => bench.told("delivery-ended").length === 1, 1_000);
    expect(bench.told("delivery-ended")).toMatchObject([{ outcome: "dead", code: "WINDOW_CLOSED" }]);
  });
});

it("a Retry-After that is a date is counted from the answer's own", async () => {
  const bench = outboxBench();
  const ahead = { now: () => bench.clock.now() + 3 * HOUR_MS };
  const server = await bench.receiver({
    clock: ahead,
    intercept(request, response) {
      request.resume();
      response.writeHead(503, { "Retry-After": new Date(ahead.now() + 60_000).toUTCString() }).end();
    },
  });
  const outbox = bench.outbox({ a: bench.listener(server) });
  await outbox.enqueue({ listener: "a", payload: {} });
  outbox.start();
  await waitFor(() => bench.told("retry-scheduled").length === 1);
  expect(bench.told("retry-scheduled")).toMatchObject([{ delayMs: 60_000 }]);
});
