import { Agent, type ClientRequestArgs } from "node:http";
import type { Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { createSender, hmacSigner } from "hookproof";
import { expect, it } from "vitest";
import { createTransport } from "../../src/http/node/transport.js";
import { isUnsent, type TransportRequest } from "../../src/http/transport.js";
import { started, tcpServer } from "../kit/local-server.js";

const OK = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
const TIMEOUT_MS = 50;

/** What a process that was stopped and continued is like: time has passed, and what happened meanwhile comes first. */
function stand(): void {
  const until = performance.now() + TIMEOUT_MS + 10;
  while (performance.now() < until);
}

/** Connections during which the process stands still before one of their events. */
class StandingAgent extends Agent {
  readonly #event: "connect" | "error";

  constructor(event: "connect" | "error") {
    super({ keepAlive: true });
    this.#event = event;
  }

  override createConnection(options: ClientRequestArgs): Socket {
    const socket = super.createConnection(options) as Socket;
    socket.on(this.#event, stand);
    return socket;
  }
}

/** Answers the first request, and breaks the connection at the second. */
async function receiver() {
  const requests: string[] = [];
  const server = await started(
    tcpServer((socket) => {
      socket.on("error", () => {});
      socket.on("data", (data) => {
        requests.push(String(data));
        if (requests.length === 2) socket.resetAndDestroy();
        else socket.write(OK);
      });
    }),
  );
  return { requests, url: `http://127.0.0.1:${server.port}/api/v1/webhooks/incoming/lst_1` };
}

const get = (url: string, timeoutMs: number): TransportRequest => ({
  ...{ method: "GET", url, headers: [], maxResponseBytes: 1_000 },
  timeoutMs,
});

it("sends nothing over a connection that was made after the time was over", async () => {
  const { requests, url } = await receiver();
  const agent = new StandingAgent("connect");
  const send = createTransport({ agent });
  const error = await send(get(url, TIMEOUT_MS)).catch((thrown) => thrown);
  expect(error).toMatchObject({ code: "TIMED_OUT" });
  expect(isUnsent(error)).toBe(true);
  await send(get(url, 10_000));
  expect(requests).toHaveLength(1);
  agent.destroy();
});

it("sends nothing once more after the time is over", async () => {
  const { requests, url } = await receiver();
  const agent = new StandingAgent("error");
  const send = createTransport({ agent });
  await send(get(url, 10_000));
  const error = await send(get(url, TIMEOUT_MS)).catch((thrown) => thrown);
  expect(error).toMatchObject({ code: "TIMED_OUT" });
  expect(isUnsent(error)).toBe(false);
  await send(get(url, 10_000));
  expect(requests).toHaveLength(3);
  agent.destroy();
});

it("sends nothing that was signed after the time was over", async () => {
  const { requests, url } = await receiver();
  const signer = hmacSigner({ secret: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8" });
  const slow = {
    ...signer,
    async sign(request: Parameters<typeof signer.sign>[0]) {
      await setImmediate();
      stand();
      return signer.sign(request);
    },
  };
  const sender = createSender({
    ...{ url, signer: slow, attemptTimeoutMs: TIMEOUT_MS },
    retry: { maxAttempts: 1 },
  });
  await expect(sender.send({ type: "user.created" })).rejects.toMatchObject({ code: "TIMED_OUT" });
  expect(requests).toEqual([]);
});
