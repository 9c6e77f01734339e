import dns from "node:dns";
import type { RequestListener } from "node:http";
import { syncBuiltinESMExports } from "node:module";
import { type AddressInfo, createServer, Socket } from "node:net";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { HookproofError } from "hookproof";
import { type RemoteKeysOptions, remoteKeys } from "hookproof/jwks";
import { afterEach, describe, expect, it } from "vitest";
import type { TransportRequest } from "../../src/http/transport.js";
import { heldMemory } from "../kit/held-memory.mjs";
import { expectAccepted, expectRefusal, startTarget, type Target } from "../kit/hostile-target.js";
import { jwtListener, jwtParts, testKey } from "../kit/hostile-tokens.js";
import { lateResult } from "../kit/late-result.js";
import { makeCertificate, serveKeys, startKeyHost, trusting } from "./hostile-key-hosts.js";

const certificate = makeCertificate();
const key = testKey("ES256");
const goodSet = JSON.stringify({ keys: [key.jwk] });
const open: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.stop()));
});

async function targetOver(url: string, options: RemoteKeysOptions): Promise<Target> {
  const target = await startTarget([jwtListener("lst_jwt", remoteKeys(url, options))]);
  open.push(target);
  return target;
}

describe("key set hosts that misbehave", () => {
  const drip: RequestListener = (_request, response) => {
    response.writeHead(200, { "Content-Length": "1000" });
    const timer = setInterval(() => response.write(" "), 20);
    response.on("close", () => clearInterval(timer));
  };
  const endlessHeaders: RequestListener = (request) => {
    request.socket.write("HTTP/1.1 200 OK\r\n");
    const timer = setInterval(() => request.socket.write("X: y\r\n"), 20);
    request.socket.on("close", () => clearInterval(timer));
  };
  const answers =
    (status: number, body: string | Buffer, headers: Record<string, string> = {}): RequestListener =>
    (_request, response) => {
      response.writeHead(status, headers);
      response.end(body);
    };

  it.each<[string, RequestListener, string]>([
    ["500", answers(500, goodSet), "KEY_SET_UNAVAILABLE"],
    ["404", answers(404, goodSet), "KEY_SET_UNAVAILABLE"],
    ["204", answers(204, ""), "KEY_SET_UNAVAILABLE"],
    ["206 with a good set", answers(206, goodSet), "KEY_SET_UNAVAILABLE"],
    ["302 to itself", answers(302, goodSet, { Location: "/other.json" }), "KEY_SET_UNAVAILABLE"],
    [
      "307 to the metadata address",
      answers(307, "", { Location: "https://169.254.169.254/" }),
      "KEY_SET_UNAVAILABLE",
    ],
    ["20 KiB of headers", answers(200, goodSet, { "X-Long": "a".repeat(20_480) }), "KEY_SET_UNAVAILABLE"],
    [
      "a body that breaks off",
      (_request, response) => {
        response.writeHead(200, { "Content-Length": "1000" });
        response.write(goodSet, () => response.destroy());
      },
      "KEY_SET_UNAVAILABLE",
    ],
    ["a connection that is dropped", (request) => request.socket.destroy(), "KEY_SET_UNAVAILABLE"],
    ["not HTTP", (request) => request.socket.end("hello\r\n\r\n"), "KEY_SET_UNAVAILABLE"],
    ["not JSON", answers(200, "<html></html>"), "KEY_SET_INVALID"],
    ["nothing", answers(200, ""), "KEY_SET_INVALID"],
    ["two values", answers(200, goodSet + goodSet), "KEY_SET_INVALID"],
    ["a byte order mark", answers(200, `\ufeff${goodSet}`), "KEY_SET_INVALID"],
    [
      "brotli unasked",
      answers(200, brotliCompressSync(goodSet), { "Content-Encoding": "br" }),
      "KEY_SET_INVALID",
    ],
    ["gzip that breaks off", answers(200, gzipSync(goodSet).subarray(0, 40)), "KEY_SET_INVALID"],
    ["50 MB in gzip", answers(200, gzipSync(Buffer.alloc(50_000_000, 32))), "KEY_SET_INVALID"],
    ["60,000 levels of nesting", answers(200, "[".repeat(30_000) + "]".repeat(30_000)), "KEY_SET_INVALID"],
  ])("%s is 401", async (_name, answer, code) => {
    const host = await startKeyHost(certificate, answer);
    open.push(host);
    const asked: TransportRequest[] = [];
    const target = await targetOver(host.url, { transport: trusting(certificate, asked) });
    await expectRefusal(target, jwtParts("lst_jwt", key), 401, code);
    expect(host.requests()).toBe(1);
    // The limits that the resolver itself sets; the transport here has its own.
    expect(asked).toMatchObject([{ method: "GET", timeoutMs: 5_000, maxResponseBytes: 65_536 }]);
  });

  it.each([
    ["hanging", () => {}],
    ["dripping", drip],
    ["headers that never end", endlessHeaders],
  ] satisfies [string, RequestListener][])("%s is 401 once its time is over", async (_name, answer) => {
    await lateResult(async (timeoutMs) => {
      const host = await startKeyHost(certificate, answer);
      open.push(host);
      const transport = trusting(certificate, [], timeoutMs);
      const target = await targetOver(host.url, { transport });
      await expectRefusal(target, jwtParts("lst_jwt", key), 401, "KEY_SET_UNAVAILABLE");
      return host.requests() || undefined;
    });
  });

  it("64 MiB are cut off after 64 KiB, and memory stays flat", async () => {
    const piece = Buffer.alloc(0x10000, 0x20);
    const host = await startKeyHost(certificate, (_request, response) => {
      response.writeHead(200);
      let left = 1024;
      const pump = (): void => {
        while (left-- > 0 && !response.destroyed) if (!response.write(piece)) return;
        response.end(goodSet);
      };
      response.on("drain", pump);
      pump();
    });
    open.push(host);
    const target = await targetOver(host.url, { transport: trusting(certificate) });
    const before = await heldMemory();
    await expectRefusal(target, jwtParts("lst_jwt", key), 401, "KEY_SET_INVALID");
    expect((await heldMemory()).buffers - before.buffers).toBeLessThan(8 * 1024 * 1024);
    expect(host.bytesSent()).toBeLessThan(16 * 1024 * 1024);
  });

  it("a host that is down is 401, and 50 requests at once cost one attempt", async () => {
    const host = await startKeyHost(certificate, () => {});
    await host.stop();
    const asked: TransportRequest[] = [];
    const target = await targetOver(host.url, { transport: trusting(certificate, asked) });
    await Promise.all(
      Array.from({ length: 50 }, () =>
        expectRefusal(target, jwtParts("lst_jwt", key), 401, "KEY_SET_UNAVAILABLE"),
      ),
    );
    expect(asked.length).toBe(1);
  });

  it("a host that never finishes its TLS handshake is 401", async () => {
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const { port } = silent.address() as AddressInfo;
    const transport = trusting(certificate, [], 50);
    const target = await targetOver(`https://127.0.0.1:${port}/`, { transport });
    await expectRefusal(target, jwtParts("lst_jwt", key), 401, "KEY_SET_UNAVAILABLE");
    silent.close();
  });

  it("a certificate that nobody vouches for is 401, and its keys are not looked at", async () => {
    const host = await startKeyHost(
      certificate,
      serveKeys(() => JSON.parse(goodSet)),
    );
    open.push(host);
    const target = await targetOver(host.url, { allowPrivateNetwork: true });
    await expectRefusal(target, jwtParts("lst_jwt", key), 401, "KEY_SET_UNAVAILABLE");
    expect(host.requests()).toBe(0);
    const trusted = await targetOver(host.url, { transport: trusting(certificate) });
    await expectAccepted(trusted, jwtParts("lst_jwt", key));
  });

  it.each<[string, () => Promise<never>]>([
    ["nothing", async () => undefined as never],
    ["rejects", () => Promise.reject(new Error("broken"))],
    [
      "throws",
      () => {
        throw new Error("broken");
      },
    ],
  ])("a transport of somebody else's that %s is 401, and is asked again later", async (_name, transport) => {
    let works = false;
    let now = 0;
    const host = await startKeyHost(
      certificate,
      serveKeys(() => JSON.parse(goodSet)),
    );
    open.push(host);
    const own = trusting(certificate);
    const keys = remoteKeys(host.url, {
      transport: (request) => (works ? own(request) : transport()),
      clock: { now: () => now },
    });
    const target = await startTarget([jwtListener("lst_jwt", keys)]);
    open.push(target);
    await expectRefusal(target, jwtParts("lst_jwt", key), 401, "KEY_SET_UNAVAILABLE");
    works = true;
    now += 10_000;
    await expectAccepted(target, jwtParts("lst_jwt", key));
  });
});

