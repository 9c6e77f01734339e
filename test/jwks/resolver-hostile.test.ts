import { type ChildProcess, fork } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { RequestListener } from "node:http";
import { createServer as createHttpServer } from "node:http";
import { createServer, type Server } from "node:https";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generateKey, type KeyRecord } from "hookproof/jwks";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Certificates, otherCertificates, runCertificates } from "../kit/certificates.js";

interface Outcome {
  ok: boolean;
  code?: string;
  detail?: string;
  counts: Record<string, number>;
}

let certificates: Certificates;
let home: string;
let child: ChildProcess;
let key: KeyRecord;
let rsa: KeyRecord;
let asked = 0;
const servers: Server[] = [];
const unhandled: string[] = [];
let messages = 0;

beforeAll(async () => {
  certificates = runCertificates();
  home = mkdtempSync(join(tmpdir(), "hookproof-resolver-"));
  writeFileSync(join(home, "ca.pem"), certificates.ca);
  [key, rsa] = await Promise.all([
    generateKey({ alg: "ES256", kid: "good" }),
    generateKey({ alg: "RS256", kid: "rsa" }),
  ]);
  child = fork(join(import.meta.dirname, "resolver-process.mjs"), {
    env: { ...process.env, NODE_EXTRA_CA_CERTS: join(home, "ca.pem") },
    execArgv: [],
  });
  child.on("message", (message: { id: unknown; error?: string }) => {
    if (message.id === "unhandled") unhandled.push(message.error ?? "");
  });
  await new Promise((resolve) => child.once("message", resolve));
});
afterEach(() => {
  asked = 0;
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
  expect(unhandled).toEqual([]);
});
afterAll(() => {
  child.kill();
  rmSync(home, { recursive: true, force: true });
});

/** Asks the resolver's process. */
function ask(command: string, args: object = {}): Promise<Outcome & { heap: number; buffers: number }> {
  const id = ++messages;
  return new Promise((resolve) => {
    const listen = (message: { id: unknown; result?: never }) => {
      if (message.id !== id) return;
      child.off("message", listen);
      resolve(message.result as never);
    };
    child.on("message", listen);
    child.send({ id, command, ...args });
  });
}

