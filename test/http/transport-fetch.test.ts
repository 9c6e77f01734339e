import { getEventListeners } from "node:events";
import { Agent } from "node:http";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { TransportRequest } from "../../src/http/transport.js";
import { createTransport, KEEPS_HEADER_LINES } from "../../src/http/transport-fetch.js";
import { httpServer, type LocalServer, tcpServer } from "../kit/local-server.js";

const servers: LocalServer[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

async function started(server: Promise<LocalServer>): Promise<LocalServer> {
  servers.push(await server);
  return server;
}

const post = ({ port }: { port: number }, more: Partial<TransportRequest> = {}): TransportRequest => ({
  method: "POST",
  url: `http://127.0.0.1:${port}/a?b=c`,
  headers: [],
  body: new TextEncoder().encode('{"a":1}'),
  timeoutMs: 5_000,
  maxResponseBytes: 1_000,
  ...more,
});

const code = (code: string) => expect.objectContaining({ code });

/** A server that pours a body without end, from one request on. */
const pouring = () =>
  httpServer((_req, res) => {
    const pour = () => {
      while (!res.destroyed && res.write("x".repeat(10_000)));
    };
    res.on("drain", pour);
    pour();
  });

describe("one exchange over fetch", () => {
  it("sends method, path, headers and body, and gives status, headers and body", async () => {
    let seen: unknown;
    const server = await started(
      httpServer(async (req, res) => {
        const body = Buffer.concat(await req.toArray()).toString();
        seen = [req.method, req.url, req.headers["x-twice"], body];
        res.writeHead(409, { "X-One": "1" }).end("taken");
      }),
    );
    const headers = [
      ["X-Twice", "1"],
      ["X-Twice", "2"],
    ] as const;
    const answer = await createTransport()(post(server, { headers }));
    expect(seen).toEqual(["POST", "/a?b=c", "1, 2", '{"a":1}']);
    expect(answer).toMatchObject({ status: 409, truncated: false });
    expect(answer.headers).toContainEqual(["x-one", "1"]);
    expect(Buffer.from(answer.body).toString()).toBe("taken");
    expect(answer).not.toHaveProperty("authenticated");
  });

  it("sends a request without a body", async () => {
    let method: string | undefined;
    const server = await started(
      httpServer((req, res) => {
        method = req.method;
        res.writeHead(204).end();
      }),
    );
    const answer = await createTransport()(post(server, { method: "GET", body: undefined }));
    expect(method).toBe("GET");
    expect(answer).toMatchObject({ status: 204, body: new Uint8Array(), truncated: false });
  });

  it("never follows a redirect", async () => {
    const paths: (string | undefined)[] = [];
    const server = await started(
      httpServer((req, res) => {
        paths.push(req.url);
        res.writeHead(307, { Location: "/elsewhere" }).end();
      }),
    );
    expect(await createTransport()(post(server))).toMatchObject({ status: 307 });
    expect(paths).toEqual(["/a?b=c"]);
  });

  it("takes the status 0 behind which a browser hides a redirect for one", async () => {
    const hidden = { type: "opaqueredirect", status: 0, headers: new Headers(), body: null };
    vi.spyOn(globalThis, "fetch").mockResolvedValue(hidden as Response);
    expect(await createTransport()(post({ port: 1 }))).toMatchObject({ status: 302 });
  });

  it("reads a body up to its limit, and hangs up on the rest", async () => {
    const server = await started(pouring());
    const answer = await createTransport()(post(server, { timeoutMs: 600_000 })); // which hangs up as well
    expect(answer).toMatchObject({ status: 200, truncated: true });
    expect(answer.body.length).toBe(1_000);
    await expect.poll(() => server.connections[0]?.destroyed).toBe(true);
  });

  it("reads a body that is as long as it may be whole", async () => {
    const server = await started(httpServer((_req, res) => res.end("x".repeat(1_000))));
    const answer = await createTransport()(post(server));
    expect(answer.truncated).toBe(false);
    expect(answer.body.length).toBe(1_000);
    expect((await createTransport()(post(server, { maxResponseBytes: 999 }))).truncated).toBe(true);
  });
});

describe("what ends an exchange over fetch", () => {
  it("its time", async () => {
    const silent = await started(httpServer(() => {}));
    const late = { timeoutMs: 40 };
    const failure = await createTransport()(post(silent, late)).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "TIMED_OUT", message: "No complete answer within 40 ms." });
    await expect.poll(() => silent.connections.every(({ destroyed }) => destroyed)).toBe(true);
  });

  it("a broken connection within the body, whose status counts all the same", async () => {
    const broken = await started(
      httpServer((_req, res) => {
        res.writeHead(409, { "Content-Length": "10" }).write("ab", () => setImmediate(() => res.destroy()));
      }),
    );
    const answer = await createTransport()(post(broken));
    expect(answer).toMatchObject({ status: 409, truncated: true, bodyError: code("CONNECTION_FAILED") });
  });

  it("its time, where the caller has a signal as well", async () => {
    const silent = await started(httpServer(() => {}));
    const { signal } = new AbortController();
    await expect(createTransport()(post(silent, { timeoutMs: 40, signal }))).rejects.toEqual(
      code("TIMED_OUT"),
    );
    expect(getEventListeners(signal, "abort").length).toBeLessThanOrEqual(1);
  });

  it("the caller's word, before and during the exchange", async () => {
    const silent = await started(httpServer(() => {}));
    const send = createTransport();
    await expect(send(post(silent, { signal: AbortSignal.abort() }))).rejects.toEqual(code("ABORTED"));
    expect(silent.connections).toHaveLength(0);
    const controller = new AbortController();
    const running = send(post(silent, { signal: controller.signal }));
    setTimeout(() => controller.abort(), 20);
    await expect(running).rejects.toEqual(code("ABORTED"));
  });

  it("a host that is not there, breaks the connection, or speaks no HTTP", async () => {
    const gone = await tcpServer(() => {});
    await gone.stop();
    const failure = await createTransport()(post(gone)).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: "CONNECTION_FAILED",
      message: `127.0.0.1:${gone.port} could not be reached, or the connection broke.`,
    });
    expect((failure as Error).cause).toBeInstanceOf(Error);
    const rude = await started(tcpServer((socket) => socket.once("data", () => socket.end("what?\r\n\r\n"))));
    await expect(createTransport()(post(rude))).rejects.toEqual(code("CONNECTION_FAILED"));
  });

  it("an answer that fetch itself refuses, such as a proxy's 407", async () => {
    const proxy = await started(httpServer((_req, res) => res.writeHead(407).end()));
    await expect(createTransport()(post(proxy))).rejects.toEqual(code("CONNECTION_FAILED"));
  });
});

describe("what fetch cannot do", () => {
  it("an agent is refused, not ignored", () => {
    expect(() => createTransport({ agent: new Agent() })).toThrow(new TypeError("agent works on Node only"));
  });

  it("header lines are not sent as they are", () => {
    expect(KEEPS_HEADER_LINES).toBe(false);
  });
});
