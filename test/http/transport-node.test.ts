import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { Agent as HttpAgent } from "node:http";
import { Agent } from "node:https";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { HttpsProxyAgent } from "https-proxy-agent";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createTransport } from "../../src/http/node/transport.js";
import type { TransportRequest } from "../../src/http/transport.js";
import { type Certificates, runCertificates } from "../kit/certificates.js";
import { connectProxy, httpServer, httpsServer, started, tcpServer } from "../kit/local-server.js";

function post(url: string, more: Partial<TransportRequest> = {}): TransportRequest {
  const body = new TextEncoder().encode('{"a":1}');
  return { method: "POST", url, headers: [], body, timeoutMs: 5_000, maxResponseBytes: 1_000, ...more };
}

const code = (code: string) => expect.objectContaining({ code });

describe("one exchange", () => {
  it("sends the lines as given, in order and unmerged, and gives the answer's lines the same way", async () => {
    let seen: { raw: string[]; body: string } | undefined;
    const server = await started(
      httpServer(async (req, res) => {
        const chunks = await req.toArray();
        seen = { raw: req.rawHeaders, body: Buffer.concat(chunks).toString() };
        res.writeHead(202, ["X-One", "1", "x-one", "2"]).end("taken");
      }),
    );
    const url = `http://127.0.0.1:${server.port}/a?b=c`;
    const answer = await createTransport()(
      post(url, {
        headers: [
          ["X-Twice", "1"],
          ["X-Twice", "2"],
        ],
      }),
    );
    expect(seen?.raw.slice(0, 8)).toEqual([
      "Host",
      `127.0.0.1:${server.port}`,
      "X-Twice",
      "1",
      "X-Twice",
      "2",
      "Content-Length",
      "7",
    ]);
    expect(seen?.body).toBe('{"a":1}');
    expect(answer.status).toBe(202);
    expect(answer.headers.slice(0, 2)).toEqual([
      ["X-One", "1"],
      ["x-one", "2"],
    ]);
    expect(Buffer.from(answer.body).toString()).toBe("taken");
    expect(answer).not.toHaveProperty("resent");
  });

  it("makes each of the requests of one turn in its caller's own asynchronous context", async () => {
    const server = await started(httpServer((req, res) => req.resume().on("end", () => res.end())));
    const context = new AsyncLocalStorage<string>();
    const seen: (string | undefined)[] = [];
    const note = () => seen.push(context.getStore());
    subscribe("http.client.request.start", note);
    try {
      const transport = createTransport();
      const send = (path: string) => () => transport(post(`http://127.0.0.1:${server.port}/${path}`));
      await Promise.all(["a", "b", "c"].map((name) => context.run(name, send(name))));
    } finally {
      unsubscribe("http.client.request.start", note);
    }
    expect(seen).toEqual(["a", "b", "c"]);
  });

  it("never follows a redirect", async () => {
    const paths: (string | undefined)[] = [];
    const server = await started(
      httpServer((req, res) => {
        paths.push(req.url);
        res.writeHead(307, { Location: "/elsewhere" }).end();
      }),
    );
    expect((await createTransport()(post(`http://127.0.0.1:${server.port}/`))).status).toBe(307);
    expect(paths).toEqual(["/"]);
  });

  it("reads an answer up to its limit, and hangs up on the rest", async () => {
    const server = await started(
      httpServer((_req, res) => {
        const pour = () => {
          while (!res.destroyed && res.write("x".repeat(10_000)));
        };
        res.on("drain", pour);
        pour();
      }),
    );
    const answer = await createTransport()(post(`http://127.0.0.1:${server.port}/`));
    expect(answer).toMatchObject({ status: 200, truncated: true });
    expect(answer.body.length).toBe(1_000);
    await expect.poll(() => server.connections[0]?.destroyed).toBe(true);
  });

  it("keeps a connection and uses it again", async () => {
    const server = await started(httpServer((_req, res) => res.end()));
    const transport = createTransport();
    for (let i = 0; i < 5; i++) await transport(post(`http://127.0.0.1:${server.port}/`));
    expect(server.connections).toHaveLength(1);
  });
});

