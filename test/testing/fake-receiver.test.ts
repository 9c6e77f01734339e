import { getRequestListener } from "@hono/node-server";
import { createSender, hmacSigner } from "hookproof";
import { createFakeReceiver, fixedClock } from "hookproof/testing";
import { expect, it } from "vitest";
import { serve } from "../kit/loopback.js";
import { SECRET } from "../kit/signed-request.js";

const URL = "https://tenant.example.com/api/v1/webhooks/incoming/lst_1";
const wait = async () => {};

it("gives the script's answers in order, and past its end those of a listener", async () => {
  const receiver = createFakeReceiver([{ status: 429, retryAfterSeconds: 2 }, 500], { secret: SECRET });
  const waits: number[] = [];
  const sender = createSender({
    url: URL,
    signer: hmacSigner({ secret: SECRET }),
    transport: receiver.transport,
    wait: async (ms) => void waits.push(ms),
  });
  expect(await sender.send("[1]", { eventId: "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10" })).toMatchObject({
    outcome: "accepted",
  });
  expect(waits[0]).toBeGreaterThanOrEqual(2_000);
  expect(receiver.requests.map(({ status, text }) => [status, text])).toEqual([
    [429, "[1]"],
    [500, "[1]"],
    [200, "[1]"],
  ]);
  const again = await sender.send("[1]", { eventId: "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10" });
  expect(again.outcome).toBe("duplicate");
});

it("refuses a wrong signature as a listener does, and keeps the script for requests that pass", async () => {
  const receiver = createFakeReceiver([503], { secret: SECRET });
  const { transport } = receiver;
  const wrong = createSender({ url: URL, signer: hmacSigner({ secret: "another secret" }), transport, wait });
  expect(await wrong.trySend("{}")).toMatchObject({ ok: false, code: "AUTHENTICATION_REFUSED" });
  expect(receiver.requests[0]?.verdict).toMatchObject({ ok: false, code: "SIGNATURE_MISMATCH" });
  const right = createSender({ url: URL, signer: hmacSigner({ secret: SECRET }), transport, wait });
  await right.send("{}");
  expect(receiver.requests.map(({ status }) => status)).toEqual([401, 503, 200]);
});

it("holds timestamps against its own clock", async () => {
  const clock = fixedClock("2020-01-01T00:00:00Z");
  const receiver = createFakeReceiver([], { secret: SECRET, clock });
  const { transport } = receiver;
  const sender = createSender({ url: URL, signer: hmacSigner({ secret: SECRET }), transport, clock, wait });
  expect(await sender.trySend("{}")).toMatchObject({ ok: true });
  clock.advance(-301_000);
  const late = createSender({
    url: URL,
    signer: hmacSigner({ secret: SECRET }),
    transport,
    clock: { now: () => clock.now() + 301_000 },
    wait,
  });
  await late.trySend("{}");
  expect(receiver.requests[1]?.verdict).toMatchObject({ code: "TIMESTAMP_OUT_OF_WINDOW" });
});

it("without a secret looks at nothing and answers 200", async () => {
  const receiver = createFakeReceiver();
  const request = new Request("http://127.0.0.1/anything", { method: "PUT", body: "hello" });
  expect((await receiver.handle(request)).status).toBe(200);
  expect(receiver.requests).toMatchObject([
    { method: "PUT", text: "hello", status: 200, verdict: undefined, eventId: undefined },
  ]);
});

it("drops, delays past the time limit, and is aborted", async () => {
  const { transport } = createFakeReceiver([{ drop: true }, { delayMs: 60_000 }, { delayMs: 60_000 }, 204]);
  const request = { method: "POST", url: URL, headers: [], timeoutMs: 5, maxResponseBytes: 1 };
  await expect(transport(request)).rejects.toMatchObject({ code: "CONNECTION_LOST" });
  await expect(transport(request)).rejects.toMatchObject({ code: "TIMED_OUT" });
  const signal = AbortSignal.abort();
  await expect(transport({ ...request, timeoutMs: 5_000, signal })).rejects.toMatchObject({
    code: "ABORTED",
  });
  expect(await transport(request)).toMatchObject({ status: 204, truncated: true });
});

it("serves a real sender over HTTP", async () => {
  const receiver = createFakeReceiver([503, { accept: true, status: 502 }], { secret: SECRET });
  const server = await serve(getRequestListener((request) => receiver.handle(request)));
  try {
    const url = `${server.url}/api/v1/webhooks/incoming/lst_1`;
    const sender = createSender({ url, signer: hmacSigner({ secret: SECRET }), wait });
    expect(await sender.send({ user: "u_1" })).toMatchObject({ outcome: "accepted" });
    expect(receiver.requests.map(({ status }) => status)).toEqual([503, 502, 409]);
  } finally {
    await server.stop();
  }
});

it("names what cannot work", () => {
  expect(() => createFakeReceiver(503 as never)).toThrow(/^script must be/);
});
