// A refusal that says when to come again: nothing is buried by it, nobody asks sooner, and what it spoke of waits.
import { createSender, type DeliveryError } from "hookproof";
import { classifyRefusal } from "hookproof/schemes";
import { securityEventSigner } from "hookproof/set";
import { generateStandardSecret, standardWebhooksSigner } from "hookproof/standard-webhooks";
import { expect, it } from "vitest";
import { outboxBench } from "./bench-outbox.js";

/** A listener that refuses the first request so; gives what was asked when, by its clock. */
async function refusing(status: number, retryAfter: string) {
  const bench = outboxBench();
  let refused = false;
  const server = await bench.receiver({
    intercept(request, response, receive) {
      if (refused) return receive(request, response);
      refused = true;
      request.resume();
      response.writeHead(status, { "Retry-After": retryAfter }).end();
    },
  });
  return { bench, server, outbox: bench.outbox({ a: bench.listener(server) }) };
}

it.each([403, 415, 307])(
  "after %i with Retry-After the listener rests for all its events",
  async (status) => {
    const { bench, server, outbox } = await refusing(status, "300");
    await outbox.enqueue({ listener: "a", payload: { n: 1 } });
    outbox.start();
    await bench.passUntil(async () => (await outbox.stats())[0]?.restsUntil !== undefined);
    expect((await outbox.stats())[0]?.restsUntil).toBeGreaterThan(bench.storeClock.now() + 250_000);
    expect(bench.told("warning")).toHaveLength(1);
    await outbox.enqueue({ listener: "a", payload: { n: 2 } });
    await bench.pass(240_000, 60_000);
    expect(server.requests).toHaveLength(1);
    await bench.passUntil(() => server.runs.size === 2, 5_000);
  },
);

it("a listener rests as long as it asked, although the store's clock is put back as that is noted", async () => {
  const { bench, outbox } = await refusing(429, "300");
  const rest = bench.store.rest;
  bench.store.rest = (...given) => {
    bench.storeClock.adjust(-1_000_000);
    return rest(...given);
  };
  await outbox.enqueue({ listener: "a", payload: { n: 1 } });
  outbox.start();
  await bench.passUntil(async () => (await outbox.stats())[0]?.restsUntil !== undefined);
  const restsForMs = ((await outbox.stats())[0]?.restsUntil ?? 0) - bench.storeClock.now();
  expect(restsForMs).toBeGreaterThan(250_000);
  expect(restsForMs).toBeLessThanOrEqual(300_000);
});

it("413 with Retry-After makes this event wait, and no dead letter; others go on", async () => {
  const { bench, server, outbox } = await refusing(413, "300");
  await outbox.enqueue({ listener: "a", payload: { n: 1 } });
  outbox.start();
  await bench.passUntil(() => server.requests.length === 1);
  await outbox.enqueue({ listener: "a", payload: { n: 2 } });
  await bench.passUntil(() => server.runs.size === 1);
  expect((await outbox.stats())[0]).toMatchObject({ pending: 1, dead: 0 });
  expect((await outbox.stats())[0]?.restsUntil).toBeUndefined();
  await bench.pass(200_000, 60_000);
  expect(server.runs.size).toBe(1);
  await bench.passUntil(() => server.runs.size === 2, 5_000);
  expect(server.requests).toHaveLength(3);
});

it("of Standard Webhooks, 400 with Retry-After is of one event too", async () => {
  const bench = outboxBench();
  const asked: number[] = [];
  const server = await bench.receiver({
    intercept(request, response) {
      request.resume();
      asked.push(bench.storeClock.now());
      response.writeHead(asked.length === 1 ? 400 : 200, { "Retry-After": "300" }).end();
    },
  });
  const signer = standardWebhooksSigner({ secrets: generateStandardSecret() });
  const outbox = bench.outbox({ a: { ...bench.listener(server), signer } });
  await outbox.enqueue({ listener: "a", payload: { n: 1 } });
  outbox.start();
  await bench.passUntil(() => asked.length === 1);
  await outbox.enqueue({ listener: "a", payload: { n: 2 } });
  await bench.passUntil(() => asked.length === 2);
  await bench.pass(301_000, 60_000);
  await bench.passUntil(() => asked.length === 3);
  expect((asked[2] ?? 0) - (asked[0] ?? 0)).toBeGreaterThanOrEqual(300_000);
});

it.each([
  [403, "60", 60_000],
  [400, "60", 60_000],
  [422, " 7.5 ", 8_000],
  [413, "99", 99_000],
  [401, "99999999", 86_400_000],
  [404, "soon", undefined],
])("send tells that %i asked for %j", async (status, retryAfter, wanted) => {
  const { bench, server } = await refusing(status, retryAfter);
  const listener = bench.listener(server);
  const error = await createSender({ ...listener, url: String(listener.url) })
    .send({})
    .catch((cause: DeliveryError) => cause);
  expect(error).toMatchObject({ attempts: [{ status }] });
  expect((error as DeliveryError).retryAfterMs).toBe(wanted);
});

it("an error of RFC 8935 keeps it, and a scheme of one's own reads seconds without a clock", () => {
  const { scheme } = securityEventSigner({
    issuer: "https://idp.example.com/",
    audience: "https://rp.example.com/",
    key: { key: "never used", kid: "k", alg: "ES256" },
  });
  const headers = [["Retry-After", "60"]] as const;
  const body = new TextEncoder().encode(JSON.stringify({ err: "access_denied" }));
  expect(scheme.classify({ status: 400, headers, body }, 1, 0)).toMatchObject({
    outcome: "setup",
    retryAfterMs: 60_000,
  });
  expect(classifyRefusal({ status: 403, headers })).toMatchObject({ retryAfterMs: 60_000 });
  const date = [["Retry-After", "Thu, 01 Jan 2026 00:05:00 GMT"]] as const;
  expect(classifyRefusal({ status: 403, headers: date })).not.toHaveProperty("retryAfterMs");
});
