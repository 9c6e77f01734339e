import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { connect } from "node:net";
import type { Duplex } from "node:stream";
import { undiciTransport } from "hookproof/node";
import { HttpsProxyAgent } from "https-proxy-agent";
import { ProxyAgent } from "undici";
import { afterEach, describe, expect, it } from "vitest";
import type { Transport, TransportRequest } from "../../src/http/transport.js";
import { createTransport } from "../../src/http/transport-node.js";
import { makeCertificates } from "./certificates.js";
import {
  connectProxy,
  httpServer,
  httpsServer,
  type LocalServer,
  PROXY_ANSWERS,
  refusingProxy,
  tcpServer,
} from "./local-server.js";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function started(server: Promise<LocalServer>): Promise<LocalServer> {
  cleanups.push((await server).stop);
  return server;
}

const URL_BEHIND = "https://tenant.example.com/api/v1/webhooks/incoming/lst_1";

function post(url: string, more: Partial<TransportRequest> = {}): TransportRequest {
  return {
    method: "POST",
    url,
    headers: [["Webhook-Signature", "the-signature"]],
    body: Buffer.from('{"a":1}'),
    timeoutMs: 5_000,
    maxResponseBytes: 1_000,
    ...more,
  };
}

const failed = (text = "") =>
  expect.objectContaining({ code: "PROXY_FAILED", message: expect.stringContaining(text) as string });

/** The clients that are documented for proxies, each as a transport. */
const CLIENTS: Record<string, (proxy: LocalServer, ca?: string) => Transport> = {
  "https-proxy-agent, new connections"(proxy, ca) {
    const agent = new HttpsProxyAgent(`http://127.0.0.1:${proxy.port}`);
    Object.assign(agent.options, { ca });
    return createTransport({ agent });
  },
  "https-proxy-agent, kept connections"(proxy, ca) {
    const agent = new HttpsProxyAgent(`http://127.0.0.1:${proxy.port}`, { keepAlive: true });
    Object.assign(agent.options, { ca });
    cleanups.push(() => agent.destroy());
    return createTransport({ agent });
  },
  "undici's ProxyAgent"(proxy, ca) {
    const agent = new ProxyAgent({ uri: `http://127.0.0.1:${proxy.port}`, requestTls: { ca } });
    cleanups.push(() => agent.destroy());
    return undiciTransport(agent);
  },
};

describe.each(Object.entries(CLIENTS))("%s", (_name, client) => {
  it.each(PROXY_ANSWERS)("takes a proxy's answer %s for none of the host's", async (_answer, text, told) => {
    const read: Buffer[] = [];
    const send = client(await started(refusingProxy(text, read)));
    for (let i = 0; i < 2; i++) await expect(send(post(URL_BEHIND))).rejects.toEqual(failed(told));
    const seen = Buffer.concat(read).toString("latin1");
    expect(seen).toMatch(/^CONNECT tenant\.example\.com(?::443)? HTTP\/1\.1\r\n/);
    expect(seen).not.toContain("the-signature");
  });

  it("gives the host's own answer through the tunnel", async () => {
    const { ca, server: certificate } = makeCertificates();
    const server = await started(
      httpsServer(certificate, (req, res) => req.resume().on("end", () => res.writeHead(409).end())),
    );
    const asked: string[] = [];
    const send = client(await started(connectProxy(asked)), ca);
    const url = `https://tenant.example.com:${server.port}/`;
    expect(await send(post(url))).toMatchObject({ status: 409 });
    expect(asked).toEqual([`CONNECT tenant.example.com:${server.port} HTTP/1.1`]);
  });

  it("takes 407 for a proxy's even where it came through the tunnel", async () => {
    const { ca, server: certificate } = makeCertificates();
    const server = await started(
      httpsServer(certificate, (req, res) => req.resume().on("end", () => res.writeHead(407).end())),
    );
    const send = client(await started(connectProxy([])), ca);
    await expect(send(post(`https://tenant.example.com:${server.port}/`))).rejects.toEqual(failed("407"));
  });

  it("still checks the host's certificate through the tunnel", async () => {
    const { server: certificate } = makeCertificates();
    const server = await started(httpsServer(certificate, (_req, res) => res.end()));
    const send = client(await started(connectProxy([])));
    await expect(send(post(`https://tenant.example.com:${server.port}/`))).rejects.toEqual(
      expect.objectContaining({ code: "TLS_FAILED" }),
    );
  });
});

