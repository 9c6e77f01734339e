import { createSender, hmacSigner } from "hookproof";
import { checkKeySet } from "hookproof/jwks";
import { undiciTransport } from "hookproof/node";
import { Agent } from "undici";
import { afterEach, describe, expect, it } from "vitest";
import type { Transport } from "../../src/http/transport.js";
import { createTransport } from "../../src/http/transport-node.js";
import { type LocalServer, tcpServer } from "./local-server.js";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const AHEAD = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
const OK = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

/** A server that says this to every request. */
async function saying(text: string): Promise<LocalServer> {
  const server = await tcpServer((socket) => socket.on("data", () => socket.write(text)));
  cleanups.push(server.stop);
  return server;
}

/** A server that sends informational answers for as long as somebody reads them. */
async function flooding(): Promise<LocalServer> {
  const server = await tcpServer((socket) => {
    const pour = () => {
      while (!socket.destroyed && socket.write(AHEAD.repeat(100)));
    };
    socket.on("drain", pour);
    socket.once("data", pour);
  });
  cleanups.push(server.stop);
  return server;
}

const get = ({ port }: LocalServer) => ({
  method: "GET",
  url: `http://127.0.0.1:${port}/`,
  headers: [],
  timeoutMs: 20_000,
  maxResponseBytes: 1_000,
});

const invalid = expect.objectContaining({ code: "RESPONSE_INVALID" });

const TRANSPORTS: Record<string, () => Transport> = {
  node: () => createTransport(),
  undici() {
    const agent = new Agent();
    cleanups.push(() => agent.destroy());
    return undiciTransport(agent);
  },
};

describe.each(Object.entries(TRANSPORTS))("informational answers over %s", (_name, make) => {
  it("end an exchange when there is no end of them, and the connection with it", async () => {
    const server = await flooding();
    await expect(make()(get(server))).rejects.toEqual(invalid);
    await expect.poll(() => server.connections[0]?.destroyed).toBe(true);
  });

  it("may be 20 ahead of an answer, and not 21", async () => {
    expect(await make()(get(await saying(AHEAD.repeat(20) + OK)))).toMatchObject({ status: 200 });
    await expect(make()(get(await saying(AHEAD.repeat(21) + OK)))).rejects.toEqual(invalid);
  });

  it("are counted for each exchange anew", async () => {
    const server = await saying(AHEAD.repeat(15) + OK);
    const send = make();
    for (let i = 0; i < 3; i++) expect(await send(get(server))).toMatchObject({ status: 200 });
  });

  it("may have 16 KiB of headers together", async () => {
    const ahead = (bytes: number) => `HTTP/1.1 103 Early Hints\r\nX: ${"x".repeat(bytes)}\r\n\r\n`;
    expect(await make()(get(await saying(ahead(8_000).repeat(2) + OK)))).toMatchObject({ status: 200 });
    await expect(make()(get(await saying(ahead(8_000).repeat(3) + OK)))).rejects.toEqual(invalid);
  });

  it.each([
    ["with an upgrade", "HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"],
    ["without one", "HTTP/1.1 101 Switching\r\n\r\n"],
  ])("never switch protocols, %s", async (_case, text) => {
    const server = await saying(text);
    await expect(make()(get(server))).rejects.toEqual(invalid);
    await expect.poll(() => server.connections[0]?.destroyed).toBe(true);
  });
});

it("a sender at a listener that floods it fails with RESPONSE_INVALID", async () => {
  const server = await flooding();
  const sender = createSender({
    url: `http://127.0.0.1:${server.port}/api/v1/webhooks/incoming/lst_1`,
    signer: hmacSigner({ secret: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8" }),
    attemptTimeoutMs: 20_000,
    wait: async () => {},
  });
  expect(await sender.trySend({})).toMatchObject({ code: "RESPONSE_INVALID", attempts: [{}, {}, {}] });
});

it("a key set's host that floods a listener is unavailable at once", async () => {
  const { port } = await flooding();
  const { checks } = await checkKeySet(`http://127.0.0.1:${port}/jwks.json`, { allowInsecureLoopback: true });
  expect(checks.at(-1)).toMatchObject({
    rule: "reachable",
    outcome: "fail",
    detail: expect.stringContaining("informational answers") as string,
  });
});

it("a request is not sent again on another connection once something came back ahead of its answer", async () => {
  const requests: string[] = [];
  const server = await tcpServer((socket) => {
    socket.once("data", (first) => {
      requests.push(String(first));
      socket.write(OK);
      socket.once("data", (second) => {
        requests.push(String(second));
        socket.write(AHEAD, () => setTimeout(() => socket.resetAndDestroy(), 20));
      });
    });
  });
  cleanups.push(server.stop);
  const send = createTransport();
  await send(get(server));
  await expect(send(get(server))).rejects.toEqual(expect.objectContaining({ code: "CONNECTION_LOST" }));
  expect(requests).toHaveLength(2);
});
