import { type ClientRequest, Agent as HttpAgent } from "node:http";
import { Agent, type RequestOptions, request } from "node:https";
import { connect, type LookupFunction, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { TLSSocket } from "node:tls";
import { expect, it, onTestFinished } from "vitest";
import { isAuthenticated } from "../../src/http/node/connections.js";
import { createTransport } from "../../src/http/node/transport.js";
import { runCertificates } from "../kit/certificates.js";
import { forwardProxy, httpServer, httpsServer, started } from "../kit/local-server.js";
import { IPV6, itWith } from "../kit/needs.js";

const { ca, server: certificate } = runCertificates();
const get = (url: string) => ({ method: "GET", url, headers: [], timeoutMs: 5_000, maxResponseBytes: 100 });

it.each(["10.127.0.1", "::1:1", "fe80::1"])(
  "an address that only looks like loopback is not it: %s",
  (address) => {
    const socket = { remoteAddress: address } as Socket;
    expect(isAuthenticated(socket, {}, true)).toBe(false);
    expect(isAuthenticated({ remoteAddress: "127.0.0.1" } as Socket, {}, true)).toBe(true);
  },
);

async function isAuthenticatedFrom(host: string): Promise<void> {
  const server = await started(httpServer((_req, res) => res.end(), host.replace(/[[\]]/g, "")));
  const send = createTransport();
  for (let i = 0; i < 2; i++)
    expect(await send(get(`http://${host}:${server.port}/`))).toMatchObject({ authenticated: true });
}

it.each(["127.0.0.1", "127.0.0.2"])("plain HTTP from loopback is authenticated: %s", isAuthenticatedFrom);
itWith(...IPV6)("plain HTTP from loopback is authenticated: [::1]", () => isAuthenticatedFrom("[::1]"));

it("plain HTTP over a connection that has no address is not", async () => {
  const server = await started(httpServer((_req, res) => res.end()));
  class Elsewhere extends HttpAgent {
    override createConnection(): Duplex {
      const socket = connect(server.port, "127.0.0.1");
      Object.defineProperty(socket, "remoteAddress", { value: undefined });
      return socket;
    }
  }
  const send = createTransport({ agent: new Elsewhere() });
  expect(await send(get(`http://localhost:${server.port}/`))).toMatchObject({ authenticated: false });
});

it("plain HTTP from a host elsewhere is not, though a forward proxy on loopback hands it on", async () => {
  const server = await started(httpServer((_req, res) => res.end("the host's")));
  const asked: string[] = [];
  const proxy = await started(forwardProxy(asked));
  /** Asks the proxy for the whole URL, as `http-proxy-agent` does, and Node where `HTTP_PROXY` is obeyed. */
  class ForwardAgent extends HttpAgent {
    addRequest(req: ClientRequest & { _header: string }, options: RequestOptions): void {
      const [, host = ""] = /^Host: (.*)$/im.exec(req._header) ?? [];
      req._header = req._header.replace(/^GET \//, `GET http://${host}/`);
      (HttpAgent.prototype as unknown as ForwardAgent).addRequest.call(this, req, options);
    }
    override createConnection(): Duplex {
      return connect(proxy.port, "127.0.0.1");
    }
  }
  const agent = new ForwardAgent({ keepAlive: true });
  onTestFinished(() => agent.destroy());
  const send = createTransport({ agent });
  for (const host of ["tenant.example.com", "10.0.0.1", "127.0.0.1.example.com", "[::2]"]) {
    const url = `http://${host}:${server.port}/`;
    for (let i = 0; i < 2; i++) {
      const answer = await send(get(url));
      expect(answer).toMatchObject({ status: 200, authenticated: false });
      expect(answer.headers).toContainEqual(["Via", "1.1 proxy"]);
      expect(asked.pop()).toBe(`GET ${url}`);
    }
  }
  const own = `http://localhost:${server.port}/`;
  expect(await send(get(own))).toMatchObject({ authenticated: true });
});

it("TLS that is checked is authenticated, on new, kept and resumed connections", async () => {
  const server = await started(httpsServer(certificate, (_req, res) => res.end()));
  const url = `https://localhost:${server.port}/`;
  for (const keepAlive of [true, false]) {
    const agent = new Agent({ ca, keepAlive });
    onTestFinished(() => agent.destroy());
    const send = createTransport({ agent });
    for (let i = 0; i < 3; i++) expect(await send(get(url))).toMatchObject({ authenticated: true });
  }
});

it.each([undefined, ca])("TLS that nobody checks is not, though it would pass", async (trusted) => {
  const server = await started(httpsServer(certificate, (_req, res) => res.end()));
  const send = createTransport({ agent: new Agent({ ca: trusted, rejectUnauthorized: false }) });
  for (let i = 0; i < 2; i++)
    expect(await send(get(`https://localhost:${server.port}/`))).toMatchObject({ authenticated: false });
});

/** Checks no certificate, without its options saying so: as where only the environment does. */
class Careless extends Agent {
  readonly made: TLSSocket[] = [];
  override createConnection(options: RequestOptions, done?: never): Duplex | null | undefined {
    const socket = super.createConnection({ ...options, rejectUnauthorized: false } as never, done);
    this.made.push(socket as TLSSocket);
    return socket;
  }
}

it("a kept connection that another's request has opened, unchecked, is not", async () => {
  const server = await started(httpsServer(certificate, (_req, res) => res.end()));
  const agent = new Careless({ keepAlive: true });
  onTestFinished(() => agent.destroy());
  const url = `https://localhost:${server.port}/`;
  await new Promise<void>((done) => {
    request(url, { agent }, (res) => res.resume().on("close", done)).end();
  });
  expect(await createTransport({ agent })(get(url))).toMatchObject({ authenticated: false });
  expect(agent.made).toHaveLength(1);
});

it("a wrong name is not, even where a session is resumed, for which Node itself checks no name", async () => {
  const server = await started(httpsServer(certificate, (_req, res) => res.end()));
  const lookup: LookupFunction = (_name, { all }, done) =>
    all ? done(null, [{ address: "127.0.0.1", family: 4 }]) : done(null, "127.0.0.1", 4);
  const agent = new Careless({ ca, lookup });
  const send = createTransport({ agent });
  const url = `https://another.example.com:${server.port}/`;
  for (let i = 0; i < 3; i++) expect(await send(get(url))).toMatchObject({ authenticated: false });
  expect(agent.made.map((socket) => socket.isSessionReused())).toContain(true);
  expect(agent.made.map(({ authorized }) => authorized)).toContain(true);
});
