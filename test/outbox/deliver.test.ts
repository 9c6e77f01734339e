import { createEvent, hmacSigner } from "hookproof";
import {
  aesGcmEncryption,
  createOutbox,
  type DeadLetter,
  type OutboxListenerOptions,
} from "hookproof/outbox";
import { describe, expect, it } from "vitest";
import { SECRET } from "../kit/receiver-server.js";
import { outboxBench, waitFor } from "./bench-outbox.js";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
}

it("delivers what was enqueued before and after the start, once each", async () => {
  const bench = outboxBench();
  const server = await bench.receiver();
  const outbox = bench.outbox({ a: bench.listener(server) });
  const before = await outbox.enqueue({ listener: "a", payload: { n: 1 } });
  outbox.start();
  const after = await outbox.enqueue([
    { listener: "a", payload: { n: 2 } },
    { listener: "a", payload: createEvent({ n: 3 }) },
  ]);
  await waitFor(() => server.runs.size === 3);
  expect([...server.runs.keys()].sort()).toEqual([before, ...after].map(({ eventId }) => eventId).sort());
  await outbox.stop();
  expect(new Set(server.runs.values())).toEqual(new Set([1]));
  expect(await outbox.stats()).toMatchObject([{ listener: "a", pending: 0, inFlight: 0, delivered: 3 }]);
  expect((await outbox.find(before.eventId))[0]).toMatchObject({
    state: "delivered",
    outcome: "delivered",
    attempts: [{ number: 1, status: 200 }],
  });
});

it("puts down together what ends within a few milliseconds, and claims what follows at once", async () => {
  const bench = outboxBench();
  const groups: number[] = [];
  const store = {
    ...bench.store,
    markDelivered: (deliveries: Parameters<typeof bench.store.markDelivered>[0]) => {
      groups.push(deliveries.length);
      return bench.store.markDelivered(deliveries);
    },
  };
  let answers = performance.now();
  const outbox = createOutbox({
    store,
    listeners: {
      a: {
        url: "http://127.0.0.1:1/api/v1/webhooks/incoming/lst_1",
        signer: hmacSigner({ secret: SECRET }),
        concurrency: 60,
        async transport() {
          answers = Math.max(answers, performance.now()) + 0.5;
          const at = answers;
          while (performance.now() < at) await new Promise((resolve) => setImmediate(resolve));
          return { status: 200, headers: [], body: new Uint8Array(), truncated: false };
        },
      },
    },
  });
  await outbox.enqueue(Array.from({ length: 60 }, (_, n) => ({ listener: "a" as never, payload: { n } })));
  await outbox.drain();
  expect(groups.reduce((sum, size) => sum + size, 0)).toBe(60);
  expect(groups.length).toBeLessThanOrEqual(10);
});

it("tries again on the schedule of the protocol, signed again, with the same id and bytes", async () => {
  const bench = outboxBench();
  const server = await bench.receiver({
    intercept(request, response, receive) {
      if (server.requests.length > 3) return receive(request, response);
      request.resume();
      response.writeHead(500).end("<p>try\nlater</p>");
    },
  });
  const outbox = bench.outbox({ a: bench.listener(server) });
  const { eventId } = await outbox.enqueue({ listener: "a", payload: { n: 1 } });
  outbox.start();
  await bench.passUntil(() => server.runs.size === 1);
  await outbox.stop();
  const [entry] = await outbox.find(eventId);
  const starts = entry?.attempts.map(({ startedAt }) => startedAt) ?? [];
  const gaps = starts.slice(1).map((at, index) => at - (starts[index] ?? 0));
  // 1, 2 and 4 s with the bench's jitter of a quarter; the look after 1,250 ms is the one at 1,300.
  expect(gaps).toEqual([1_300, 2_500, 5_000]);
  expect(entry?.attempts.map(({ status, code, answer }) => [status, code, answer])).toEqual([
    ...Array(3).fill([500, "RECEIVER_UNAVAILABLE", "<p>try later</p>"]),
    [200, undefined, undefined],
  ]);
  const sent = server.requests.map(({ headers }) => headers);
  expect(new Set(sent.map((headers) => headers["webhook-event-id"]))).toEqual(new Set([eventId]));
  expect(new Set(sent.map((headers) => headers["webhook-timestamp"])).size).toBe(4);
});

