import type { LookupAddress } from "node:dns";
import { getEventListeners } from "node:events";
import { Agent, createServer } from "node:http";
import type { Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import type { Resolve } from "../../src/http/node/guarded-lookup.js";
import { createTransport, KEEPS_HEADER_LINES } from "../../src/http/node/transport.js";
import type { TransportRequest } from "../../src/http/transport.js";
import { runCertificates } from "../kit/certificates.js";
import { httpServer, httpsServer, started, tcpServer } from "../kit/local-server.js";

const OK = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

const get = (url: string, more: Partial<TransportRequest> = {}): TransportRequest => ({
  method: "GET",
  url,
  headers: [],
  timeoutMs: 10_000,
  maxResponseBytes: 1_000,
  ...more,
});

const code = (code: string) => expect.objectContaining({ code });

/** Answers the first request of each connection, and leaves the second one to the test. */
async function answersOnce(second: (socket: Socket, connection: number) => void) {
  const requests: string[] = [];
  let connections = 0;
  const server = await started(
    tcpServer((socket) => {
      const connection = connections++;
      let served = 0;
      socket.on("data", (data) => {
        requests.push(String(data));
        served += 1;
        if (served === 1) socket.write(OK);
        else second(socket, connection);
      });
    }),
  );
  return { requests, server, url: `http://127.0.0.1:${server.port}/` };
}

describe("a request on a kept connection", () => {
  it("is sent again on a new connection, though others are kept that may be as stale", async () => {
    const { requests, server, url } = await answersOnce((socket) => socket.resetAndDestroy());
    const send = createTransport();
    await Promise.all([send(get(url)), send(get(url)), send(get(url))]);
    expect(server.connections).toHaveLength(3);
    expect(await send(get(url))).toMatchObject({ status: 200, resent: true });
    expect(server.connections).toHaveLength(4);
    expect(requests).toHaveLength(5);
  });

  it("is not sent again once its answer has begun", async () => {
    const { requests, url } = await answersOnce((socket) => {
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nab", () =>
        setTimeout(() => socket.resetAndDestroy(), 20),
      );
    });
    const send = createTransport();
    await send(get(url));
    expect(await send(get(url))).toMatchObject({ status: 200, bodyError: code("CONNECTION_LOST") });
    expect(requests).toHaveLength(2);
  });

  it("is not sent again at the caller's word", async () => {
    const controller = new AbortController();
    const { requests, url } = await answersOnce(() => controller.abort());
    const send = createTransport();
    await send(get(url));
    await expect(send(get(url, { signal: controller.signal }))).rejects.toEqual(code("ABORTED"));
    await send(get(url));
    expect(requests).toHaveLength(3);
  });

  it("is not sent again for an answer that is not HTTP", async () => {
    const { requests, url } = await answersOnce((socket) => socket.write("what?\r\n\r\n"));
    const send = createTransport();
    await send(get(url));
    await expect(send(get(url))).rejects.toEqual(code("RESPONSE_INVALID"));
    expect(requests).toHaveLength(2);
  });

  it("is sent again twice at most, where an agent of the caller's keeps stale connections", async () => {
    const { requests, url } = await answersOnce((socket) => socket.resetAndDestroy());
    const agent = new Agent({ keepAlive: true });
    onTestFinished(() => agent.destroy());
    const send = createTransport({ agent });
    await Promise.all([send(get(url)), send(get(url)), send(get(url))]);
    await expect(send(get(url))).rejects.toEqual(code("CONNECTION_LOST"));
    expect(requests).toHaveLength(5);
  });
});

