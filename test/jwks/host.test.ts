import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { get, type IncomingHttpHeaders, request as plainRequest } from "node:http";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  checkKeySet,
  createKeySet,
  exportKeySet,
  generateKey,
  type KeyRecord,
  remoteKeys,
} from "hookproof/jwks";
import { openKeyStore } from "hookproof/node";
import { KEY_SET_FAULTS, type KeySetFault, type RunningKeySetHost, startKeySetHost } from "hookproof-service";
import { afterEach, beforeAll, describe, expect, it } from "vitest";

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

let key: KeyRecord;
const running: RunningKeySetHost[] = [];
beforeAll(async () => {
  key = await generateKey({ alg: "ES256" });
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((host) => host.stop()));
});

async function host(
  options: Partial<Parameters<typeof startKeySetHost>[0]> = {},
): Promise<RunningKeySetHost> {
  const started = await startKeySetHost({ keySet: createKeySet([key]), ...options });
  running.push(started);
  return started;
}

function ask(
  url: string,
  {
    method = "GET",
    headers = {},
    ca,
  }: { method?: string; headers?: Record<string, string>; ca?: string } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const send = url.startsWith("https:") ? request : plainRequest;
    const req = send(url, { method, headers, ...(ca ? { ca } : {}) }, (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        body += chunk;
      });
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
      );
    });
    req.on("error", reject);
    req.end();
  });
}

describe("the host", () => {
  it("answers with the public set, its type, caching, CORS and a strong ETag", async () => {
    const { keySetUrl, url } = await host({ maxAgeSeconds: 120 });
    expect(new URL(url).hostname).toBe("127.0.0.1");
    const { status, headers, body } = await ask(keySetUrl);
    expect(status).toBe(200);
    expect(JSON.parse(body)).toEqual({ keys: [key.publicJwk] });
    expect(body).not.toContain(key.privateJwk.d as string);
    expect(headers).toMatchObject({
      "content-type": "application/jwk-set+json",
      "cache-control": "public, max-age=120",
      "access-control-allow-origin": "*",
      "x-content-type-options": "nosniff",
      etag: expect.stringMatching(/^"[A-Za-z0-9_-]{22}"$/),
    });
  });

  it("answers 304 to its own ETag, until the set changes", async () => {
    const dir = mkdtempSync(join(tmpdir(), "hookproof-host-"));
    const store = openKeyStore(dir);
    await store.generate({ alg: "EdDSA" });
    const { keySetUrl } = await host({ keySet: createKeySet(store) });
    const etag = (await ask(keySetUrl)).headers.etag ?? "";
    for (const match of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
      const answer = await ask(keySetUrl, { headers: { "If-None-Match": match } });
      expect(answer).toMatchObject({ status: 304, body: "" });
      expect(answer.headers.etag).toBe(etag);
    }
    await store.generate({ alg: "EdDSA" });
    const changed = await ask(keySetUrl, { headers: { "If-None-Match": etag } });
    expect(changed.status).toBe(200);
    expect(JSON.parse(changed.body).keys).toHaveLength(2);
    writeFileSync(join(dir, "keys.json"), "{");
    expect(await ask(keySetUrl)).toMatchObject({ status: 503, body: "" });
    rmSync(dir, { recursive: true });
  });

  it("keeps connections open from one request to the next", async () => {
    const { keySetUrl } = await host();
    const { headers } = await ask(keySetUrl, { headers: { Connection: "keep-alive" } });
    expect(headers.connection).toBe("keep-alive");
  });

  it("takes GET and HEAD at its path, and nothing else", async () => {
    const { keySetUrl, url } = await host();
    const head = await ask(keySetUrl, { method: "HEAD" });
    expect(head).toMatchObject({ status: 200, body: "" });
    expect(head.headers["content-type"]).toBe("application/jwk-set+json");
    for (const method of ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"]) {
      const answer = await ask(keySetUrl, { method });
      expect([method, answer.status, answer.headers.allow]).toEqual([method, 405, "GET, HEAD"]);
    }
    expect((await ask(`${keySetUrl}?v=1`)).status).toBe(200);
    expect((await ask(`${url}/`)).status).toBe(404);
    expect((await ask(`${keySetUrl}/`)).status).toBe(404);
    await expect(startKeySetHost({ keySet: createKeySet([key]), path: "jwks.json" })).rejects.toThrow(
      TypeError,
    );
  });

  it("says wherever the set is not where it is, and repeats nothing of the request", async () => {
    const { url } = await host({ path: `/a"<b>&c` });
    const text = "There is no key set at this path. It is at ";
    for (const [accept, type, body] of [
      ["*/*", "text/plain; charset=utf-8", `${text}/a"<b>&c\n`],
      ["text/html,*/*;q=0.8", "text/html; charset=utf-8", `${text}<a href="/a&quot;&lt;b>&amp;c">`],
    ]) {
      const answer = await ask(`${url}/%3Cscript%3E`, { headers: { Accept: accept as string } });
      expect([answer.status, answer.headers["content-type"]]).toEqual([404, type]);
      expect(answer.headers["x-content-type-options"]).toBe("nosniff");
      expect(answer.body).toContain(body);
      expect(answer.body).not.toContain("script");
      expect(await ask(url, { method: "HEAD" })).toMatchObject({ status: 404, body: "" });
    }
  });

  it("serves HTTPS with a certificate it makes, which nobody trusts unasked", async () => {
    const { keySetUrl, certificate } = await host({ tls: "self-signed" });
    expect(keySetUrl).toMatch(/^https:\/\/127\.0\.0\.1:/);
    expect((await ask(keySetUrl, { ca: certificate as string })).status).toBe(200);
    expect(
      (await ask(keySetUrl.replace("127.0.0.1", "localhost"), { ca: certificate as string })).status,
    ).toBe(200);
    await expect(ask(keySetUrl)).rejects.toMatchObject({ code: "DEPTH_ZERO_SELF_SIGNED_CERT" });
  });
});

