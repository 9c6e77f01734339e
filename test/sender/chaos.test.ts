import { createEvent, createSender, hmacSigner } from "hookproof";
import { expect, it } from "vitest";
import { FAILURES } from "../kit/receiver-failures.js";
import { receiverServer, SECRET } from "../kit/receiver-server.js";
import { seededRandom } from "../kit/seed.mjs";

const EVENTS = process.env.HOOKPROOF_LONG ? 10_000 : 1_500;
const FAILING_SHARE = 0.3;
const OTHER_SECRET = "x7Jq0nXk1m2p3r4s5t6u7v8w9y0z-A_BCDEFGHIJKLMN";

it(`${EVENTS} events through a receiver that fails 30 % of all requests: each runs once, none is lost`, {
  timeout: 300_000,
}, async () => {
  const ways = Object.entries(FAILURES);
  const random = seededRandom("sender");
  const failed = new Map<string, number>();
  let requests = 0;
  const server = await receiverServer({
    // Both secrets are valid, as during a rotation: a stray 401 makes the sender try the other one.
    auth: { method: "hmac", secret: [SECRET, OTHER_SECRET] },
    async intercept(request, response, receive) {
      requests += 1;
      const chosen = random() < FAILING_SHARE ? ways[Math.floor(random() * ways.length)] : undefined;
      if (!chosen) return receive(request, response);
      const [way, fail] = chosen;
      failed.set(way, (failed.get(way) ?? 0) + 1);
      await fail(request, response, receive);
    },
  });
  const sender = createSender({
    url: server.url,
    signer: hmacSigner({ secret: [SECRET, OTHER_SECRET] }),
    attemptTimeoutMs: 250,
    deadlineMs: Number.POSITIVE_INFINITY,
    retry: { maxAttempts: 40 },
    wait: async () => {}, // the schedule's waits are counted out elsewhere
  });
  const events = Array.from({ length: EVENTS }, (_, index) => createEvent({ index }));
  const lost: string[] = [];
  for await (const result of sender.sendMany(events, { concurrency: 50 })) {
    if (!result.ok) lost.push(`${result.code} ${result.eventId}`);
  }
  await server.stop();

  expect(lost).toEqual([]);
  expect(server.runs.size).toBe(EVENTS);
  expect([...server.runs].filter(([, runs]) => runs !== 1)).toEqual([]);
  expect([...failed.keys()].sort()).toEqual(ways.map(([way]) => way).sort()); // every way was met
  expect(requests).toBeGreaterThan(EVENTS * 1.25);
});