describe("the address guard", () => {
  const resolving =
    (...answers: string[]): Resolve =>
    (_hostname, _options, callback) => {
      const address = answers.shift();
      const found: LookupAddress[] = address === undefined ? [] : [{ address, family: 4 }];
      callback(null, found);
    };
  const guarded = { allowPrivateNetwork: false, allowedCidrs: ["127.0.0.1/32"] };

  it("looks at what a name resolves to before anything is sent", async () => {
    const { server } = await answersOnce(() => {});
    const send = createTransport(guarded, resolving("127.0.0.2", "127.0.0.1"));
    const url = `http://rebound.example:${server.port}/`;
    await expect(send(get(url))).rejects.toEqual(code("ADDRESS_REFUSED"));
    expect(await send(get(url))).toMatchObject({ status: 200 });
    expect(server.connections).toHaveLength(1);
  });

  it("looks again when a request is sent again on a new connection", async () => {
    const { server, requests } = await answersOnce((socket) => socket.resetAndDestroy());
    const send = createTransport(guarded, resolving("127.0.0.1", "127.0.0.2"));
    const url = `http://rebound.example:${server.port}/`;
    expect(await send(get(url))).toMatchObject({ status: 200 });
    await expect(send(get(url))).rejects.toEqual(code("ADDRESS_REFUSED"));
    expect(server.connections).toHaveLength(1);
    expect(requests).toHaveLength(2);
  });
});

describe("which connection is kept for whom", () => {
  it("no other port's", async () => {
    const [a, b] = await Promise.all(
      ["a", "b"].map((name) => started(httpServer((_req, res) => res.end(name)))),
    );
    const send = createTransport();
    const bodies = [];
    for (const server of [a, b, a, b]) {
      const { body } = await send(get(`http://127.0.0.1:${server?.port}/`));
      bodies.push(Buffer.from(body).toString());
    }
    expect(bodies).toEqual(["a", "b", "a", "b"]);
  });

  it("no other host's at the same port", async () => {
    const a = await started(httpServer((_req, res) => res.end("a")));
    const b = createServer((_req, res) => res.end("b"));
    await new Promise<void>((resolve) => b.listen(a.port, "127.0.0.2", resolve));
    onTestFinished(() => {
      b.close();
      b.closeAllConnections();
    });
    const send = createTransport();
    const bodies = [];
    for (const host of ["127.0.0.1", "127.0.0.2", "127.0.0.1"]) {
      const { body } = await send(get(`http://${host}:${a.port}/`));
      bodies.push(Buffer.from(body).toString());
    }
    expect(bodies).toEqual(["a", "b", "a"]);
  });
});

describe("what is sent and read", () => {
  it("sends the path with its query, and no body where there is none", async () => {
    let seen: unknown;
    const server = await started(
      httpServer((req, res) => {
        seen = [req.method, req.url, req.headers["content-length"]];
        res.end();
      }),
    );
    await createTransport()(get(`http://127.0.0.1:${server.port}/a/b?c=d&e`));
    expect(seen).toEqual(["GET", "/a/b?c=d&e", undefined]);
  });

  it("reads a body that is as long as it may be, and cuts one that is a byte longer", async () => {
    const server = await started(
      httpServer((req, res) => {
        const length = Number(req.url?.slice(1));
        res.write("x".repeat(10)); // two chunks
        setImmediate(() => res.end("x".repeat(length - 10)));
      }),
    );
    const send = createTransport();
    const whole = await send(get(`http://127.0.0.1:${server.port}/1000`));
    expect([whole.body.length, whole.truncated]).toEqual([1_000, false]);
    const cut = await send(get(`http://127.0.0.1:${server.port}/1001`));
    expect([cut.body.length, cut.truncated]).toEqual([1_000, true]);
  });

  it("says that header lines are sent as they are", () => {
    expect(KEEPS_HEADER_LINES).toBe(true);
  });

  it("refuses a URL that is not http or https", async () => {
    await expect(createTransport()(get("ftp://127.0.0.1/"))).rejects.toThrow("url must be http or https");
  });

  it("ends at once when the connection breaks within a body, with the status and what came", async () => {
    const server = await started(
      tcpServer((socket) =>
        socket.once("data", () =>
          socket.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nab", () => socket.destroy()),
        ),
      ),
    );
    const answer = await createTransport()(get(`http://127.0.0.1:${server.port}/`));
    expect(answer).toMatchObject({ status: 200, truncated: true, bodyError: code("CONNECTION_LOST") });
    expect(Buffer.from(answer.body).toString()).toBe("ab");
  });
});

