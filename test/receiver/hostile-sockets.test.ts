import { once } from "node:events";
import { connect } from "node:net";
import { type ServerOptions, startListeners } from "hookproof-service";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { makeCertificate } from "../jwks/hostile-key-hosts.js";
import {
  clock,
  expectAccepted,
  hmacListener,
  hmacParts,
  send,
  startTarget,
  type Target,
  without,
} from "../kit/hostile-target.js";
import { lateResult } from "../kit/late-result.js";
import { converse, exchange, type Line, requestBytes } from "../kit/raw-http.js";

let target: Target;
beforeAll(async () => {
  target = await startTarget([hmacListener("lst_hmac")]);
});
afterAll(() => target.stop());

/** Sends raw text as Latin-1 and gives the statuses that came before the server closed the connection. */
async function statusesOf(text: string): Promise<number[]> {
  const { answers } = await converse(target.port, (socket) => socket.write(Buffer.from(text, "latin1")));
  return answers.map(({ status }) => status);
}

/** A good request with more header lines and its own framing, as text. */
function raw(lines: string, { framing = true, body = '{"type":"user.offboarded"}' } = {}): string {
  const parts = hmacParts("lst_hmac", { body });
  const headers = framing ? parts.headers : without(parts.headers, "Content-Length");
  const text = requestBytes({ ...parts, headers: without(headers, "Connection"), body: "" }).toString(
    "latin1",
  );
  return `${text.slice(0, -2)}${lines}\r\n\r\n${body}`;
}