/** An HTTPS server with a certificate of the test's CA. */
async function host(listener: RequestListener, tls = certificates.server): Promise<string> {
  const server = createServer(tls, (request, response) => {
    asked++;
    listener(request, response);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}/jwks.json`;
}

const LOOPBACK = { allowedCidrs: ["127.0.0.0/8"] };
const json =
  (document: unknown, headers: Record<string, string> = {}): RequestListener =>
  (_, response) => {
    response.writeHead(200, { "Content-Type": "application/jwk-set+json", ...headers });
    response.end(JSON.stringify(document));
  };
const serving = (...keys: object[]) => json({ keys });

let opened = 0;
async function open(url: string, options: object = LOOPBACK): Promise<string> {
  const name = `resolver ${++opened}`;
  expect(await ask("open", { name, url, options })).toEqual({ ok: true });
  return name;
}
async function verdictFor(listener: RequestListener, kid = "good", alg = "ES256"): Promise<Outcome> {
  return ask("resolve", { name: await open(await host(listener)), kid, alg });
}

describe("a good key set", () => {
  it("is fetched over TLS, once for many tokens at once", async () => {
    const name = await open(await host(serving(key.publicJwk, rsa.publicJwk)));
    expect(await ask("resolve", { name, kid: "good", times: 200, atOnce: 200 })).toMatchObject({
      counts: { ok: 200 },
    });
    expect(await ask("resolve", { name, kid: "rsa", alg: "RS256" })).toMatchObject({ ok: true });
    expect(asked).toBe(1);
  });
});

describe("a host that is down, wrong, slow or endless", () => {
  const endless: RequestListener = (_, response) => {
    response.writeHead(200, { "Content-Type": "application/json" });
    const chunk = Buffer.alloc(65_536, " ");
    let sent = 0;
    const pump = () => {
      while (sent < 64 * 1024 * 1024 && !response.destroyed) {
        sent += chunk.length;
        if (!response.write(chunk)) return void response.once("drain", pump);
      }
      response.end();
    };
    pump();
  };
  const dripping: RequestListener = (_, response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write(" "), 50);
    response.on("close", () => clearInterval(timer));
  };
  const headersForever: RequestListener = (request) => {
    request.socket.write("HTTP/1.1 200 OK\r\n");
    const timer = setInterval(() => request.socket.write(`X-${Math.random()}: 1\r\n`), 50);
    request.socket.on("close", () => clearInterval(timer));
    request.socket.on("error", () => {});
  };
  const redirect =
    (status: number): RequestListener =>
    (_, response) => {
      response.writeHead(status, { Location: "/elsewhere" });
      response.end();
    };
  const body =
    (text: string | Buffer): RequestListener =>
    (_, response) =>
      void response.end(text);
  const status =
    (code: number): RequestListener =>
    (_, response) => {
      response.writeHead(code);
      response.end(JSON.stringify({ keys: [key.publicJwk] }));
    };
  const cases: [string, string, () => RequestListener][] = [
    ["500", "KEY_SET_UNAVAILABLE", () => status(500)],
    ["404", "KEY_SET_UNAVAILABLE", () => status(404)],
    ["206", "KEY_SET_UNAVAILABLE", () => status(206)],
    ["302", "KEY_SET_UNAVAILABLE", () => redirect(302)],
    ["308", "KEY_SET_UNAVAILABLE", () => redirect(308)],
    ["cut connection", "KEY_SET_UNAVAILABLE", () => (request) => void request.socket.destroy()],
    [
      "cut body",
      "KEY_SET_UNAVAILABLE",
      () => (_, response) => {
        response.writeHead(200, { "Content-Length": "1000" });
        response.write("{");
        setTimeout(() => response.destroy(), 20);
      },
    ],
    ["not HTTP", "KEY_SET_UNAVAILABLE", () => (request) => void request.socket.end("SSH-2.0-OpenSSH\r\n")],
    ["64 MiB", "KEY_SET_INVALID", () => endless],
    ["65,537 bytes", "KEY_SET_INVALID", () => body(JSON.stringify({ keys: [key.publicJwk] }).padEnd(65_537))],
    ["HTML", "KEY_SET_INVALID", () => body("<!doctype html><title>Sign in</title>")],
    ["nothing", "KEY_SET_INVALID", () => body("")],
    ["bad UTF-8", "KEY_SET_INVALID", () => body(Buffer.from([0x7b, 0xff, 0x7d]))],
    ["null", "KEY_SET_INVALID", () => body("null")],
    ["a list", "KEY_SET_INVALID", () => body("[]")],
    ["keys that are no list", "KEY_SET_INVALID", () => body('{"keys":{"0":1}}')],
    ["30,000 levels", "KEY_SET_INVALID", () => body("[".repeat(30_000) + "]".repeat(30_000))],
    [
      "51 keys",
      "KEY_SET_INVALID",
      () => serving(...Array.from({ length: 51 }, (_, i) => ({ kty: "RSA", kid: `k${i}` }))),
    ],
    [
      "keys that are no objects",
      "KEY_NOT_FOUND",
      () => json({ keys: [null, 1, "x", [], { kid: null }, { kid: { toString: 1 } }] }),
    ],
  ];
  it.each(cases)("%s is %s", async (_, code, listener) => {
    expect(await verdictFor(listener())).toMatchObject({ ok: false, code });
    expect(asked).toBe(1);
  });

  it("65,536 bytes and 50 keys are allowed", async () => {
    const keys = [...Array.from({ length: 49 }, (_, i) => ({ kty: "RSA", kid: `k${i}` })), key.publicJwk];
    expect(
      await verdictFor((_, response) => void response.end(JSON.stringify({ keys }).padEnd(65_536))),
    ).toMatchObject({ ok: true });
  });

  it("a host that hangs, drips its body or its headers, or never speaks TLS, is given 5 s", async () => {
    const silent: RequestListener = () => {};
    const mute = createTcpServer(() => {});
    await new Promise<void>((resolve) => mute.listen(0, "127.0.0.1", resolve));
    const noTls = await open(`https://127.0.0.1:${(mute.address() as AddressInfo).port}/`);
    const outcomes = await Promise.all([
      ...[silent, dripping, headersForever].map((listener) => verdictFor(listener)),
      ask("resolve", { name: noTls, kid: "good" }),
    ]);
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ ok: false, code: "KEY_SET_UNAVAILABLE" });
      expect(outcome.detail).toMatch(/^No (?:complete answer|connection) within 5000 ms\.$/);
    }
    mute.close();
  });

  it("a host that is down costs one attempt in 10 s", async () => {
    const url = await host(serving(key.publicJwk));
    const [server] = servers.splice(0);
    server?.close();
    const name = await open(url);
    expect(await ask("resolve", { name, kid: "good", times: 500 })).toMatchObject({
      counts: { KEY_SET_UNAVAILABLE: 500 },
    });
  });

  it("memory stays flat over 40 endless answers", async () => {
    const name = await open(await host(endless));
    const again = async (times: number) => {
      for (let n = 0; n < times; n++) {
        expect(await ask("resolve", { name, kid: "good" })).toMatchObject({ code: "KEY_SET_INVALID" });
        await ask("advance", { ms: 10_001 });
      }
    };
    await again(5);
    const before = await ask("memory");
    await again(40);
    const after = await ask("memory");
    expect(asked).toBe(45);
    expect(after.heap + after.buffers - before.heap - before.buffers).toBeLessThan(8 * 1024 * 1024);
  });
});

