import { get as plainGet } from "node:http";
import { get } from "node:https";
import { Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { keptAgents, loadHttp } from "../../src/http/node/connections.js";
import { createTransport } from "../../src/http/node/transport.js";
import type { TransportRequest } from "../../src/http/transport.js";
import { runCertificates } from "../kit/certificates.js";
import { httpsServer, type LocalServer, started, tcpServer } from "../kit/local-server.js";

/** The time limits that connections to a server were given, in order; 0 takes a limit away. */
let limits: { socket: Socket; port: number | undefined; ms: number }[];
beforeEach(() => {
  limits = [];
  const { setTimeout } = Socket.prototype;
  vi.spyOn(Socket.prototype, "setTimeout").mockImplementation(function (this: Socket, ms, ...rest) {
    limits.push({ socket: this, port: this.remotePort, ms });
    return setTimeout.call(this, ms, ...rest);
  });
});
afterEach(() => vi.restoreAllMocks());

const limitsAt = ({ port }: LocalServer) => limits.filter((one) => one.port === port).map(({ ms }) => ms);

/** Lets the time limit of a client's idle connection to a server pass. */
function passLimit(server: LocalServer, index = 0): void {
  const sockets = new Set(limits.filter(({ port }) => port === server.port).map(({ socket }) => socket));
  [...sockets][index]?.emit("timeout");
}

/** A server that says this of how long it keeps connections, and keeps them longer than any test. */
function serverThatSays(keepAlive?: string): Promise<LocalServer> {
  const said = keepAlive ? `Keep-Alive: ${keepAlive}\r\n` : "";
  return started(
    tcpServer((socket) =>
      socket.on("data", () => socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 0\r\n${said}\r\n`)),
    ),
  );
}

function request({ port }: LocalServer): TransportRequest {
  return {
    method: "GET",
    url: `http://127.0.0.1:${port}/`,
    headers: [],
    timeoutMs: 5_000,
    maxResponseBytes: 1_000,
  };
}

/** Until so many of a server's connections are closed, and no more of them. */
const closed = ({ connections }: LocalServer, count: number) =>
  expect.poll(() => connections.filter(({ destroyed }) => destroyed).length).toBe(count);

describe("an idle connection", () => {
  it("is closed after 30 s, and used again before", async () => {
    const server = await serverThatSays();
    const transport = createTransport();
    await transport(request(server));
    await transport(request(server));
    expect(server.connections).toHaveLength(1);
    expect(limitsAt(server)).toEqual([30_000, 0, 30_000]);
    passLimit(server);
    await closed(server, 1);
    await transport(request(server));
    expect(server.connections).toHaveLength(2);
  });

  it.each([
    ["timeout=4", 3_000],
    ["timeout=4, max=100", 3_000],
    ["timeout=600", 30_000],
    ["max=5", 30_000],
    ["timeout=soon", 30_000],
  ])("of a server that says %j is kept for %i ms", async (keepAlive, ms) => {
    const server = await serverThatSays(keepAlive);
    await createTransport()(request(server));
    expect(limitsAt(server)).toEqual([ms]);
    passLimit(server);
    await closed(server, 1);
  });

  it("is not kept at all by a client whose server keeps it for a second", async () => {
    const server = await serverThatSays("timeout=1");
    const transport = createTransport();
    await transport(request(server));
    await closed(server, 1);
    await transport(request(server));
    expect(server.connections).toHaveLength(2);
  });

  it("is closed over TLS as well", async () => {
    const { ca, server: certificate } = runCertificates();
    const server = await started(httpsServer(certificate, (_req, res) => res.end()));
    const agent = keptAgents(await loadHttp(), { ca })["https:"];
    await new Promise<void>((resolve) => {
      get({ host: "127.0.0.1", port: server.port, agent }, (res) => res.resume().on("end", () => resolve()));
    });
    await expect.poll(() => limitsAt(server).at(-1)).toBe(30_000);
    passLimit(server);
    await closed(server, 1);
  });

  it("is closed without the others", async () => {
    const server = await serverThatSays();
    const transport = createTransport();
    await Promise.all([transport(request(server)), transport(request(server))]);
    expect(limitsAt(server)).toEqual([30_000, 30_000]);
    passLimit(server, 1);
    await closed(server, 1);
    passLimit(server, 0);
    await closed(server, 2);
  });

  it("keeps no process alive, and the network knows that it is kept", async () => {
    const setKeepAlive = vi.spyOn(Socket.prototype, "setKeepAlive");
    const server = await serverThatSays();
    const agent = keptAgents(await loadHttp(), {})["http:"];
    await new Promise<void>((resolve) => {
      plainGet({ host: "127.0.0.1", port: server.port, agent }, (res) =>
        res.resume().on("end", () => resolve()),
      );
    });
    await expect.poll(() => Object.values(agent.freeSockets).flat()).toHaveLength(1);
    const [idle] = Object.values(agent.freeSockets).flat();
    expect((idle as unknown as { _handle: { hasRef(): boolean } })._handle.hasRef()).toBe(false);
    expect(setKeepAlive).toHaveBeenCalledWith(true, 1_000);
    agent.destroy();
  });
});
