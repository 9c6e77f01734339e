import { createEvent, createSender, hmacSigner } from "hookproof";
import { nodeTransport } from "hookproof/node";
import { expect, it } from "vitest";
import { FAILURES } from "../kit/receiver-failures.js";
import { receiverServer, SECRET } from "../kit/receiver-server.js";
import { seededRandom } from "../kit/seed.mjs";

const EVENTS = process.env.HOOKPROOF_LONG ? 10_000 : 1_500;
const FAILING_SHARE = 0.3;
/** What only the attempt's time ends. */
const UNANSWERED = new Set(["no answer", "accepted, then no answer", "accepted, answered too late"]);
const OTHER_SECRET = "x7Jq0nXk1m2p3r4s5t6u7v8w9y0z-A_BCDEFGHIJKLMN";

it(`${EVENTS} events through a receiver that fails 30 % of all requests: each runs once, none is lost`, async () => {
  const ways = Object.keys(FAILURES);
  const random = seededRandom("sender");
  const met = new Set<string>();
  const codes = new Set<string | undefined>();
  let requests = 0;
  const server = await receiverServer({
    // Both secrets are valid, as during a rotation: a stray 401 makes the sender try the other one.
    auth: { method: "hmac", secret: [SECRET, OTHER_SECRET] },
    async intercept(request, response, receive) {
      requests += 1;
      const way = String(request.headers["x-failure"]);
      const fail = FAILURES[way];
      if (!fail) return receive(request, response);
      met.add(way);
      await fail(request, response, receive);
    },
  });
  const exchange = nodeTransport();
  const sender = createSender({
    url: server.url,
    signer: hmacSigner({ secret: [SECRET, OTHER_SECRET] }),
    // What fails is chosen here, so that a slow machine ends nothing by its time but what nobody answers.
    transport(request) {
      const way = random() < FAILING_SHARE ? ways[Math.floor(random() * ways.length)] : undefined;
      const timeoutMs = way && UNANSWERED.has(way) ? 100 : request.timeoutMs;
      return exchange({ ...request, headers: [...request.headers, ["X-Failure", way ?? "none"]], timeoutMs });
    },
    attemptTimeoutMs: 120_000,
    deadlineMs: Number.POSITIVE_INFINITY,
    retry: { maxAttempts: 40 },
    wait: async () => {}, // the schedule's waits are counted out elsewhere
  });
  const events = Array.from({ length: EVENTS }, (_, index) => createEvent({ index }));
  const lost: string[] = [];
  for await (const result of sender.sendMany(events, { concurrency: 50 })) {
    if (!result.ok) lost.push(`${result.code} ${result.eventId}`);
    for (const { code } of result.attempts) codes.add(code);
  }
  await server.stop();

  expect(lost).toEqual([]);
  expect(server.runs.size).toBe(EVENTS);
  expect([...server.runs].filter(([, runs]) => runs !== 1)).toEqual([]);
  expect([...met].sort()).toEqual(ways.sort()); // every way was met
  expect(codes).toContain("TIMED_OUT");
  expect(requests).toBeGreaterThan(EVENTS * 1.25);
});