describe("TLS", () => {
  it("of another authority is not trusted", async () => {
    const other = otherCertificates();
    const name = await open(await host(serving(key.publicJwk), other.server));
    expect(await ask("resolve", { name, kid: "good" })).toMatchObject({ code: "KEY_SET_UNAVAILABLE" });
    expect(asked).toBe(0);
  });

  it("for another name is not trusted", async () => {
    const url = (await host(serving(key.publicJwk))).replace("127.0.0.1", "127.0.0.2");
    const name = await open(url);
    expect(await ask("resolve", { name, kid: "good" })).toMatchObject({ code: "KEY_SET_UNAVAILABLE" });
  });
});

describe("an address that nobody should be led to", () => {
  const spellings = [
    "https://127.0.0.1/",
    "https://127.1/",
    "https://2130706433/",
    "https://0x7f.0.0.1/",
    "https://0177.0.0.1/",
    "https://127.0.0.1./",
    "https://①②⑦.⓪.⓪.①/",
    "https://[::1]/",
    "https://[::ffff:127.0.0.1]/",
    "https://[::ffff:a9fe:a9fe]/",
    "https://[64:ff9b::7f00:1]/",
    "https://[fd00::1]/",
    "https://[fe80::1]/",
    "https://169.254.169.254/latest/meta-data/",
    "https://10.0.0.1/",
    "https://172.16.0.1/",
    "https://192.168.1.1/",
    "https://100.64.0.1/",
    "https://0.0.0.0/",
    "https://localhost/",
    "https://LOCALHOST./",
    "https://keys.localhost/",
    "http://keys.example.com/",
    "http://127.0.0.1/",
    "ftp://keys.example.com/",
    "file:///etc/passwd",
    "data:application/json,{}",
    "https://user:secret@keys.example.com/",
    "keys.example.com",
    "",
  ];
  it.each(spellings)("%s is refused when it is configured", async (url) => {
    expect(await ask("open", { name: "refused", url, options: {} })).toEqual({
      ok: false,
      code: "KEY_SET_URL_REFUSED",
    });
  });

  it("a name that leads to one is refused when it is connected to, and no packet is sent", async () => {
    let connections = 0;
    const server = createHttpServer();
    server.on("connection", () => connections++);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const name = await open(`https://inside.example.com:${port}/`, {});
    expect(await ask("resolve", { name, kid: "good" })).toMatchObject({
      ok: false,
      code: "KEY_SET_UNAVAILABLE",
    });
    expect(await ask("lookups")).toBe(1);
    expect(connections).toBe(0);
    server.close();
  });

  it("plain http is for loopback and only where it is allowed", async () => {
    const name = "plain";
    expect(
      await ask("open", { name, url: "http://127.0.0.1:1/", options: { allowInsecureLoopback: true } }),
    ).toEqual({ ok: true });
    expect(
      await ask("open", { name, url: "http://10.0.0.1/", options: { allowInsecureLoopback: true } }),
    ).toMatchObject({ ok: false });
  });

  it("only the hosts that are allowed by name are fetched from", async () => {
    const options = { allowedHosts: ["Keys.Example.com"] };
    expect(await ask("open", { name: "a", url: "https://keys.example.com/jwks.json", options })).toEqual({
      ok: true,
    });
    expect(
      await ask("open", { name: "a", url: "https://keys.example.com.attacker.example/", options }),
    ).toEqual({ ok: false, code: "KEY_SET_URL_REFUSED" });
  });
});

