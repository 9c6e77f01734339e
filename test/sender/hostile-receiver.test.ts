import type { Socket } from "node:net";
import { inspect } from "node:util";
import { createSender, hmacSigner, type SenderOptions } from "hookproof";
import { nodeTransport } from "hookproof/node";
import { fixedClock } from "hookproof/testing";
import { afterEach, describe, expect, it } from "vitest";
import { httpServer, type LocalServer, tcpServer } from "../kit/local-server.js";
import { receiverServer, SECRET } from "../kit/receiver-server.js";

const servers: LocalServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

function sender(server: LocalServer, options: Partial<SenderOptions> = {}) {
  servers.push(server);
  return createSender({
    url: `http://127.0.0.1:${server.port}/api/v1/webhooks/incoming/lst_1`,
    signer: hmacSigner({ secret: SECRET }),
    wait: async () => {},
    ...options,
  });
}

/** Runs work and gives how far memory outside and inside the heap rose meanwhile, in bytes. */
async function growthOf(work: () => Promise<unknown>): Promise<number> {
  const used = () => {
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const before = used();
  let peak = before;
  const timer = setInterval(() => {
    peak = Math.max(peak, used());
  }, 5);
  await work();
  clearInterval(timer);
  return Math.max(peak, used()) - before;
}

/** Writes for as long as the other side reads. */
function pour(socket: Socket, chunk: () => string | Buffer): void {
  const write = () => {
    while (!socket.destroyed && socket.write(chunk()));
  };
  socket.on("drain", write);
  write();
}

const MEGABYTE = 1024 * 1024;

describe("a hostile receiver", () => {
  it("answers 200 with a body that never ends: accepted, and 16 KiB of it are read", async () => {
    const block = Buffer.alloc(65_536, "x");
    let poured = 0;
    const server = await httpServer((_req, res) => {
      res.on("drain", () => write());
      const write = () => {
        while (!res.destroyed && res.write(block)) poured += block.length;
      };
      write();
    });
    const { trySend } = sender(server);
    const growth = await growthOf(async () => {
      for (let i = 0; i < 20; i++)
        expect(await trySend({ i })).toMatchObject({ ok: true, outcome: "accepted" });
    });
    expect(growth).toBeLessThan(64 * MEGABYTE);
    expect(poured).toBeLessThan(20 * 16 * MEGABYTE);
    expect(server.connections.length).toBe(20); // none of these connections is used again
  });

  it("sends headers that never end: RESPONSE_INVALID, memory flat", async () => {
    const server = await tcpServer((socket) => {
      socket.write("HTTP/1.1 200 OK\r\n");
      pour(socket, () => `X-Filler: ${"y".repeat(1_000)}\r\n`);
    });
    const { trySend } = sender(server);
    const growth = await growthOf(async () => {
      for (let i = 0; i < 10; i++)
        expect(await trySend({ i })).toMatchObject({ ok: false, code: "RESPONSE_INVALID" });
    });
    expect(growth).toBeLessThan(32 * MEGABYTE);
  });

  it("sends interim answers that never end: RESPONSE_INVALID, memory flat", async () => {
    const server = await tcpServer((socket) =>
      pour(socket, () => "HTTP/1.1 103 Early Hints\r\nX: y\r\n\r\n".repeat(50)),
    );
    const { trySend } = sender(server, { retry: { maxAttempts: 1 } });
    const growth = await growthOf(async () => {
      expect(await trySend({})).toMatchObject({ ok: false, code: "RESPONSE_INVALID" });
    });
    expect(growth).toBeLessThan(64 * MEGABYTE);
  });

  it("never answers: TIMED_OUT, after every attempt", async () => {
    const server = await httpServer(() => {});
    const { trySend } = sender(server, { attemptTimeoutMs: 30 });
    expect(await trySend({})).toMatchObject({ ok: false, code: "TIMED_OUT", attempts: [{}, {}, {}] });
    await expect.poll(() => server.connections.every(({ destroyed }) => destroyed)).toBe(true);
  });

  it("never answers and keeps the deadline: the whole send is bounded", async () => {
    const server = await httpServer(() => {});
    const clock = fixedClock(0);
    const exchange = nodeTransport();
    const given: number[] = [];
    const { trySend } = sender(server, {
      clock,
      deadlineMs: 30_000,
      attemptTimeoutMs: 7_000,
      retry: { firstDelayMs: 0, jitter: 0, maxAttempts: 1_000 },
      // By the clock each attempt takes all the time it is given.
      async transport(request) {
        given.push(request.timeoutMs);
        clock.advance(request.timeoutMs);
        return exchange({ ...request, timeoutMs: 20 });
      },
    });
    expect(await trySend({})).toMatchObject({ ok: false, code: "TIMED_OUT", attempts: { length: 5 } });
    expect(given).toEqual([7_000, 7_000, 7_000, 7_000, 2_000]);
  });

  it("resets after the body was read: CONNECTION_LOST", async () => {
    const server = await httpServer((req) => {
      req.resume().on("end", () => (req.socket as Socket).resetAndDestroy());
    });
    expect(await sender(server).trySend({})).toMatchObject({
      ok: false,
      code: "CONNECTION_LOST",
      attempts: [{}, {}, {}],
    });
  });

  it("redirects to a metadata address: REDIRECT_REFUSED, and nothing goes there", async () => {
    const reached = await httpServer((_req, res) => res.end());
    servers.push(reached);
    const server = await httpServer((req, res) => {
      req.resume();
      const location =
        server.connections.length % 2 ? "http://169.254.169.254/latest" : `http://127.0.0.1:${reached.port}/`;
      res.writeHead(307, { Location: location, Connection: "close" }).end();
    });
    const { trySend } = sender(server);
    for (let i = 0; i < 4; i++)
      expect(await trySend({ i })).toMatchObject({
        ok: false,
        code: "REDIRECT_REFUSED",
        attempts: [{ status: 307 }],
      });
    expect(reached.connections).toHaveLength(0);
  });

  it.each([
    ["1e12", [1_000, 2_000], {}], // not a number of seconds: the schedule holds
    ["1000000000000", [], { retryAfterMs: 24 * 60 * 60 * 1_000 }],
    ["99999999999999999999999999999999", [], { retryAfterMs: 24 * 60 * 60 * 1_000 }],
  ])("asks to come back after %s: gives up in time, and says when", async (asked, waited, error) => {
    const server = await httpServer((req, res) => {
      req.resume();
      res.writeHead(503, { "Retry-After": asked }).end();
    });
    const waits: number[] = [];
    const { trySend } = sender(server, {
      random: () => 0,
      wait: async (ms) => void waits.push(ms),
    });
    expect(await trySend({})).toMatchObject({
      ok: false,
      code: "RECEIVER_UNAVAILABLE",
      attempts: { length: waited.length + 1 },
      error,
    });
    expect(waits).toEqual(waited);
  });

  it("has a Date ten years off on every answer: no correction is tried", async () => {
    const server = await httpServer((req, res) => {
      req.resume();
      res.writeHead(400, { Date: "Thu, 01 Jan 2037 00:00:00 GMT" }).end();
    });
    const corrected: string[] = [];
    const { trySend } = sender(server, { observe: ({ type }) => corrected.push(type) });
    expect(await trySend({})).toMatchObject({ ok: false, code: "REQUEST_REFUSED" });
    expect(corrected).not.toContain("clock-corrected");
  });

  it("answers 500 a thousand times and then takes the event: accepted, with its history", async () => {
    let answers = 0;
    const server = await receiverServer({
      intercept(request, response, receive) {
        answers += 1;
        if (answers > 1_000) return receive(request, response);
        request.resume();
        response.writeHead(500).end("x".repeat(500));
      },
    });
    const { send } = sender(server, {
      retry: { maxAttempts: 1_001, firstDelayMs: 1, maxDelayMs: 1 },
      deadlineMs: Number.POSITIVE_INFINITY,
    });
    const growth = await growthOf(async () => {
      expect(await send({})).toMatchObject({ outcome: "accepted", attempts: { length: 1_001 } });
    });
    expect(growth).toBeLessThan(64 * MEGABYTE);
    expect([...server.runs.values()]).toEqual([1]);
    expect(server.connections).toHaveLength(1);
  });

  it("alternates 401 and the truth: fails at once, and the same event arrives when it is sent again", async () => {
    const server = await receiverServer({
      intercept(request, response, receive) {
        if (server.requests.length % 2 === 0) return receive(request, response);
        request.resume();
        response.writeHead(401).end();
      },
    });
    const one = sender(server);
    const failed = await one.trySend({});
    expect(failed).toMatchObject({ ok: false, code: "AUTHENTICATION_REFUSED", attempts: [{ number: 1 }] });
    const event = !failed.ok && "event" in failed.error ? failed.error.event : undefined;
    expect(await one.trySend(event)).toMatchObject({ ok: true, outcome: "accepted" });
    // While a secret is rotated the second one is tried before anything is given up.
    const two = sender(server, { signer: hmacSigner({ secret: [SECRET, SECRET] }) });
    expect(await two.trySend({})).toMatchObject({ ok: true, attempts: [{ corrected: ["secret"] }] });
  });

  it("closes kept connections whenever a request is on its way: each arrives, once", async () => {
    const server = await receiverServer({
      intercept(request, response, receive) {
        const reused = server.requests.filter(({ socket }) => socket === request.socket).length > 1;
        return reused ? request.socket.resetAndDestroy() : receive(request, response);
      },
    });
    const { send } = sender(server);
    for (let i = 0; i < 50; i++)
      expect(await send({ i })).toMatchObject({ outcome: "accepted", status: 200, attempts: { length: 1 } });
    expect([...server.runs.values()]).toEqual(Array.from({ length: 50 }, () => 1));
  });

  it("switches protocols unasked: RESPONSE_INVALID", async () => {
    const server = await tcpServer((socket) =>
      socket.once("data", () =>
        socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"),
      ),
    );
    const { trySend } = sender(server, { retry: { maxAttempts: 1 } });
    expect(await trySend({})).toMatchObject({ ok: false, code: "RESPONSE_INVALID" });
  });

  it("echoes our own request back: no error repeats the signature or the body", async () => {
    const server = await tcpServer((socket) => socket.pipe(socket));
    const { trySend } = sender(server, { retry: { maxAttempts: 1 } });
    const result = await trySend({ note: "confidential" });
    const shown = inspect(result, { depth: 10 });
    expect(result).toMatchObject({ ok: false, code: "RESPONSE_INVALID" });
    expect(shown).not.toMatch(/confidential|webhook-signature|rawPacket/i);
  });
});

describe("an abort", () => {
  it("ends a wait between attempts, without another one", async () => {
    const server = await httpServer((req, res) => {
      req.resume();
      res.writeHead(500).end();
    });
    const controller = new AbortController();
    servers.push(server);
    const { trySend } = createSender({
      url: `http://127.0.0.1:${server.port}/api/v1/webhooks/incoming/lst_1`,
      signer: hmacSigner({ secret: SECRET }),
      observe: ({ type }) => type === "retry-scheduled" && controller.abort(),
    });
    const result = await trySend({}, { signal: controller.signal });
    expect(result).toMatchObject({ ok: false, code: "ABORTED", attempts: [{ status: 500 }] });
  });
});
