import type { IncomingMessage, ServerResponse } from "node:http";
import { createEvent, createSender, hmacSigner } from "hookproof";
import { expect, it } from "vitest";
import { receiverServer, SECRET } from "./receiver-server.js";

const EVENTS = process.env.HOOKPROOF_LONG ? 10_000 : 1_500;
const FAILING_SHARE = 0.3;
const OTHER_SECRET = "x7Jq0nXk1m2p3r4s5t6u7v8w9y0z-A_BCDEFGHIJKLMN";

type Receive = (request: IncomingMessage, response: ServerResponse) => Promise<void>;
type Failure = (request: IncomingMessage, response: ServerResponse, receive: Receive) => unknown;

/** Takes the event for good, and then hinders the answer. */
const afterAccepting =
  (hinder: (response: ServerResponse) => unknown): Failure =>
  async (request, response, receive) => {
    const { end } = response;
    response.end = () => {
      response.end = end;
      hinder(response);
      return response;
    };
    await receive(request, response);
  };

const refusing =
  (status: number, headers: Record<string, string> = {}): Failure =>
  (request, response) => {
    request.resume();
    response.writeHead(status, headers).end();
  };

/** Refuses a good signature, but no event twice in a row. */
function alternating401(): Failure {
  const refused = new Set<unknown>();
  return async (request, response, receive) => {
    const id = request.headers["webhook-event-id"];
    if (refused.delete(id)) return receive(request, response);
    refused.add(id);
    return refusing(401)(request, response, receive);
  };
}

const endless = (response: ServerResponse): void => {
  const write = () => {
    while (!response.destroyed && response.write("x".repeat(8_192)));
  };
  response.on("drain", write);
  write();
};

/** Every way in which a receiver fails that an event can survive. */
const FAILURES: Record<string, Failure> = {
  "500": refusing(500),
  "502 with a Date ten years off": refusing(502, { Date: "Thu, 01 Jan 2037 00:00:00 GMT" }),
  "503 with Retry-After: 1e12": refusing(503, { "Retry-After": "1e12" }),
  "429 with Retry-After of a day": refusing(429, { "Retry-After": "86400" }),
  "alternating 401": alternating401(),
  "reset before reading": (request) => request.socket.resetAndDestroy(),
  "closed before reading": (request) => request.socket.destroy(),
  "reset after reading": (request) => void request.resume().on("end", () => request.socket.resetAndDestroy()),
  "no answer": (request) => void request.resume(),
  "endless headers": (request) => {
    request.resume();
    const { socket } = request;
    socket.write("HTTP/1.1 200 OK\r\n");
    const write = () => {
      while (!socket.destroyed && socket.write(`X-Filler: ${"y".repeat(1_000)}\r\n`));
    };
    socket.on("drain", write);
    write();
  },
  "not HTTP": (request) => {
    request.resume();
    request.socket.end("what?\r\n\r\n");
  },
  "accepted, then reset": afterAccepting((response) => response.socket?.resetAndDestroy()),
  "accepted, then no answer": afterAccepting(() => {}),
  "accepted, then an answer cut off": afterAccepting((response) => {
    response.writeHead(200, { "Content-Length": "100" });
    response.write("{");
    setImmediate(() => response.destroy());
  }),
  "accepted, with an endless body": afterAccepting(endless),
  "accepted, answered too late": afterAccepting((response) => {
    setTimeout(() => response.destroyed || response.writeHead(200).end(), 400);
  }),
};

it(`${EVENTS} events through a receiver that fails 30 % of all requests: each runs once, none is lost`, {
  timeout: 300_000,
}, async () => {
  const ways = Object.entries(FAILURES);
  const failed = new Map<string, number>();
  let requests = 0;
  const server = await receiverServer({
    // Both secrets are valid, as during a rotation: a stray 401 makes the sender try the other one.
    auth: { method: "hmac", secret: [SECRET, OTHER_SECRET] },
    async intercept(request, response, receive) {
      requests += 1;
      const chosen =
        Math.random() < FAILING_SHARE ? ways[Math.floor(Math.random() * ways.length)] : undefined;
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