describe("keys that do not qualify", () => {
  it.each([
    ["a private member", () => [{ ...key.publicJwk, kid: "other", d: "AA" }], "KEY_SET_INVALID"],
    ["a symmetric key", () => [{ kty: "oct", kid: "s", k: "c2VjcmV0" }], "KEY_SET_INVALID"],
    ["a symmetric key without k", () => [{ kty: "oct", kid: "s" }], "KEY_SET_INVALID"],
    ["a private AKP key", () => [{ kty: "AKP", kid: "a", priv: "AA" }], "KEY_SET_INVALID"],
  ] as const)("%s makes the whole set invalid", async (_, bad, code) => {
    expect(await verdictFor(serving(key.publicJwk, ...bad()))).toMatchObject({ ok: false, code });
  });

  const skipped: [string, string, (jwk: Record<string, unknown>) => object][] = [
    ["use: enc", "ES256", (jwk) => ({ ...jwk, use: "enc" })],
    ["no use", "ES256", ({ use: _, ...jwk }) => jwk],
    ["no alg", "ES256", ({ alg: _, ...jwk }) => jwk],
    ["another alg", "ES256", (jwk) => ({ ...jwk, alg: "ES384" })],
    ["a point that is not on the curve", "ES256", (jwk) => ({ ...jwk, x: jwk.y })],
    ["a number for x", "ES256", (jwk) => ({ ...jwk, x: 12 })],
    ["key_ops without verify", "ES256", (jwk) => ({ ...jwk, key_ops: ["encrypt"] })],
    ["key_ops that is no list", "ES256", (jwk) => ({ ...jwk, key_ops: "verify" })],
    ["another kty", "ES256", (jwk) => ({ ...jwk, kty: "RSA" })],
    ["secp256k1", "ES256", (jwk) => ({ ...jwk, crv: "secp256k1" })],
  ];
  it.each(skipped)("%s is skipped, and the others serve", async (_, alg, change) => {
    const bad = { ...change({ ...key.publicJwk }), kid: "bad" };
    const name = await open(await host(serving(bad, key.publicJwk)));
    expect(await ask("resolve", { name, kid: "bad", alg })).toMatchObject({
      ok: false,
      code: "KEY_NOT_FOUND",
    });
    expect(await ask("resolve", { name, kid: "good" })).toMatchObject({ ok: true });
  });

  it.each([
    ["RSA of 1024 bit", () => ({ n: "x".repeat(171) })],
    ["e = 1", () => ({ e: "AQ" })],
    ["e = 3", () => ({ e: "Aw" })],
    ["an even e", () => ({ e: "AQAA" })],
    ["no n", () => ({ n: undefined })],
  ])("%s is skipped", async (_, change) => {
    const bad = { ...rsa.publicJwk, ...change() };
    expect(await verdictFor(serving(bad, key.publicJwk), "rsa", "RS256")).toMatchObject({
      ok: false,
      code: "KEY_NOT_FOUND",
    });
  });

  it("a kid that stands twice for one alg is unusable, and the others serve", async () => {
    const name = await open(
      await host(serving(key.publicJwk, { ...rsa.publicJwk, kid: "good" }, key.publicJwk, rsa.publicJwk)),
    );
    expect(await ask("resolve", { name, kid: "good", alg: "RS256" })).toMatchObject({ ok: true });
    expect(await ask("resolve", { name, kid: "good" })).toMatchObject({
      code: "KEY_NOT_FOUND",
      detail: expect.stringContaining("3 times"),
    });
    expect(await ask("resolve", { name, kid: "rsa", alg: "RS256" })).toMatchObject({ ok: true });
  });

  it("a token with another alg does not spoil a key that has none, where that is allowed", async () => {
    const { alg: _, use: __, ...bare } = rsa.publicJwk;
    const name = await open(await host(serving(bare)), { ...LOOPBACK, lenient: true });
    expect(await ask("resolve", { name, kid: "rsa", alg: "ES256" })).toMatchObject({ code: "KEY_NOT_FOUND" });
    expect(await ask("resolve", { name, kid: "rsa", alg: "RS256" })).toMatchObject({ ok: true });
  });
});

