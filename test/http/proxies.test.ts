import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent, request } from "node:https";
import { connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { undiciTransport } from "hookproof/node";
import { HttpsProxyAgent } from "https-proxy-agent";
import { afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { createTransport } from "../../src/http/node/transport.js";
import type { Transport, TransportRequest } from "../../src/http/transport.js";
import { type Certificates, runCertificates } from "../kit/certificates.js";
import { type Clients, undiciClients } from "../kit/drivers.js";
import { lateResult } from "../kit/late-result.js";
import {
  connectProxy,
  httpServer,
  httpsProxy,
  httpsServer,
  type LocalServer,
  PROXY_ANSWERS,
  pour,
  refusingProxy,
  started,
  tcpServer,
} from "../kit/local-server.js";

let certificates: Certificates;
beforeAll(() => {
  certificates = runCertificates();
});

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
const CLIENTS: Clients<(proxy: LocalServer, ca?: string) => Transport> = [
  [
    "https-proxy-agent, new connections",
    describe,
    (proxy, ca) => {
      const agent = new HttpsProxyAgent(`http://127.0.0.1:${proxy.port}`);
      Object.assign(agent.options, { ca });
      return createTransport({ agent });
    },
  ],
  [
    "https-proxy-agent, kept connections",
    describe,
    (proxy, ca) => {
      const agent = new HttpsProxyAgent(`http://127.0.0.1:${proxy.port}`, { keepAlive: true });
      Object.assign(agent.options, { ca });
      onTestFinished(() => agent.destroy());
      return createTransport({ agent });
    },
  ],
  ...undiciClients((undici) => (proxy: LocalServer, ca?: string) => {
    const agent = new undici.ProxyAgent({ uri: `http://127.0.0.1:${proxy.port}`, requestTls: { ca } });
    onTestFinished(() => agent.destroy());
    return undiciTransport(agent);
  }),
];

for (const [name, group, client] of CLIENTS)
  group(name, () => {
    it.each(PROXY_ANSWERS)(
      "takes a proxy's answer %s for none of the host's",
      async (_answer, text, told) => {
        const read: Buffer[] = [];
        const send = client(await started(refusingProxy(text, read)));
        for (let i = 0; i < 2; i++) await expect(send(post(URL_BEHIND))).rejects.toEqual(failed(told));
        const seen = Buffer.concat(read).toString("latin1");
        expect(seen).toMatch(/^CONNECT tenant\.example\.com(?::443)? HTTP\/1\.1\r\n/);
        expect(seen).not.toContain("the-signature");
      },
    );

    it("gives the host's own answer through the tunnel", async () => {
      const server = await started(
        httpsServer(certificates.server, (req, res) =>
          req.resume().on("end", () => res.writeHead(409).end()),
        ),
      );
      const asked: string[] = [];
      const send = client(await started(connectProxy(asked)), certificates.ca);
      const url = `https://tenant.example.com:${server.port}/`;
      expect(await send(post(url))).toMatchObject({ status: 409 });
      expect(asked).toEqual([`CONNECT tenant.example.com:${server.port} HTTP/1.1`]);
    });

    it("takes 407 for a proxy's even where it came through the tunnel", async () => {
      const server = await started(
        httpsServer(certificates.server, (req, res) =>
          req.resume().on("end", () => res.writeHead(407).end()),
        ),
      );
      const send = client(await started(connectProxy([])), certificates.ca);
      await expect(send(post(`https://tenant.example.com:${server.port}/`))).rejects.toEqual(failed("407"));
    });

    it("still checks the host's certificate through the tunnel", async () => {
      const server = await started(httpsServer(certificates.server, (_req, res) => res.end()));
      const send = client(await started(connectProxy([])));
      await expect(send(post(`https://tenant.example.com:${server.port}/`))).rejects.toEqual(
        expect.objectContaining({ code: "TLS_FAILED" }),
      );
    });
  });

/** A proxy that reads a request and does this. */
const proxyThat = (act: (client: Socket) => void) =>
  started(tcpServer((client) => client.once("data", () => act(client))));

const refusingToConnect = async () => {
  const gone = await tcpServer(() => {});
  await gone.stop();
  return gone;
};

/** What a proxy may do before a tunnel stands, other than to say nothing. */
const BEFORE_A_TUNNEL: Record<string, () => Promise<LocalServer>> = {
  "that nobody listens at": refusingToConnect,
  "that closes without an answer": () => proxyThat((client) => client.end()),
  "that resets": () => proxyThat((client) => client.resetAndDestroy()),
  "that talks no HTTP": () => proxyThat((client) => client.write("what?\r\n\r\n")),
  "with a status that is no number": () => proxyThat((client) => client.write("HTTP/1.1 200.5 OK\r\n\r\n")),
  "that answers 100": () => proxyThat((client) => client.write("HTTP/1.1 100 Continue\r\n\r\n")),
  "that answers 101": () => proxyThat((client) => client.write("HTTP/1.1 101 Switching\r\n\r\n")),
  "that answers 101 with an upgrade": () =>
    proxyThat((client) =>
      client.write("HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"),
    ),
  "that answers 103 without end": () =>
    proxyThat((client) => pour(client, "HTTP/1.1 103 Early Hints\r\n\r\n")),
  "that sends line ends without end": () => proxyThat((client) => pour(client, "\r\n")),
  "whose answer does not end": () =>
    proxyThat((client) => {
      client.write("HTTP/1.1 200 OK\r\n");
      pour(client, "x");
    }),
};

for (const [name, group, client] of CLIENTS)
  group(`before a tunnel stands, over ${name}`, () => {
    it.each(Object.entries(BEFORE_A_TUNNEL))("it is a proxy's failure: one %s", async (_what, proxy) => {
      const send = client(await proxy());
      await expect(send(post(URL_BEHIND))).rejects.toEqual(failed());
    });

    it("it is a proxy's failure: one that says nothing", async () => {
      const read: Buffer[] = [];
      const send = client(await started(refusingProxy([], read)));
      const failure = await lateResult(async (timeoutMs) => {
        const host = `within-${timeoutMs}.example.com`;
        const failure = await send(post(`https://${host}/`, { timeoutMs })).catch((error: unknown) => error);
        return read.join("").includes(host) ? failure : undefined;
      });
      expect(failure).toEqual(failed("TIMED_OUT"));
    });

    it.each([
      ["line ends", "", "\r\n"],
      ["a header", "HTTP/1.1 200 OK\r\nX: ", "x"],
    ])("%s without end are not read on, though the exchange has time left", async (_what, first, text) => {
      const proxy = await proxyThat((socket) => {
        socket.write(first);
        pour(socket, text);
      });
      const running = client(proxy)(post(URL_BEHIND, { timeoutMs: 600_000 })).catch(
        (error: unknown) => error,
      );
      await expect.poll(() => proxy.connections[0]?.destroyed).toBe(true);
      for (const socket of proxy.connections) expect(socket.bytesWritten).toBeLessThan(20_000_000);
      await proxy.stop();
      expect(await running).toEqual(failed());
    });

    it.each<readonly [string, (client: Socket) => void]>([
      ["closes", (client) => client.end()],
      ["resets", (client) => client.resetAndDestroy()],
      ["answers 100 and closes", (client) => client.end("HTTP/1.1 100 Continue\r\n\r\n")],
      ["answers 101", (client) => client.end("HTTP/1.1 101 Switching\r\n\r\n")],
    ])("one that %s is asked once for each request, and the failure is told at once", async (_what, act) => {
      const proxy = await proxyThat(act);
      const send = client(proxy);
      for (let i = 1; i <= 3; i++) {
        await expect(send(post(URL_BEHIND))).rejects.toEqual(failed());
        expect(proxy.connections).toHaveLength(i);
      }
    });

    it("a caller's abort is the caller's", async () => {
      const controller = new AbortController();
      const { signal } = controller;
      const send = client(await proxyThat(() => controller.abort()));
      await expect(send(post(URL_BEHIND, { signal }))).rejects.toEqual(
        expect.objectContaining({ code: "ABORTED" }),
      );
    });

    it("and once one stands, a host that is silent is late itself", async () => {
      const paths: (string | undefined)[] = [];
      const server = await started(httpsServer(certificates.server, ({ url }) => paths.push(url)));
      const send = client(await started(connectProxy([])), certificates.ca);
      const failure = await lateResult(async (timeoutMs) => {
        const url = `https://tenant.example.com:${server.port}/within-${timeoutMs}`;
        const failure = await send(post(url, { timeoutMs })).catch((error: unknown) => error);
        return paths.includes(`/within-${timeoutMs}`) ? failure : undefined;
      });
      expect(failure).toEqual(expect.objectContaining({ code: "TIMED_OUT" }));
    });
  });

describe("over the Node transport", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  const through = (proxyUrl: string, tls: object = {}) => {
    const agent = new HttpsProxyAgent(proxyUrl, { rejectUnauthorized: false });
    Object.assign(agent.options, tls);
    return createTransport({ agent });
  };

  it("an answer over a proxy's own TLS connection is none of the host's", async () => {
    const proxy = await started(httpsServer(certificates.server, (_req, res) => res.end("never asked")));
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

  it.each(["http", "https"])("the end of an attempt ends its connection to an %s proxy", async (scheme) => {
    let asked = 0;
    const silent = (socket: Duplex) => {
      asked += 1;
      socket.resume();
    };
    const proxy = await (scheme === "http"
      ? proxyThat(silent)
      : started(httpsProxy(certificates.server, silent)));
    const agent = new HttpsProxyAgent<string>(`${scheme}://127.0.0.1:${proxy.port}`, {
      rejectUnauthorized: false,
    });
    const options = { ...agent.connectOpts };
    const send = createTransport({ agent });
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    const [first, second] = [10_000, 15_000].map((timeoutMs) =>
      expect(send(post(URL_BEHIND, { timeoutMs }))).rejects.toEqual(failed("TIMED_OUT")),
    );
    await expect.poll(() => asked).toBe(2);
    vi.advanceTimersByTime(10_000);
    await first;
    vi.advanceTimersByTime(5_000);
    await second;
    const controller = new AbortController();
    const running = send(post(URL_BEHIND, { signal: controller.signal }));
    await expect.poll(() => asked).toBe(3);
    controller.abort();
    await expect(running).rejects.toMatchObject({ code: "ABORTED" });
    expect(proxy.connections).toHaveLength(3);
    await expect.poll(() => proxy.connections.every(({ destroyed }) => destroyed)).toBe(true);
    expect(agent.connectOpts).toEqual(options);
  });

  it("an agent of the caller's still connects for others as it did", async () => {
    let controller = new AbortController();
    const proxy = await proxyThat(() => controller.abort());
    const agent = new HttpsProxyAgent(`http://127.0.0.1:${proxy.port}`);
    const first = createTransport({ agent });
    const second = createTransport({ agent });
    for (const send of [first, second]) {
      controller = new AbortController();
      await expect(send(post(URL_BEHIND, { signal: controller.signal }))).rejects.toMatchObject({
        code: "ABORTED",
      });
    }
    const foreign = request(URL_BEHIND, { agent }).on("error", () => {});
    foreign.end();
    onTestFinished(() => {
      foreign.destroy();
    });
    await expect.poll(() => proxy.connections.length).toBe(3);
    await expect.poll(() => proxy.connections.map(({ destroyed }) => destroyed)).toEqual([true, true, false]);
  });

  it.each(["HTTPS://", " https://", "\thttps://", "hTTps://", "https:\\\\", "ht\ntps://"])(
    "a proxy's 202 is none of the host's for a URL that begins with %j",
    async (start) => {
      const proxy = await started(refusingProxy("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n", []));
      const send = through(`http://127.0.0.1:${proxy.port}`);
      await expect(send(post(URL_BEHIND.replace("https://", start)))).rejects.toEqual(failed("202"));
    },
  );

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

for (const [name, group, undici] of undiciClients((undici) => undici))
  group(`${name}'s ProxyAgent without a tunnel, for plain http`, () => {
    it("takes 407 for the proxy's own", async () => {
      const proxy = await started(
        httpServer((req, res) =>
          req.resume().on("end", () => res.writeHead(407, { "Proxy-Authenticate": "Basic" }).end()),
        ),
      );
      const agent = new undici.ProxyAgent({ uri: `http://127.0.0.1:${proxy.port}`, proxyTunnel: false });
      onTestFinished(() => agent.destroy());
      await expect(undiciTransport(agent)(post("http://tenant.example.com/"))).rejects.toEqual(failed("407"));
    });
  });
