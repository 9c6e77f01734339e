import { get as plainGet } from "node:http";
import { get } from "node:https";
import { Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { keptAgents } from "../../src/http/kept-agents-node.js";
import type { TransportRequest } from "../../src/http/transport.js";
import { createTransport } from "../../src/http/transport-node.js";
import { makeCertificates } from "./certificates.js";
import { httpsServer, type LocalServer, tcpServer } from "./local-server.js";

const servers: LocalServer[] = [];
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
  vi.advanceTimersByTime(100_000); // as in a process that has run for a while: no connection is idle since then
});
afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

/** A server that says this of how long it keeps connections, and keeps them longer than any test. */
async function serverThatSays(keepAlive?: string): Promise<LocalServer> {
  const said = keepAlive ? `Keep-Alive: ${keepAlive}\r\n` : "";
  const server = await tcpServer((socket) =>
    socket.on("data", () => socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 0\r\n${said}\r\n`)),
  );
  servers.push(server);
  return server;
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

/** How many of a server's connections are closed, once the client's word of it has had time to arrive. */
async function closed({ connections }: LocalServer): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, 20));
  return connections.filter(({ destroyed }) => destroyed).length;
}

describe("an idle connection", () => {
  it("is closed after 30 s, and no sooner than a second before", async () => {
    const server = await serverThatSays();
    const transport = createTransport();
    await transport(request(server));
    vi.advanceTimersByTime(28_900);
    await transport(request(server));
    expect(await closed(server)).toBe(0);
    vi.advanceTimersByTime(28_900);
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(1_200);
    expect(await closed(server)).toBe(1);
  });

  it.each(["timeout=4", "timeout=4, max=100"])(
    "is closed a second before its server's %j is over",
    async (keepAlive) => {
      const server = await serverThatSays(keepAlive);
      const transport = createTransport();
      await transport(request(server));
      vi.advanceTimersByTime(1_900);
      await transport(request(server));
      expect(await closed(server)).toBe(0);
      vi.advanceTimersByTime(3_000);
      expect(await closed(server)).toBe(1);
    },
  );

  it.each(["timeout=600", "max=5", "timeout=soon"])("is kept for its 30 s with %j", async (keepAlive) => {
    const server = await serverThatSays(keepAlive);
    const transport = createTransport();
    await transport(request(server));
    vi.advanceTimersByTime(28_900);
    await transport(request(server));
    expect(server.connections).toHaveLength(1);
    vi.advanceTimersByTime(30_100);
    expect(await closed(server)).toBe(1);
  });

  it("is not kept at all by a client whose server keeps it for a second", async () => {
    const server = await serverThatSays("timeout=1");
    const transport = createTransport();
    await transport(request(server));
    expect(await closed(server)).toBe(1);
    await transport(request(server));
    expect(server.connections).toHaveLength(2);
  });

  it("is not looked for when there is none", async () => {
    const server = await serverThatSays();
    const transport = createTransport();
    expect(vi.getTimerCount()).toBe(0);
    await transport(request(server));
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(30_000);
    expect(await closed(server)).toBe(1);
    vi.advanceTimersByTime(1_000);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("is closed over TLS as well", async () => {
    const { ca, server: certificate } = makeCertificates();
    const server = await httpsServer(certificate, (_req, res) => res.end());
    servers.push(server);
    const agent = keptAgents({ ca })["https:"];
    await new Promise<void>((resolve) => {
      get({ host: "127.0.0.1", port: server.port, agent }, (res) => res.resume().on("end", () => resolve()));
    });
    expect(await closed(server)).toBe(0);
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(30_000);
    expect(await closed(server)).toBe(1);
  });

  it("is closed by the time of each connection, the later ones later", async () => {
    const server = await serverThatSays();
    const transport = createTransport();
    await Promise.all([transport(request(server)), transport(request(server))]);
    vi.advanceTimersByTime(20_000);
    await transport(request(server));
    vi.advanceTimersByTime(10_000);
    expect(await closed(server)).toBe(1);
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(20_000);
    expect(await closed(server)).toBe(2);
  });

  it("keeps no process alive, neither by its socket nor by the timer, and the network knows that it is kept", async () => {
    const setInterval_ = vi.spyOn(globalThis, "setInterval");
    const setKeepAlive = vi.spyOn(Socket.prototype, "setKeepAlive");
    const server = await serverThatSays();
    const agent = keptAgents({})["http:"];
    await new Promise<void>((resolve) => {
      plainGet({ host: "127.0.0.1", port: server.port, agent }, (res) =>
        res.resume().on("end", () => resolve()),
      );
    });
    await closed(server);
    const [idle] = Object.values(agent.freeSockets).flat();
    expect((idle as unknown as { _handle: { hasRef(): boolean } })._handle.hasRef()).toBe(false);
    expect(setInterval_.mock.results.map(({ value }) => value.hasRef())).toEqual([false]);
    expect(setKeepAlive).toHaveBeenCalledWith(true, 1_000);
    setInterval_.mockRestore();
    setKeepAlive.mockRestore();
    agent.destroy();
  });
});