describe("random kids", () => {
  it("10,000 of them cost one more fetch in 30 s, and a valid kid is found all the while", async () => {
    const name = await open(await host(serving(key.publicJwk)));
    await ask("resolve", { name, kid: "good" });
    const before = await ask("memory");
    expect(await ask("resolve", { name, kid: "random", times: 10_000, atOnce: 100 })).toMatchObject({
      counts: { KEY_NOT_FOUND: 10_000 },
    });
    expect(asked).toBe(2);
    expect(await ask("resolve", { name, kid: "good" })).toMatchObject({ ok: true });
    const after = await ask("memory");
    expect(after.heap - before.heap).toBeLessThan(4 * 1024 * 1024);
    await ask("advance", { ms: 29_999 });
    await ask("resolve", { name, kid: "random", times: 100 });
    expect(asked).toBe(2);
    await ask("advance", { ms: 2 });
    await ask("resolve", { name, kid: "random", times: 100 });
    expect(asked).toBe(3);
  });
});

describe("time", () => {
  const changing = (headers: Record<string, string>) => {
    let keys: object[] = [key.publicJwk];
    const listener: RequestListener = (request, response) => json({ keys }, headers)(request, response);
    return { listener, remove: () => (keys = [rsa.publicJwk]) };
  };
  it.each([
    ["max-age=0", 60],
    ["no-store", 60],
    ["max-age=120", 120],
    ["public, MAX-AGE=120, s-maxage=9", 120],
    ["x-max-age=61", 300],
    ["max-age=nonsense", 60],
    ["max-age=99999999999999999999", 600],
    ["private", 300],
  ])("with Cache-Control %s a removed key is refused after %i s", async (control, seconds) => {
    const { listener, remove } = changing({ "Cache-Control": control });
    const name = await open(await host(listener));
    await ask("resolve", { name, kid: "good" });
    remove();
    await ask("advance", { ms: seconds * 1000 - 1 });
    expect(await ask("resolve", { name, kid: "good" })).toMatchObject({ ok: true });
    await ask("advance", { ms: 1 });
    expect(await ask("resolve", { name, kid: "good" })).toMatchObject({ code: "KEY_NOT_FOUND" });
  });

  it("an Age that a cache on the way reports counts", async () => {
    const { listener, remove } = changing({ "Cache-Control": "max-age=500", Age: "400" });
    const name = await open(await host(listener));
    await ask("resolve", { name, kid: "good" });
    remove();
    await ask("advance", { ms: 100_000 });
    expect(await ask("resolve", { name, kid: "good" })).toMatchObject({ code: "KEY_NOT_FOUND" });
  });

  it("a set that cannot be refreshed serves 10 minutes more, and is asked for again every 10 s", async () => {
    let down = false;
    const name = await open(
      await host((request, response) =>
        down
          ? request.socket.destroy()
          : json({ keys: [key.publicJwk] }, { "Cache-Control": "max-age=60" })(request, response),
      ),
    );
    await ask("resolve", { name, kid: "good" });
    down = true;
    await ask("advance", { ms: 60_000 });
    expect(await ask("resolve", { name, kid: "good", times: 50 })).toMatchObject({ counts: { ok: 50 } });
    const attempts = asked;
    await ask("advance", { ms: 10_000 });
    expect(await ask("resolve", { name, kid: "good", times: 50 })).toMatchObject({ counts: { ok: 50 } });
    expect(asked).toBeGreaterThan(attempts);
    await ask("advance", { ms: 590_000 });
    expect(await ask("resolve", { name, kid: "good" })).toMatchObject({ code: "KEY_SET_UNAVAILABLE" });
    down = false;
    await ask("advance", { ms: 10_000 });
    expect(await ask("resolve", { name, kid: "good" })).toMatchObject({ ok: true });
  });

  it("a new key is found at once by the first token that names it", async () => {
    let keys: object[] = [key.publicJwk];
    const name = await open(await host((request, response) => json({ keys })(request, response)));
    await ask("resolve", { name, kid: "good" });
    keys = [key.publicJwk, rsa.publicJwk];
    expect(await ask("resolve", { name, kid: "rsa", alg: "RS256" })).toMatchObject({ ok: true });
    expect(asked).toBe(2);
  });

  it("a clock that is put back does not keep a key alive", async () => {
    const { listener, remove } = changing({ "Cache-Control": "max-age=60" });
    const name = await open(await host(listener));
    await ask("resolve", { name, kid: "good" });
    remove();
    await ask("advance", { ms: -3_600_000 });
    expect(await ask("resolve", { name, kid: "good" })).toMatchObject({ code: "KEY_NOT_FOUND" });
    await ask("advance", { ms: 3_600_000 });
  });
});