describe("time", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** Waits for what the other side of a socket has to see, as the fake clock does not pass by itself. */
  async function until(predicate: () => boolean): Promise<void> {
    while (!predicate()) await new Promise((resolve) => setImmediate(resolve));
  }

  /** What has come of a promise so far. */
  async function stateOf(work: Promise<unknown>): Promise<unknown> {
    let state: unknown = "pending";
    work.then(
      (value) => {
        state = value;
      },
      (error) => {
        state = error;
      },
    );
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    return state;
  }

  it.each(["http", "https"])(
    "the limit for a connection ends with the connection, over %s",
    async (scheme) => {
      let answer: (() => void) | undefined;
      const listener = (_req: unknown, res: { end(): void }) => {
        answer = () => res.end();
      };
      const { ca, server: certificate } = runCertificates();
      const server = await started(
        scheme === "http" ? httpServer(listener) : httpsServer(certificate, listener),
      );
      const { Agent: TlsAgent } = await import("node:https");
      const agent = scheme === "http" ? undefined : new TlsAgent({ ca });
      const running = createTransport({ agent })(get(`${scheme}://127.0.0.1:${server.port}/`));
      await until(() => answer !== undefined);
      vi.advanceTimersByTime(9_000);
      answer?.();
      expect(await running).toMatchObject({ status: 200 });
      expect(vi.getTimerCount()).toBe(0);
    },
  );

  it("a connection may take 5 s unless something else is asked for", async () => {
    const silent = await started(tcpServer(() => {}));
    const running = createTransport()(get(`https://127.0.0.1:${silent.port}/`));
    await until(() => silent.connections.length === 1);
    vi.advanceTimersByTime(4_999);
    expect(await stateOf(running)).toBe("pending");
    vi.advanceTimersByTime(1);
    expect(await stateOf(running)).toMatchObject({
      code: "TIMED_OUT",
      message: "No connection within 5000 ms.",
    });
    expect(vi.getTimerCount()).toBe(0);
  });

  it("a request that is sent again has the time that is left, no more", async () => {
    let secondRequest = false;
    let connections = 0;
    const server = await started(
      tcpServer((socket) => {
        const isFirst = connections++ === 0;
        let served = 0;
        socket.on("data", () => {
          served += 1;
          if (!isFirst) secondRequest = true;
          else if (served === 1) socket.write(OK);
          else {
            vi.advanceTimersByTime(600);
            socket.resetAndDestroy();
          }
        });
      }),
    );
    const url = `http://127.0.0.1:${server.port}/`;
    const send = createTransport();
    await send(get(url));
    const running = send(get(url, { timeoutMs: 1_000 }));
    await until(() => secondRequest);
    vi.advanceTimersByTime(399);
    expect(await stateOf(running)).toBe("pending");
    vi.advanceTimersByTime(1);
    expect(await stateOf(running)).toMatchObject({
      code: "TIMED_OUT",
      message: expect.stringContaining("1000"),
    });
  });

  it("a request whose time is over is not sent again", async () => {
    const { requests, url } = await answersOnce(() => vi.advanceTimersByTime(10_000));
    const send = createTransport();
    await send(get(url));
    await expect(send(get(url))).rejects.toEqual(code("TIMED_OUT"));
    await send(get(url));
    expect(requests).toHaveLength(3);
  });

  it("nothing is left behind: no timer, and no listener at the caller's signal", async () => {
    const { signal } = new AbortController();
    const server = await started(httpServer((_req, res) => res.end("done")));
    const url = `http://127.0.0.1:${server.port}/`;
    const send = createTransport();
    for (let i = 0; i < 3; i++) await send(get(url, { signal }));
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
    expect(vi.getTimerCount()).toBe(0);
    await server.stop();
    await expect(send(get(url, { signal }))).rejects.toEqual(code("CONNECTION_FAILED"));
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
    expect(vi.getTimerCount()).toBe(0);
  });
});