it("goes on for longer than any small number of attempts, until the window closes", async () => {
  const bench = outboxBench();
  const server = await bench.receiver({
    intercept(request, response) {
      request.resume();
      response.writeHead(500).end();
    },
  });
  const outbox = bench.outbox({ a: bench.listener(server, { breaker: false }) });
  const { eventId } = await outbox.enqueue({ listener: "a", payload: {} });
  outbox.start();
  await waitFor(
    async () => {
      const [entry] = await outbox.find(eventId);
      const untilDue = (entry?.dueAt ?? 0) - bench.storeClock.now();
      if (untilDue > 0) bench.clock.advance(untilDue);
      return entry?.state === "dead";
    },
    { intervalMs: 1 },
  );
  const [letter] = await all(outbox.deadLetters());
  expect(letter).toMatchObject({ reason: "window", code: "WINDOW_CLOSED" });
  const attempts = letter?.attempts ?? [];
  expect(attempts.length).toBeGreaterThan(120);
  const span = (attempts.at(-1)?.startedAt ?? 0) - (attempts[0]?.startedAt ?? 0);
  expect(span).toBeGreaterThan(6 * DAY_MS);
  expect(span).toBeLessThanOrEqual(7 * DAY_MS - 60 * MINUTE_MS);
  expect(bench.told("delivery-ended")).toMatchObject([{ outcome: "dead", code: "WINDOW_CLOSED" }]);
});

it("stops after as many attempts as the listener's policy says", async () => {
  const bench = outboxBench();
  const server = await bench.receiver({
    intercept(request, response) {
      request.resume();
      response.writeHead(502).end();
    },
  });
  const outbox = bench.outbox({ a: bench.listener(server, { retry: { maxAttempts: 2 } }) });
  await outbox.enqueue({ listener: "a", payload: {} });
  outbox.start();
  await bench.passUntil(async () => (await all(outbox.deadLetters())).length > 0);
  expect(await all(outbox.deadLetters())).toMatchObject([
    { reason: "attempts", code: "RECEIVER_UNAVAILABLE", attempts: [{ number: 1 }, { number: 2 }] },
  ]);
});

it.each([400, 410, 413, 422])("makes a dead letter of an event that gets %i", async (status) => {
  const bench = outboxBench();
  const server = await bench.receiver({
    intercept(request, response) {
      request.resume();
      response.writeHead(status, { Location: "http://169.254.169.254/" }).end('{"code":"BODY_NOT_JSON"}');
    },
  });
  const outbox = bench.outbox({ a: bench.listener(server) });
  const { eventId } = await outbox.enqueue({ listener: "a", payload: {} });
  await outbox.drain();
  const letters = await all(outbox.deadLetters({ listener: "a" }));
  expect(letters).toMatchObject([
    {
      reason: "refused",
      event: { id: eventId },
      attempts: [{ number: 1, status, receiverCode: "BODY_NOT_JSON" }],
    },
  ] satisfies [Partial<Record<keyof DeadLetter, unknown>>]);
  expect(server.requests).toHaveLength(1);
  expect(bench.told("breaker-changed")).toEqual([]);
});

it.each([
  [401, "AUTHENTICATION_REFUSED"],
  [403, "SOURCE_REFUSED"],
  [404, "LISTENER_NOT_FOUND"],
  [
    302,
    'REDIRECT_REFUSED. Likely: a server in front, or a URL that has moved: its Location is "https://login.example/sso"',
  ],
  [405, "REQUEST_REFUSED"],
  [406, "REQUEST_REFUSED"],
  [415, "REQUEST_REFUSED"],
  [419, "REQUEST_REFUSED"],
  [421, "REQUEST_REFUSED"],
])("raises one alert for %i and goes on trying, until somebody mends it", async (status, code) => {
  const bench = outboxBench();
  let broken = true;
  const server = await bench.receiver({
    intercept(request, response, receive) {
      if (!broken) return receive(request, response);
      request.resume();
      response
        .writeHead(status, {
          Location: "https://user:hunter2@login.example/sso;jsessionid=hunter2?token=hunter2#x",
        })
        .end();
    },
  });
  const outbox = bench.outbox({ a: bench.listener(server) });
  await outbox.enqueue([1, 2].map((n) => ({ listener: "a", payload: { n } })));
  outbox.start();
  await bench.passUntil(() => server.requests.length >= 6);
  const alerts = bench.told("warning").map(({ message }) => message);
  expect(alerts).toHaveLength(1);
  expect(alerts[0]).toContain(`${status} ${code}`);
  expect(alerts[0]).toContain("Likely:");
  expect(alerts[0]).not.toContain("hunter2");
  broken = false;
  await bench.passUntil(() => server.runs.size === 2);
  broken = true;
  await outbox.enqueue({ listener: "a", payload: { n: 3 } });
  await bench.passUntil(() => bench.told("warning").length === 2);
});