describe("faults on demand", () => {
  const verdicts: Record<Exclude<KeySetFault, "slow">, string> = {
    unreachable: "KEY_SET_UNAVAILABLE",
    empty: "KEY_NOT_FOUND",
    "wrong-kid": "KEY_NOT_FOUND",
    html: "KEY_SET_INVALID",
    "500": "KEY_SET_UNAVAILABLE",
  };
  it.each(Object.entries(verdicts))("%s makes a listener say %s", async (fault, code) => {
    const { keySetUrl } = await host({ fault: fault as KeySetFault });
    expect(
      await remoteKeys(keySetUrl, { allowInsecureLoopback: true }).resolve(key.kid, "ES256"),
    ).toMatchObject({ ok: false, code });
    expect((await checkKeySet(keySetUrl, { allowInsecureLoopback: true })).ok).toBe(fault === "wrong-kid");
  });

  it("slow does not answer while a listener waits", async () => {
    expect(KEY_SET_FAULTS).toContain("slow");
    const { keySetUrl } = await host({ fault: "slow" });
    const answered = await new Promise((resolve) => {
      const req = get(keySetUrl, () => resolve(true));
      req.on("error", () => resolve(false));
      setTimeout(() => req.destroy(), 100);
    });
    expect(answered).toBe(false);
  });
});

