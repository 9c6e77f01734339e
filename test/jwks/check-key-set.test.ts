import { checkKeySet, generateKey, type KeyRecord, type KeySetRule, remoteKeys } from "hookproof/jwks";
import { CompactSign, importJWK } from "jose";
import { beforeAll, describe, expect, it } from "vitest";
import { testKey } from "../kit/hostile-tokens.js";

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

  it.each(["null", "[]", '"keys"', "5"])("of the document %s", async (document) => {
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

  it("of a curve that is not P-256, though no alg is named: that it is not", async () => {
    const { alg: _, ...nameless } = key.publicJwk;
    expect(await check("strength", { keys: [nameless] })).toMatchObject({ outcome: "pass" });
    expect(await check("strength", { keys: [{ ...nameless, crv: "P-384" }] })).toMatchObject({
      outcome: "fail",
      detail: expect.stringContaining("The key for ES256"),
    });
  });

  it("of a key without a usable kid: its place", async () => {
    const names = (kid: unknown) => check("kid", { keys: [key.publicJwk, { ...key.publicJwk, kid }] });
    for (const kid of [5, "", null, ["k"]]) expect(await names(kid)).toMatchObject({ keys: ["number 2"] });
    expect(await names("k".repeat(257))).toMatchObject({ keys: [expect.stringMatching(/^"kkk/)] });
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
