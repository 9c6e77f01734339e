import { Agent } from "node:https";
import type { AddressInfo } from "node:net";
import { createServer } from "node:tls";
import { createSender, hmacSigner } from "hookproof";
import { checkKeySet } from "hookproof/jwks";
import { undiciTransport } from "hookproof/node";
import { describe, expect, it, onTestFinished } from "vitest";
import { createTransport } from "../../src/http/node/transport.js";
import type { Transport } from "../../src/http/transport.js";
import { runCertificates } from "../kit/certificates.js";
import { type Clients, undiciClients } from "../kit/drivers.js";
import { type LocalServer, pour, tcpServer } from "../kit/local-server.js";

const AHEAD = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
const OK = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

/** A server that says this to every request, after so many milliseconds. */
async function saying(text: string, afterMs = 0): Promise<LocalServer> {
  const server = await tcpServer((socket) =>
    socket.on("data", () => {
      if (afterMs === 0) socket.write(text);
      else setTimeout(() => socket.write(text), afterMs);
    }),
  );
  onTestFinished(server.stop);
  return server;
}

/** A server that sends the same for as long as somebody reads it: informational answers, if nothing else is said. */
async function flooding(text = AHEAD, first = ""): Promise<LocalServer> {
  const server = await tcpServer((socket) => {
    socket.once("data", () => {
      socket.write(first);
      pour(socket, text);
    });
  });
  onTestFinished(server.stop);
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

const TRANSPORTS: Clients<(ca?: string) => Transport> = [
  ["Node", describe, (ca) => createTransport(ca === undefined ? {} : { agent: new Agent({ ca }) })],
  ...undiciClients((undici) => (ca?: string) => {
    const agent = new undici.Agent({ connect: { ca } });
    onTestFinished(() => agent.destroy());
    return undiciTransport(agent);
  }),
];

for (const [name, group, make] of TRANSPORTS)
  group(`informational answers over ${name}`, () => {
    it("end an exchange when there is no end of them, and the connection with it", async () => {
      const server = await flooding();
      await expect(make()(get(server))).rejects.toEqual(invalid);
      await expect.poll(() => server.connections[0]?.destroyed).toBe(true);
    });

    it.each([
      ["line ends", "\r\n"],
      ["line feeds", "\n"],
    ])("are not needed to end it: %s without end, which no event tells of", async (_what, text) => {
      const server = await flooding(text);
      await expect(make()(get(server))).rejects.toEqual(invalid);
      await expect.poll(() => server.connections[0]?.destroyed).toBe(true);
    });

    it("may have line ends after them, but not without end", async () => {
      const server = await flooding("\r\n", AHEAD);
      await expect(make()(get(server))).rejects.toEqual(invalid);
    });

    it("count from the request on: a kept connection may bring many answers, and a long one", async () => {
      const body = "x".repeat(60_000);
      // Late enough to be looked at while it is waited for.
      const server = await saying(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`, 50);
      const send = make();
      const request = { ...get(server), maxResponseBytes: 100_000 };
      for (let i = 0; i < 5; i++) expect(await send(request)).toMatchObject({ status: 200 });
      // undici opens a second one, as its answer is told before the first one is free.
      expect(server.connections.length).toBeLessThan(3);
    });

    it("of line ends, a few thousand are passed over", async () => {
      expect(await make()(get(await saying("\r\n".repeat(4_000) + OK)))).toMatchObject({ status: 200 });
    });

    it("may be 20 ahead of an answer, and not 21", async () => {
      expect(await make()(get(await saying(AHEAD.repeat(20) + OK)))).toMatchObject({ status: 200 });
      await expect(make()(get(await saying(AHEAD.repeat(21) + OK)))).rejects.toEqual(invalid);
    });

    it("are counted for each exchange again", async () => {
      const server = await saying(AHEAD.repeat(15) + OK);
      const send = make();
      for (let i = 0; i < 3; i++) expect(await send(get(server))).toMatchObject({ status: 200 });
    });

    it("may have 16 KiB of headers together", async () => {
      const ahead = (bytes: number) => `HTTP/1.1 103 Early Hints\r\nX: ${"x".repeat(bytes)}\r\n\r\n`;
      expect(await make()(get(await saying(ahead(8_000).repeat(2) + OK)))).toMatchObject({ status: 200 });
      await expect(make()(get(await saying(ahead(8_000).repeat(3) + OK)))).rejects.toEqual(invalid);
    });

    it("line ends without end over TLS end the exchange as well", async () => {
      const { ca, server: certificate } = runCertificates();
      const server = createServer(certificate, (socket) => {
        socket.on("error", () => {});
        socket.once("data", () => pour(socket, "\r\n"));
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      onTestFinished(() => {
        server.close();
      });
      const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
      const request = { ...get({ port: 0 } as LocalServer), url };
      await expect(make(ca)(request)).rejects.toEqual(invalid);
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

it("a key set's host that sends line ends without end is unavailable at once", async () => {
  const { port } = await flooding("\r\n");
  const url = `http://127.0.0.1:${port}/jwks.json`;
  const { checks } = await checkKeySet(url, { allowInsecureLoopback: true });
  expect(checks.at(-1)).toMatchObject({
    rule: "reachable",
    outcome: "fail",
    detail: expect.stringContaining("64 KiB") as string,
  });
});

it("bytes on an idle connection end it, and the next request has a new one", async () => {
  const server = await tcpServer((socket) =>
    socket.on("data", () => socket.write(OK, () => setTimeout(() => pour(socket, "\r\n"), 5))),
  );
  onTestFinished(server.stop);
  const send = createTransport();
  expect(await send(get(server))).toMatchObject({ status: 200 });
  await expect.poll(() => server.connections[0]?.destroyed).toBe(true);
  expect(await send(get(server))).toMatchObject({ status: 200 });
  expect(server.connections).toHaveLength(2);
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
  onTestFinished(server.stop);
  const send = createTransport();
  await send(get(server));
  await expect(send(get(server))).rejects.toEqual(expect.objectContaining({ code: "CONNECTION_LOST" }));
  expect(requests).toHaveLength(2);
});