describe("checkKeySet", () => {
  const outcomes = async (source: string | object, options = {}) => {
    const { ok, checks } = await checkKeySet(source, options);
    return { ok, ...Object.fromEntries(checks.map(({ rule, outcome }) => [rule, outcome])) };
  };

  it("passes a good host on every rule", async () => {
    const { keySetUrl } = await host();
    expect(await outcomes(keySetUrl, { allowInsecureLoopback: true })).toEqual({
      ok: true,
      ...Object.fromEntries(
        [
          "https",
          "reachable",
          "time",
          "content-type",
          "caching",
          "json",
          "keys",
          "private",
          "kid",
          "unique",
          "kty",
          "use",
          "alg",
          "strength",
          "usable",
          "key-ops",
          "encoding",
        ].map((rule) => [rule, "pass"]),
      ),
    });
  });

  it("names what is wrong with a URL or a host", async () => {
    expect(await outcomes("http://keys.example.com/jwks.json")).toEqual({ ok: false, https: "fail" });
    expect(await outcomes("http://127.0.0.1:1/", { allowInsecureLoopback: true })).toEqual({
      ok: false,
      https: "pass",
      reachable: "fail",
    });
  });

  const bad: [string, string, (jwk: Record<string, unknown>) => unknown][] = [
    ["private", "a private member", (jwk) => ({ ...jwk, d: "AA" })],
    ["kid", "no kid", ({ kid: _, ...jwk }) => jwk],
    ["kid", "an empty kid", (jwk) => ({ ...jwk, kid: "" })],
    ["kty", "a symmetric key", (jwk) => ({ ...jwk, kty: "oct" })],
    ["use", "no use", ({ use: _, ...jwk }) => jwk],
    ["alg", "a misspelt alg", (jwk) => ({ ...jwk, alg: "es256" })],
    ["alg", "no alg", ({ alg: _, ...jwk }) => jwk],
    ["strength", "an off-curve point", (jwk) => ({ ...jwk, x: jwk.y })],
    ["kid", "a key that is null", () => null],
  ];
  it.each(bad)("finds by %s: %s", async (rule, _, change) => {
    const { ok, checks } = await checkKeySet({
      keys: [key.publicJwk, change({ ...key.publicJwk, kid: "bad" })],
    });
    const found = checks.find((check) => check.rule === rule);
    expect([ok, found?.outcome, found?.keys?.length]).toEqual([false, "fail", 1]);
  });

  it("finds kids that stand twice, short RSA keys and lists that are none", async () => {
    expect(await outcomes({ keys: [key.publicJwk, key.publicJwk] })).toMatchObject({
      ok: false,
      unique: "fail",
    });
    expect(
      await outcomes({
        keys: [{ kty: "RSA", use: "sig", alg: "RS256", kid: "r", n: "x".repeat(171), e: "AQAB" }],
      }),
    ).toMatchObject({ ok: false, strength: "fail", alg: "pass" });
    for (const none of [{}, { keys: {} }, { keys: [] }, []])
      expect(await outcomes(none)).toEqual({ ok: false, keys: "fail" });
  });

  it("tries a token", async () => {
    const { CompactSign, importJWK } = await import("jose");
    const sign = async (jwk: KeyRecord["privateJwk"], kid: string) =>
      new CompactSign(Buffer.from("{}"))
        .setProtectedHeader({ alg: "ES256", kid })
        .sign(await importJWK(jwk, "ES256"));
    const other = await generateKey({ alg: "ES256" });
    const keys = { keys: [key.publicJwk] };
    expect(await outcomes(keys, { token: await sign(key.privateJwk, key.kid) })).toMatchObject({
      ok: true,
      token: "pass",
    });
    expect(await outcomes(keys, { token: await sign(other.privateJwk, key.kid) })).toMatchObject({
      ok: false,
      token: "fail",
    });
    expect(await outcomes(keys, { token: await sign(other.privateJwk, other.kid) })).toMatchObject({
      ok: false,
      token: "fail",
    });
    expect(await outcomes(keys, { token: "not a token" })).toMatchObject({ ok: false, token: "fail" });
  });
});

describe("exportKeySet", () => {
  it("gives the document the host serves, and the headers for common static hosts", async () => {
    const { keySetUrl } = await host({ maxAgeSeconds: 600 });
    const served = await ask(keySetUrl);
    const { document, headers, hosts, path } = await exportKeySet(createKeySet([key]), {
      maxAgeSeconds: 600,
    });
    expect(JSON.parse(document)).toEqual(JSON.parse(served.body));
    for (const [name, value] of Object.entries(headers))
      expect(served.headers[name.toLowerCase()]).toBe(value);
    expect(path).toBe("/.well-known/jwks.json");
    for (const text of Object.values(hosts)) {
      expect(text).toContain("application/jwk-set+json");
      expect(text).toContain("public, max-age=600");
    }
    expect(Object.keys(hosts)).toEqual(["nginx", "apache", "caddy", "headers-file", "s3"]);
    for (const bad of ['/"; rm', "/jwks.json;", "/jwks.json\n", "x/jwks.json", "jwks.json", "/", ""])
      await expect(exportKeySet(createKeySet([key]), { path: bad }), bad).rejects.toThrow(TypeError);
    expect(await exportKeySet(createKeySet([key]), { path: "/a-b_c~d/1.json" })).toMatchObject({
      path: "/a-b_c~d/1.json",
    });
    await expect(exportKeySet(createKeySet([key]), { maxAgeSeconds: 1.5 })).rejects.toThrow(RangeError);
  });
});