it("what is wrong with a worker's own keys opens no breaker", async () => {
  const bench = outboxBench();
  const server = await bench.receiver();
  const sealed = bench.outbox(
    { a: bench.listener(server) },
    { encryption: aesGcmEncryption([{ id: "k", key: new Uint8Array(32) }]) },
  );
  await sealed.enqueue(Array.from({ length: 20 }, (_, n) => ({ listener: "a", payload: { n } })));
  const outbox = bench.outbox({ a: bench.listener(server) });
  outbox.start();
  await waitFor(() => bench.told("retry-scheduled").length === 20);
  expect(bench.told("breaker-changed")).toEqual([]);
  expect(bench.told("attempt-started")).toEqual([]);
  expect(bench.told("warning")).toMatchObject([{ message: expect.stringContaining("OUTBOX_KEY_MISSING") }]);
});

it("completes an event whose first attempt gets 409 as a duplicate, with a warning", async () => {
  const bench = outboxBench();
  const server = await bench.receiver();
  const outbox = bench.outbox({ a: bench.listener(server), b: bench.listener(server) });
  const event = createEvent({ n: 1 });
  await outbox.enqueue({ listener: "a", payload: event });
  await outbox.drain();
  await outbox.enqueue({ listener: "b", payload: event });
  await outbox.drain();
  const found = await outbox.find(event.id);
  expect(found.map(({ listener, outcome }) => [listener, outcome]).sort()).toEqual([
    ["a", "delivered"],
    ["b", "duplicate"],
  ]);
  expect(bench.told("warning")).toMatchObject([{ eventId: event.id }]);
  expect(server.runs.get(event.id)).toBe(1);
});

it("takes a 409 after an attempt whose answer was lost for a delivery", async () => {
  const bench = outboxBench();
  const server = await bench.receiver({
    async intercept(request, response, receive) {
      if (server.requests.length === 1) response.end = () => response.socket?.resetAndDestroy() as never;
      await receive(request, response);
    },
  });
  const outbox = bench.outbox({ a: bench.listener(server) });
  const { eventId } = await outbox.enqueue({ listener: "a", payload: {} });
  outbox.start();
  await bench.passUntil(async () => (await outbox.find(eventId))[0]?.state === "delivered");
  expect((await outbox.find(eventId))[0]).toMatchObject({
    outcome: "delivered",
    attempts: [{ code: "CONNECTION_LOST" }, { status: 409 }],
  });
  expect(server.runs.get(eventId)).toBe(1);
  expect(bench.told("retry-scheduled")).toMatchObject([{ attempt: 2 }]);
  await waitFor(() => bench.told("delivery-ended").length === 1);
  expect(bench.told("delivery-ended")).toMatchObject([{ outcome: "delivered", attempts: 2 }]);
});

it("an event of a worker that crashed after sending is delivered once", async () => {
  const bench = outboxBench();
  const server = await bench.receiver();
  const { store, clock } = bench;
  const outbox = bench.outbox({ a: bench.listener(server) });
  const { eventId } = await outbox.enqueue({ listener: "a", payload: { n: 1 } });
  // What a worker that is killed between the answer and its note of it leaves behind.
  const [claimed] = await store.claim({
    limit: 1,
    leaseMs: MINUTE_MS,
    listeners: new Map([["a", { most: 1, windowMs: 604_800_000 }]]),
  });
  if (!claimed) throw new Error("nothing claimed");
  const { createSender } = await import("hookproof");
  const crashed = createSender({ url: server.url, signer: hmacSigner({ secret: SECRET }), clock });
  await crashed.send(createEvent(claimed.event.body, { eventId }));

  outbox.start();
  await bench.passUntil(async () => (await outbox.find(eventId))[0]?.state === "delivered", 5_000);
  expect((await outbox.find(eventId))[0]).toMatchObject({
    outcome: "delivered",
    attempts: [{ number: 2, status: 409 }],
  });
  expect(server.runs.get(eventId)).toBe(1);
});