describe("limits", () => {
  it("ends an exchange whose answer does not come in time", async () => {
    const server = await started(httpServer(() => {}));
    const request = post(`http://127.0.0.1:${server.port}/`, { timeoutMs: 40 });
    await expect(createTransport()(request)).rejects.toEqual(code("TIMED_OUT"));
    await expect.poll(() => server.connections.every(({ destroyed }) => destroyed)).toBe(true);
  });

  it("ends one whose answer begins and never ends, with its status", async () => {
    const server = await started(httpServer((_req, res) => void res.write("a")));
    const controller = new AbortController();
    const end = () => void setImmediate(() => controller.abort()); // the answer is told of in the same turn
    subscribe("http.client.response.finish", end);
    onTestFinished(() => void unsubscribe("http.client.response.finish", end));
    const answer = await createTransport()(
      post(`http://127.0.0.1:${server.port}/`, { signal: controller.signal }),
    );
    expect(answer).toMatchObject({ status: 200, truncated: true, bodyError: code("ABORTED") });
    await expect.poll(() => server.connections.every(({ destroyed }) => destroyed)).toBe(true);
  });

  it("keeps the status of an answer whose chunks cannot be read", async () => {
    const server = await started(
      tcpServer((socket) =>
        socket.once("data", () =>
          socket.write(
            "HTTP/1.1 503 No\r\nRetry-After: 7\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\nzz\r\n",
          ),
        ),
      ),
    );
    const answer = await createTransport()(post(`http://127.0.0.1:${server.port}/`));
    expect(answer).toMatchObject({
      status: 503,
      headers: expect.arrayContaining([["Retry-After", "7"]]),
      bodyError: code("RESPONSE_INVALID"),
    });
  });

  it("limits the time for a connection with its TLS handshake", async () => {
    const silent = await started(tcpServer(() => {}));
    const transport = createTransport({ connectTimeoutMs: 40 });
    const failure = await transport(post(`https://127.0.0.1:${silent.port}/`)).catch(
      (error: unknown) => error,
    );
    expect(failure).toEqual(code("TIMED_OUT"));
    expect((failure as Error).message).toContain("No connection within 40 ms");
  });

  it("ends at the caller's word, before and during the exchange", async () => {
    const server = await started(httpServer(() => {}));
    const url = `http://127.0.0.1:${server.port}/`;
    await expect(createTransport()(post(url, { signal: AbortSignal.abort() }))).rejects.toEqual(
      code("ABORTED"),
    );
    expect(server.connections).toHaveLength(0);
    const controller = new AbortController();
    const running = createTransport()(post(url, { signal: controller.signal }));
    setTimeout(() => controller.abort(), 20);
    await expect(running).rejects.toEqual(code("ABORTED"));
  });

  it("names a refused connection, a broken one and an answer that is not HTTP", async () => {
    const gone = await tcpServer(() => {});
    await gone.stop();
    await expect(createTransport()(post(`http://127.0.0.1:${gone.port}/`))).rejects.toEqual(
      code("CONNECTION_FAILED"),
    );
    const rude = await started(tcpServer((socket) => socket.once("data", () => socket.destroy())));
    await expect(createTransport()(post(`http://127.0.0.1:${rude.port}/`))).rejects.toEqual(
      code("CONNECTION_LOST"),
    );
    const echo = await started(tcpServer((socket) => socket.pipe(socket)));
    const headers = [["Authorization", "Bearer secret-token"]] as const;
    const failure: unknown = await createTransport()(
      post(`http://127.0.0.1:${echo.port}/`, { headers }),
    ).catch((error: unknown) => error);
    expect(failure).toEqual(code("RESPONSE_INVALID"));
    expect((failure as Error).cause).toBeUndefined(); // Node's own error holds what came back: our token
  });
});