describe("key set URLs that lead inside", () => {
  it.each([
    "http://keys.example.com/jwks.json",
    "http://127.0.0.1/jwks.json",
    "HTTP://127.0.0.1/",
    "ftp://keys.example.com/",
    "file:///etc/passwd",
    "data:application/json,{}",
    "//keys.example.com/jwks.json",
    "keys.example.com",
    "https://user:password@keys.example.com/",
    "",
  ])("%j is refused at configuration", (url) => {
    expect(() => remoteKeys(url)).toThrow(
      expect.objectContaining({ name: HookproofError.name, code: "KEY_SET_URL_REFUSED" }) as Error,
    );
  });

  it("plain HTTP is for loopback, even where it is allowed", () => {
    const options = { allowInsecureLoopback: true };
    for (const url of ["http://keys.example.com/", "http://10.0.0.1/", "http://localhost.example.com/"])
      expect(() => remoteKeys(url, options)).toThrow(HookproofError);
    expect(() => remoteKeys("http://127.0.0.1/", options)).not.toThrow();
  });

  /** Counts who is connected to, by address, beside the test's own client. */
  async function watched(check: (port: number) => Promise<void>): Promise<string[]> {
    let accepted = 0;
    const tempting = createServer(() => accepted++);
    await new Promise<void>((resolve) => tempting.listen(0, "127.0.0.1", resolve));
    const { port } = tempting.address() as AddressInfo;
    const connected: string[] = [];
    const connect = Socket.prototype.connect;
    Socket.prototype.connect = function (this: Socket, ...args: unknown[]) {
      const [options] = args.flat() as [{ host?: string; hostname?: string; port?: number | string }];
      if (Number(options.port) === port) this.on("connect", () => connected.push(String(this.remoteAddress)));
      return (connect as (...given: unknown[]) => Socket).apply(this, args);
    } as typeof connect;
    try {
      await check(port);
    } finally {
      Socket.prototype.connect = connect;
      tempting.close();
    }
    expect(accepted).toBe(0);
    return connected;
  }

  it.each([
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "0177.0.0.1",
    "127.0.0.1.",
    "%31%32%37.0.0.1",
    "１２７.0.0.1",
    "127。0。0。1",
    "0.0.0.0",
    "0",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
    "[fe80::1]",
    "[fd00:ec2::254]",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.0.1",
    "169.254.169.254",
    "100.100.100.200",
    "224.0.0.1",
    "255.255.255.255",
    "localhost",
    "LOCALHOST",
  ])("https://%s is refused at configuration, and no packet leaves", async (literal) => {
    const connected = await watched(async (port) => {
      const refused = expect.objectContaining({ code: "KEY_SET_URL_REFUSED" }) as Error;
      expect(() => remoteKeys(`https://${literal}:${port}/jwks.json`)).toThrow(refused);
    });
    expect(connected).toEqual([]);
  });

  /** Answers every look-up with the next list of addresses. */
  async function withDns(answers: string[][], check: () => Promise<void>): Promise<number> {
    let asked = 0;
    const original = dns.lookup;
    dns.lookup = ((name: string, options: unknown, callback: (...args: unknown[]) => void) => {
      if (name !== "keys.example.com") {
        (original as (...args: unknown[]) => void)(name, options, callback);
        return;
      }
      const addresses = answers[Math.min(asked++, answers.length - 1)] ?? [];
      callback(
        null,
        addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
      );
    }) as unknown as typeof dns.lookup;
    syncBuiltinESMExports();
    try {
      await check();
    } finally {
      dns.lookup = original;
      syncBuiltinESMExports();
    }
    return asked;
  }

  it.each([
    ["loopback", ["127.0.0.1"]],
    ["the metadata address", ["169.254.169.254"]],
    ["a public address and a private one", ["2001:4860:4860::8888", "127.0.0.1"]],
    ["an IPv4 address inside IPv6", ["::ffff:127.0.0.1"]],
    ["a zone", ["fe80::1%lo"]],
    ["nothing", []],
  ])("a name that resolves to %s is 401, and no packet leaves", async (_name, addresses) => {
    const connected = await watched(async (port) => {
      const asked = await withDns([addresses], async () => {
        const target = await targetOver(`https://keys.example.com:${port}/jwks.json`, {});
        await expectRefusal(target, jwtParts("lst_jwt", key), 401, "KEY_SET_UNAVAILABLE");
      });
      expect(asked).toBe(1);
    });
    expect(connected).toEqual([]);
  });

  it("a name that changes its address gains nothing: what was checked is what is connected to", async () => {
    const connected = await watched(async (port) => {
      // 127.0.0.2 is allowed by name and nobody listens there; 127.0.0.1 is what the attacker wants.
      const asked = await withDns([["127.0.0.2"], ["127.0.0.1"]], async () => {
        let now = 0;
        const keys = remoteKeys(`https://keys.example.com:${port}/jwks.json`, {
          allowedCidrs: ["127.0.0.2/32"],
          clock: { now: () => now },
        });
        const target = await startTarget([jwtListener("lst_jwt", keys)]);
        open.push(target);
        for (let i = 0; i < 3; i++) {
          await expectRefusal(target, jwtParts("lst_jwt", key), 401, "KEY_SET_UNAVAILABLE");
          now += 10_000;
        }
      });
      expect(asked).toBe(3);
    });
    expect(connected).toEqual([]);
  });
});
