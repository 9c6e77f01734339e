import { execFileSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { checkKeySet, generateKey, type KeyRecord, type KeySetRule, remoteKeys } from "hookproof/jwks";
import { CompactSign, importJWK } from "jose";
import { beforeAll, describe, expect, it } from "vitest";
import { testKey } from "../kit/hostile-tokens.js";
import { describeWith } from "../kit/needs.js";
import { hasTools } from "../kit/outside-tool.js";
import { temporaryFolder } from "../kit/temporary-folder.js";

const URL_OF_SET = "https://keys.example.com/jwks.json";
let key: KeyRecord;
beforeAll(async () => {
  key = await generateKey({ alg: "ES256", kid: "k" });
});

async function check(rule: KeySetRule, source: string | object, options: object = {}) {
  const { checks } = await checkKeySet(source, options);
  return checks.find((one) => one.rule === rule);
}

const answering = (body: string, headers: readonly (readonly [string, string])[] = []) => ({
  transport: async () => ({ status: 200, headers, body: new TextEncoder().encode(body), truncated: false }),
});

describe("what checkKeySet says", () => {
  it("of the URL and the headers", async () => {
    const ok = answering(JSON.stringify({ keys: [key.publicJwk] }), [["Content-Type", "text/plain"]]);
    const detail = async (rule: KeySetRule, options = ok) => (await check(rule, URL_OF_SET, options))?.detail;
    expect(await detail("https")).toBe("https");
    expect(await detail("content-type")).toBe('"text/plain"');
    expect(await detail("content-type", answering("{}"))).toContain("none;");
    expect(await detail("caching")).toContain("no Cache-Control");
    const wrong = answering("{}", [["cache-control", "private"]]);
    expect(await detail("caching", wrong)).toMatch(/^"private"; a max-age of 60 to 600 s/);
  });

  it.each(["null", "{}", '"keys"', "5"])("of the document %s", async (document) => {
    expect(await check("keys", URL_OF_SET, answering(document))).toEqual({
      rule: "keys",
      outcome: "fail",
      detail: "there is no list of keys",
    });
  });

  it("of keys that are unfit: each reason once", async () => {
    const short = { kty: "RSA", use: "sig", alg: "RS256", n: "x".repeat(171), e: "AQAB" };
    const { jwk: ed } = testKey("EdDSA", "e");
    const unfit = [
      { ...short, kid: "a" },
      { ...short, kid: "b" },
      { ...ed, kid: "c", alg: "ES256" },
    ];
    const found = await check("strength", { keys: [key.publicJwk, ...unfit] });
    expect(found).toMatchObject({ outcome: "fail", keys: ['"a"', '"b"', '"c"'] });
    expect(found?.detail).toMatch(/^The key for RS256 [^.]+\. The key for ES256 [^.]+\.$/);
    expect(await check("strength", { keys: [key.publicJwk] })).toEqual({
      rule: "strength",
      outcome: "pass",
      detail: "RSA of at least 2048 bit with e = 65537, EC on P-256, Ed25519",
    });
  });

  it("of a curve that is not P-256: that ES256 is not for it, or that the key is for another purpose", async () => {
    const { alg: _, ...nameless } = key.publicJwk;
    expect(await check("strength", { keys: [nameless] })).toMatchObject({ outcome: "pass" });
    expect(await check("strength", { keys: [{ ...key.publicJwk, crv: "P-384" }] })).toMatchObject({
      outcome: "fail",
      detail: expect.stringContaining("The key for ES256"),
    });
    expect(await check("purpose", { keys: [{ ...nameless, crv: "P-384" }] })).toMatchObject({
      outcome: "note",
      detail: '1 key for another purpose (crv "P-384"), which listeners pass over',
    });
  });

  it("of kids that differ by case or type", async () => {
    const keys = ["a", "A", 7, "7", "b"].map((kid) => ({ ...key.publicJwk, kid }));
    const { checks } = await checkKeySet({ keys });
    expect(checks.filter(({ rule }) => rule === "unique")).toEqual([
      { rule: "unique", outcome: "pass", detail: "no kid occurs twice" },
      {
        rule: "unique",
        outcome: "warn",
        detail: "kids differ only by case or type, which is easily mistaken",
        keys: ['"a"', '"A"', "number 3", '"7"'],
      },
    ]);
  });

  it("of key_ops without verify, which a listener does not use", async () => {
    for (const key_ops of [["sign"], [], "verify"])
      expect(await check("key-ops", { keys: [{ ...key.publicJwk, key_ops }] })).toMatchObject({
        outcome: "fail",
        keys: ['"k"'],
      });
    for (const key_ops of [undefined, ["verify"], ["sign", "verify"]])
      expect(await check("key-ops", { keys: [{ ...key.publicJwk, key_ops }] })).toMatchObject({
        outcome: "pass",
      });
  });

  it("of numbers that RFC 7518 does not allow to be written so", async () => {
    const { publicJwk: rsa } = await generateKey({ alg: "RS256", kid: "r" });
    const n = String(rsa.n);
    const bytes = Buffer.from(n, "base64url");
    const standard = Buffer.concat([Buffer.from([0xff, 0xef, 0xbe]), bytes.subarray(3)]).toString("base64");
    const cases: [n: string, says: string][] = [
      [`${n}==`, "n is padded with ="],
      [standard.replace(/=+$/, ""), "n is standard base64 and not base64url"],
      [Buffer.concat([Buffer.from([0]), bytes]).toString("base64url"), "n begins with a zero octet"],
      [`${n}~`, "n is not base64url"],
    ];
    for (const [wrong, says] of cases)
      expect(await check("encoding", { keys: [rsa, { ...rsa, kid: "w", n: wrong }] })).toEqual({
        rule: "encoding",
        outcome: "fail",
        detail: `${says} (RFC 7518, 6)`,
        keys: ['"w"'],
      });
    expect(await check("encoding", { keys: [rsa, key.publicJwk] })).toMatchObject({ outcome: "pass" });
  });

  it("of a token's kid that is in the set in another case", async () => {
    const token = await new CompactSign(Buffer.from("{}"))
      .setProtectedHeader({ alg: "ES256", kid: "K" })
      .sign(await importJWK(key.privateJwk, "ES256"));
    expect((await check("token", { keys: [key.publicJwk] }, { token }))?.detail).toBe(
      'the key set has no key with kid "K", but "k": kids are compared with case and type',
    );
  });

  it("of a key without a usable kid: its place", async () => {
    const names = (kid: unknown) => check("kid", { keys: [key.publicJwk, { ...key.publicJwk, kid }] });
    for (const kid of [5, "", null, ["k"]]) expect(await names(kid)).toMatchObject({ keys: ["number 2"] });
    expect(await names("k".repeat(257))).toMatchObject({ keys: [expect.stringMatching(/^"kkk/)] });
  });
});

describeWith("openssl", hasTools("openssl"))("what checkKeySet says of a certificate by openssl", () => {
  /** A key with its certificate, made by openssl and read by Node. */
  function certified(...options: string[]): { jwk: object; x5c: string[] } {
    const folder = temporaryFolder("x5c");
    const [keyFile, file] = [join(folder, "key.pem"), join(folder, "cert.pem")];
    const subject = ["-nodes", "-subj", "/CN=keys.example.com", "-keyout", keyFile, "-out", file];
    execFileSync("openssl", ["req", "-x509", ...options, ...subject], { stdio: "pipe" });
    const certificate = new X509Certificate(readFileSync(file));
    return {
      jwk: certificate.publicKey.export({ format: "jwk" }),
      x5c: [certificate.raw.toString("base64")],
    };
  }

  it.each([
    ["RS256", ["-newkey", "rsa:2048"]],
    ["ES256", ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]],
    ["EdDSA", ["-newkey", "ed25519"]],
  ])("of %s", async (alg, options) => {
    const [own, other] = [certified(...options), certified(...options)];
    const set = (x5c: unknown) => ({ keys: [{ ...own.jwk, use: "sig", alg, kid: "c", x5c }] });
    expect(await checkKeySet(set(own.x5c))).toMatchObject({ ok: true });
    expect(await check("certificate", set(own.x5c))).toMatchObject({ outcome: "pass" });
    for (const wrong of [other.x5c, [], "text", ["AAAA"], ["not base64!"], [own.x5c[0]?.slice(0, 200)]])
      expect(await check("certificate", set(wrong)), JSON.stringify(wrong)).toMatchObject({
        outcome: "fail",
        keys: ['"c"'],
      });
    expect(await check("certificate", { keys: [own.jwk] })).toBeUndefined();
  });
});

describe("what checkKeySet says of a token", () => {
  const signed = async (header: object, by = key) =>
    new CompactSign(Buffer.from("{}"))
      .setProtectedHeader({ alg: "ES256", kid: "k", ...header })
      .sign(await importJWK(by.privateJwk, "ES256"));
  const said = async (token: string, keys: unknown[] = [key.publicJwk]) => {
    const { outcome, detail } = (await check("token", { keys }, { token })) ?? {};
    return `${outcome}: ${detail}`;
  };

  it("that its key verifies it, with white space around it too", async () => {
    const token = await signed({});
    const verified = 'pass: the key "k" verifies the token\'s signature; its claims were not looked at';
    expect(await said(token)).toBe(verified);
    expect(await said(`  ${token}\n`)).toBe(verified);
  });

  it("that its header names no key, or no algorithm of the service", async () => {
    const token = await signed({});
    const other = (header: object) =>
      [Buffer.from(JSON.stringify(header)).toString("base64url"), ...token.split(".").slice(1)].join(".");
    const says = (kid: string, alg: string) => `fail: the token's header has kid ${kid} and alg ${alg}`;
    expect(await said(other({ alg: "ES256", kid: 5 }))).toBe(says("5", '"ES256"'));
    expect(await said(other({ alg: "HS256", kid: "k" }))).toBe(says('"k"', '"HS256"'));
    expect(await said("nonsense")).toBe("fail: the token is not a JWT in compact form");
  });

  it("that the set is unusable, has no such key, or has another one", async () => {
    const token = await signed({});
    expect(await said(token, [key.publicJwk, { ...key.publicJwk, kid: "p", d: "" }])).toBe(
      "fail: the key set has a private or symmetric key (member d)",
    );
    expect(await said(token, [{ ...key.publicJwk, kid: "x" }])).toBe(
      'fail: the key set has no key with kid "k"',
    );
    const stranger = await generateKey({ alg: "ES256" });
    expect(await said(await signed({}, stranger))).toBe(
      'fail: the key "k" does not verify the token\'s signature',
    );
  });
});

describe("remoteKeys gives a result, and never rejects", () => {
  const unavailable = (detail: string) => ({ ok: false, code: "KEY_SET_UNAVAILABLE", detail });

  it("when a transport of one's own fails", async () => {
    for (const transport of [
      async () => Promise.reject(new Error("secret detail")),
      () => {
        throw new Error("secret detail");
      },
    ])
      expect(await remoteKeys(URL_OF_SET, { transport }).resolve("k", "ES256")).toEqual(
        unavailable("the transport failed"),
      );
  });

  it("when the clock fails", async () => {
    const clock = {
      now: () => {
        throw new Error("secret detail");
      },
    };
    const keys = remoteKeys(URL_OF_SET, { ...answering("{}"), clock });
    expect(await keys.resolve("k", "ES256")).toEqual(unavailable("the clock failed"));
  });
});