describe("requests two servers could read in two ways", () => {
  it.each<[string, string, number]>([
    ["Content-Length and Transfer-Encoding", raw("Transfer-Encoding: chunked"), 400],
    ["two equal Content-Lengths", raw("Content-Length: 26"), 400],
    ["two different Content-Lengths", raw("Content-Length: 2"), 400],
    ["a list as Content-Length", raw("Content-Length: 26, 26", { framing: false }), 400],
    ["a signed Content-Length", raw("Content-Length: +26", { framing: false }), 400],
    ["a hexadecimal Content-Length", raw("Content-Length: 0x1a", { framing: false }), 400],
    ["a huge Content-Length", raw(`Content-Length: ${"9".repeat(30)}`, { framing: false }), 400],
    ["an unknown Transfer-Encoding", raw("Transfer-Encoding: xchunked", { framing: false }), 400],
    ["chunked, then another", raw("Transfer-Encoding: chunked, identity", { framing: false }), 400],
    ["a folded header", raw("X-Folded: a\r\n b"), 400],
    ["a NUL in a value", raw("X-Nul: a\0b"), 400],
    ["a NUL in a name", raw("X-\0Nul: a"), 400],
    ["a bare CR in a value", raw("X-Cr: a\rb"), 400],
    ["a space before the colon", raw("X-Space : a"), 400],
    ["a name with a non-ASCII letter", raw("X-\u00e9: a"), 400],
    ["a line without a colon", raw("nonsense"), 400],
    ["20 KiB of headers", raw(`X-Long: ${"a".repeat(20_480)}`), 431],
    ["20 KiB of names", raw(Array.from({ length: 2_048 }, (_, i) => `X-${1000 + i}: ab`).join("\r\n")), 431],
    [
      "a chunk size that is no number",
      raw("Transfer-Encoding: chunked", { framing: false, body: "zz\r\n{}" }),
      400,
    ],
    ["no Host", raw("X: y").replace("Host: 127.0.0.1\r\n", ""), 400],
    ["a TLS handshake", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400],
    ["an HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400],
  ])("%s is refused by the server itself", async (_name, text, status) => {
    const before = target.runs();
    expect(await statusesOf(text)).toEqual([status]);
    expect(target.runs()).toBe(before);
  });

  it("two Hosts change nothing, as Host is never read", async () => {
    expect(await statusesOf(raw("Host: attacker.example\r\nConnection: close"))).toEqual([200]);
  });

  it("many small header lines up to the limit are all looked at", async () => {
    const filler = Array.from({ length: 3_000 }, (): Line => ["a", ""]);
    const parts = hmacParts("lst_hmac");
    await expectAccepted(target, { ...parts, headers: [...filler, ...parts.headers] });
  });
});

describe("clients that are slow on purpose", () => {
  /** A server with some limits of its own, that are looked at often. */
  async function limited(limits: ServerOptions["limits"], tls?: ServerOptions["tls"]): Promise<Target> {
    const server = await startTarget([hmacListener("lst_hmac")], {
      limits: { checkEveryMs: 25, ...limits },
      ...(tls && { tls }),
    });
    onTestFinished(() => server.stop());
    return server;
  }

  /** Whether an honest client is served; not where the limits are too short for this machine. */
  async function isServed(server: Target): Promise<boolean> {
    const { status } = await send(server, hmacParts("lst_hmac"));
    expect([200, 408]).toContain(status);
    return status === 200;
  }

  it("a body of one byte now and then is cut off, and others are served meanwhile", async () => {
    await lateResult(async (requestMs) => {
      const server = await limited({ requestMs, headersMs: requestMs });
      let timer: NodeJS.Timeout | undefined;
      const slow = converse(server.port, (socket) => {
        socket.write(requestBytes({ ...hmacParts("lst_hmac"), body: "" }));
        timer = setInterval(() => socket.writable && socket.write("{"), 50);
      });
      const meanwhile = await isServed(server);
      const { answers } = await slow;
      clearInterval(timer);
      expect(answers.map(({ status }) => status)).toEqual([408]);
      return (meanwhile && (await isServed(server))) || undefined;
    });
  });

  it("headers that never end are cut off", async () => {
    const { port } = await limited({ headersMs: 250 });
    let timer: NodeJS.Timeout | undefined;
    const { answers } = await converse(port, (socket) => {
      socket.write("POST / HTTP/1.1\r\nHost: x\r\n");
      timer = setInterval(() => socket.writable && socket.write("X: y\r\n"), 20);
    });
    clearInterval(timer);
    expect(answers.map(({ status }) => status)).toEqual([408]);
  });

  it("a connection is kept for a moment after an answer, and then closed", async () => {
    const { port } = await limited({ keepAliveMs: 150 });
    const parts = hmacParts("lst_hmac");
    const { answers, endedInOrder } = await converse(port, (socket) =>
      socket.write(requestBytes({ ...parts, headers: without(parts.headers, "Connection") })),
    );
    expect([answers.map(({ status }) => status), endedInOrder]).toEqual([[200], true]);
  });

  it("1,000 idle connections are closed by the limits while others are served", async () => {
    await lateResult(async (headersMs) => {
      const server = await limited({ headersMs, requestMs: headersMs });
      let closed = 0;
      await Promise.all(
        Array.from({ length: 1_000 }, () => {
          const socket = connect(server.port, "127.0.0.1");
          socket.on("error", () => {});
          socket.resume().on("close", () => closed++);
          return once(socket, "connect");
        }),
      );
      const meanwhile = closed < 1_000 && (await isServed(server));
      await expect.poll(() => closed).toBe(1_000);
      return (meanwhile && (await isServed(server))) || undefined;
    });
  });

  it("a TLS handshake that never comes is cut off", async () => {
    const { port } = await limited({ headersMs: 250 }, makeCertificate());
    const { answers } = await converse(port, () => {});
    expect(answers).toEqual([]);
  });

  it("a server whose listeners cannot be made does not stay behind", async () => {
    const twice = [hmacListener("lst_hmac"), hmacListener("lst_hmac")];
    await expect(startTarget(twice)).rejects.toThrow(/two listeners/);
  });

  it("an observer that throws takes nothing down", async () => {
    const server = await startListeners({
      listeners: () => [hmacListener("lst_hmac", { clock })],
      onHandled: () => {
        throw new Error("the observer failed");
      },
    });
    for (const parts of [hmacParts("lst_hmac"), hmacParts("lst_hmac")])
      expect((await exchange(server.port, requestBytes(parts))).status).toBe(200);
    await server.stop();
  });
});