describe("over the Node transport", () => {
  const through = (proxyUrl: string, tls: object = {}) => {
    const agent = new HttpsProxyAgent(proxyUrl, { rejectUnauthorized: false });
    Object.assign(agent.options, tls);
    return createTransport({ agent });
  };

  it("an answer over a proxy's own TLS connection is none of the host's", async () => {
    const proxy = await started(
      httpsServer(makeCertificates().server, (_req, res) => res.end("never asked")),
    );
    await expect(through(`https://127.0.0.1:${proxy.port}`)(post(URL_BEHIND))).rejects.toEqual(failed());
  });

  it("a proxy that cannot be reached, or hangs up, is named as what failed", async () => {
    const gone = await tcpServer(() => {});
    await gone.stop();
    await expect(through(`http://127.0.0.1:${gone.port}`)(post(URL_BEHIND))).rejects.toEqual(
      failed("ECONNREFUSED"),
    );
    const rude = await started(tcpServer((socket) => socket.once("data", () => socket.end())));
    await expect(through(`http://127.0.0.1:${rude.port}`)(post(URL_BEHIND))).rejects.toEqual(failed());
  });

  it("what a proxy answers that is not HTTP is its failure as well", async () => {
    const proxy = await started(refusingProxy("what?\r\n\r\n", []));
    await expect(through(`http://127.0.0.1:${proxy.port}`)(post(URL_BEHIND))).rejects.toEqual(failed());
  });

  it("the TLS handshake through a tunnel has the time limit of a connection", async () => {
    const proxy = await started(refusingProxy("HTTP/1.1 200 OK\r\n\r\n", []));
    const agent = new HttpsProxyAgent(`http://127.0.0.1:${proxy.port}`);
    await expect(createTransport({ agent, connectTimeoutMs: 40 })(post(URL_BEHIND))).rejects.toEqual(
      expect.objectContaining({ code: "TIMED_OUT", message: "No connection within 40 ms." }),
    );
  });

  it("a proxy that never answers is a time-out", async () => {
    const proxy = await started(tcpServer(() => {}));
    await expect(
      through(`http://127.0.0.1:${proxy.port}`)(post(URL_BEHIND, { timeoutMs: 50 })),
    ).rejects.toEqual(expect.objectContaining({ code: "TIMED_OUT" }));
  });

  it("nothing is written to a connection without TLS that an agent gives for an https URL", async () => {
    const read: Buffer[] = [];
    const plain = await started(refusingProxy("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", read));
    class PlainAgent extends HttpsAgent {
      override createConnection(): Duplex {
        return connect(plain.port, "127.0.0.1");
      }
    }
    await expect(createTransport({ agent: new PlainAgent() })(post(URL_BEHIND))).rejects.toEqual(
      failed("without TLS"),
    );
    await expect.poll(() => plain.connections.every(({ destroyed }) => destroyed)).toBe(true);
    expect(Buffer.concat(read).toString()).toBe("");
  });

  it("a plain http URL through a forward proxy: only its 407 can be told from the host's own answer", async () => {
    let status = 407;
    const proxy = await started(
      httpServer((req, res) => req.resume().on("end", () => res.writeHead(status).end())),
    );
    class ForwardAgent extends HttpAgent {
      override createConnection(): Duplex {
        return connect(proxy.port, "127.0.0.1");
      }
    }
    const send = createTransport({ agent: new ForwardAgent() });
    await expect(send(post("http://tenant.example.com/"))).rejects.toEqual(failed("407"));
    status = 502;
    expect(await send(post("http://tenant.example.com/"))).toMatchObject({ status: 502 });
  });
});

describe("undici's ProxyAgent without a tunnel, for plain http", () => {
  it("takes 407 for the proxy's own", async () => {
    const proxy = await started(
      httpServer((req, res) =>
        req.resume().on("end", () => res.writeHead(407, { "Proxy-Authenticate": "Basic" }).end()),
      ),
    );
    const agent = new ProxyAgent({ uri: `http://127.0.0.1:${proxy.port}`, proxyTunnel: false });
    cleanups.push(() => agent.destroy());
    await expect(undiciTransport(agent)(post("http://tenant.example.com/"))).rejects.toEqual(failed("407"));
  });
});