describe("a Retry-After", () => {
  /** A listener whose first request is answered with a status and a Retry-After, and its first event sent. */
  const answeredFirst = async (
    status: number,
    seconds: string,
    options: Partial<OutboxListenerOptions> = {},
  ) => {
    const bench = outboxBench();
    const server = await bench.receiver({
      intercept(request, response, receive) {
        if (server.requests.length > 1) return receive(request, response);
        request.resume();
        response.writeHead(status, { "Retry-After": seconds }).end();
      },
    });
    const other = await bench.receiver();
    const outbox = bench.outbox({ a: bench.listener(server, options), b: bench.listener(other) });
    const { eventId } = await outbox.enqueue({ listener: "a", payload: { n: 1 } });
    outbox.start();
    await waitFor(async () => (await outbox.find(eventId))[0]?.attempts.length === 1);
    const second = await outbox.enqueue({ listener: "a", payload: { n: 2 } });
    return { bench, server, other, outbox, second };
  };

  it.each([429, 503])("of a %i pauses the whole listener, and no other", async (status) => {
    const { bench, server, other, outbox, second } = await answeredFirst(status, "120");
    await outbox.enqueue({ listener: "b", payload: { n: 3 } });
    await waitFor(() => other.runs.size === 1);
    await bench.pass(119_000);
    expect(server.requests).toHaveLength(1);
    await bench.pass(1_000);
    await waitFor(() => server.runs.has(second.eventId));
  });

  it.each([408, 425, 500, 502])("of a %i puts off that event and no other", async (status) => {
    const { server, second } = await answeredFirst(status, "120");
    await waitFor(() => server.runs.has(second.eventId)); // no time has passed
  });

  it("pauses for a day at most, or for what the policy says", async () => {
    const long = await answeredFirst(503, "864000");
    await long.bench.pass(86_400_000 - 600_000, 600_000);
    expect(long.server.requests).toHaveLength(1);
    await long.bench.pass(600_000, 600_000);
    await waitFor(() => long.server.runs.has(long.second.eventId));
    const short = await answeredFirst(429, "864000", { retry: { maxRetryAfterMs: 60_000 } });
    await short.bench.pass(59_000);
    expect(short.server.requests).toHaveLength(1);
    await short.bench.pass(1_000);
    await waitFor(() => short.server.runs.has(short.second.eventId));
  });
});

it("shares a clock correction and a promoted secret among all events of a listener", async () => {
  const bench = outboxBench();
  const OTHER = "x7Jq0nXk1m2p3r4s5t6u7v8w9y0z-A_BCDEFGHIJKLMN";
  const ahead = { now: () => bench.clock.now() + 10 * MINUTE_MS };
  const server = await bench.receiver({
    clock: ahead,
    intercept(request, response, receive) {
      response.setHeader("Date", new Date(ahead.now()).toUTCString());
      return receive(request, response);
    },
  });
  const signer = hmacSigner({ secret: [OTHER, SECRET] });
  const outbox = bench.outbox({ a: bench.listener(server, { signer, concurrency: 1 }) });
  await outbox.enqueue([1, 2, 3].map((n) => ({ listener: "a", payload: { n } })));
  await outbox.drain();
  expect(server.runs.size).toBe(3);
  // The first event: as it is believed to be, the clock corrected, the other secret. The others: once each.
  expect(server.requests).toHaveLength(5);
  expect(bench.told("clock-corrected")).toHaveLength(1);
  expect(bench.told("breaker-changed")).toEqual([]);
});

it("retries what is wrong with its own set-up, such as a refused address, and sends nothing", async () => {
  const bench = outboxBench();
  const server = await bench.receiver();
  const strict = bench.outbox({ a: bench.listener(server, { allowPrivateNetwork: false }) });
  const { eventId } = await strict.enqueue({ listener: "a", payload: {} });
  strict.start();
  await waitFor(() => bench.told("retry-scheduled").length > 0);
  await strict.stop();
  expect((await strict.find(eventId))[0]).toMatchObject({
    state: "pending",
    attempts: [{ code: "ADDRESS_REFUSED" }],
  });
  expect(bench.told("warning")).toHaveLength(1);
  bench.clock.advance(MINUTE_MS);
  await bench.outbox({ a: bench.listener(server) }).drain();
  expect(server.runs.get(eventId)).toBe(1);
});