describe("a kept connection that was closed meanwhile", () => {
  /** Answers the first request on each connection, and resets the connection when a second one arrives. */
  const once1 = (requests: string[]) =>
    tcpServer((socket: Socket) => {
      let served = 0;
      socket.on("data", (data) => {
        requests.push(data.toString());
        served += 1;
        if (served > 1) socket.resetAndDestroy();
        else socket.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
      });
    });

  it("gets the same request again on a new connection, and the answer says so", async () => {
    const requests: string[] = [];
    const server = await started(once1(requests));
    const transport = createTransport();
    const request = post(`http://127.0.0.1:${server.port}/`, { headers: [["Webhook-Event-Id", "same"]] });
    expect(await transport(request)).not.toHaveProperty("resent");
    expect(await transport(request)).toMatchObject({ status: 200, resent: true });
    expect(requests).toHaveLength(3);
    expect(requests[2]?.toLowerCase()).toContain("webhook-event-id: same");
    expect(server.connections).toHaveLength(2);
  });

  it("is not a reason to send anything twice on a connection that was new", async () => {
    let requests = 0;
    const server = await started(
      tcpServer((socket) =>
        socket.once("data", () => {
          requests += 1;
          socket.resetAndDestroy();
        }),
      ),
    );
    await expect(createTransport()(post(`http://127.0.0.1:${server.port}/`))).rejects.toEqual(
      code("CONNECTION_LOST"),
    );
    expect(requests).toBe(1);
  });
});

describe("an agent of the caller's", () => {
  let certificates: Certificates;
  beforeAll(() => {
    certificates = runCertificates();
  });

  it("brings a CA; without it the connection is not trusted", async () => {
    const server = await started(httpsServer(certificates.server, (_req, res) => res.end("ok")));
    const url = `https://localhost:${server.port}/`;
    await expect(createTransport()(post(url))).rejects.toEqual(code("TLS_FAILED"));
    const agent = new Agent({ ca: certificates.ca, keepAlive: true });
    expect((await createTransport({ agent })(post(url))).status).toBe(200);
    agent.destroy();
  });

  it("brings a client certificate for mutual TLS", async () => {
    const asking = {
      ...certificates.server,
      ca: certificates.ca,
      requestCert: true,
      rejectUnauthorized: true,
    };
    const server = await started(
      httpsServer(asking, (req, res) => res.end((req.socket as TLSSocket).getPeerCertificate().subject.CN)),
    );
    const url = `https://127.0.0.1:${server.port}/`;
    const stranger = new Agent({ ca: certificates.ca });
    await expect(createTransport({ agent: stranger })(post(url))).rejects.toBeInstanceOf(Error);
    const agent = new Agent({ ca: certificates.ca, ...certificates.client });
    const answer = await createTransport({ agent })(post(url));
    expect(Buffer.from(answer.body).toString()).toBe("client");
  });

  it("goes through a CONNECT proxy, TLS end to end", async () => {
    const server = await started(httpsServer(certificates.server, (_req, res) => res.end("through")));
    const asked: string[] = [];
    const proxy = await started(connectProxy(asked));
    const agent = new HttpsProxyAgent(`http://127.0.0.1:${proxy.port}`, { keepAlive: true });
    Object.assign(agent.options, { ca: certificates.ca }); // the library's own place for the target's TLS options
    const transport = createTransport({ agent });
    const answer = await transport(post(`https://localhost:${server.port}/`));
    expect(Buffer.from(answer.body).toString()).toBe("through");
    expect(asked).toEqual([`CONNECT localhost:${server.port} HTTP/1.1`]);
    agent.destroy();
  });

  it("cannot be combined with the address guard, which it would walk around", () => {
    expect(() => createTransport({ agent: new HttpAgent(), allowPrivateNetwork: false })).toThrow(TypeError);
  });
});
