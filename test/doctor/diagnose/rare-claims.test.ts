// Claims that few programs get wrong: ports and schemes of URLs, times of another clock, and keys that are none.
import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { diagnose } from "hookproof/diagnose";
import type { Jwks } from "hookproof/jwks";
import { fixedClock } from "hookproof/testing";
import { describe, expect, it } from "vitest";

const NOW = 1_767_225_600;
const ID = "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10";
const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const KEY = { ...publicKey.export({ format: "jwk" }), use: "sig", alg: "EdDSA", kid: "k1" };
const rsa = generateKeyPairSync("rsa", { modulusLength: 1_024 }).publicKey.export({ format: "jwk" });
const b64u = (data: string | Buffer) => Buffer.from(data as string).toString("base64url");

interface Given {
  readonly base?: string;
  readonly claims?: (right: Record<string, unknown>) => Record<string, unknown>;
  readonly stamp?: number;
  readonly alg?: string;
  readonly id?: string;
  readonly key?: Record<string, unknown>;
}

/** The mistakes of a token whose claims are right but for what is changed. */
async function mistakesOf({
  base = "https://a.test",
  claims,
  stamp = NOW,
  alg = "EdDSA",
  id: eventId = ID,
  key = KEY,
}: Given) {
  const url = `${base}/api/v1/webhooks/incoming/lst_1`;
  const right = {
    ...{ sub: base, aud: url, exp: NOW + 300, jti: ID, htm: "POST" },
    htb_s256: createHash("sha256").update("{}").digest("base64url"),
  };
  const input = `${b64u(JSON.stringify({ alg, kid: "k1" }))}.${b64u(JSON.stringify({ ...right, ...claims?.(right) }))}`;
  const token = `${input}.${b64u(sign(null, Buffer.from(input), privateKey))}`;
  const headers = {
    "Content-Type": "application/json",
    "Webhook-Timestamp": String(stamp),
    "Webhook-Event-Id": eventId,
    Authorization: `Bearer ${token}`,
  };
  const request = { method: "POST", url, headers, body: "{}" };
  const listener = { id: "lst_1", baseUrl: base };
  const jwks = { keys: [key] } as unknown as Jwks;
  return (await diagnose({ request, listener, jwks, clock: fixedClock(NOW * 1000) })).mistakes;
}
const idsOf = async (given: Given) => (await mistakesOf(given)).map(({ id }) => id);

describe("a URL whose port is another is named:", () => {
  it.each<readonly [base: string, sub: string]>([
    ["https://a.test", "https://a.test:443"],
    ["https://a.test/id", "https://a.test:443/id"],
    ["http://127.0.0.1", "http://127.0.0.1:80"],
    ["http://127.0.0.1/id", "http://127.0.0.1:80/id"],
    ["http://127.0.0.1:8080", "http://127.0.0.1"],
    ["https://a.test:8443/id", "https://a.test/id"],
  ])("%s, as %s", async (base, sub) => {
    expect(await idsOf({ base })).toEqual([]);
    expect(await idsOf({ base, claims: () => ({ sub }) })).toEqual(["claim-sub-port"]);
  });

  it("a port that is neither is another host's", async () => {
    expect(await idsOf({ claims: () => ({ sub: "https://a.test:8443" }) })).toEqual(["claim-sub-host"]);
  });

  it("a path alone, and a host alone, are what they are", async () => {
    const path = (right: Record<string, unknown>) => ({ aud: new URL(String(right.aud)).pathname });
    expect(await idsOf({ claims: path })).toEqual(["claim-aud-path-only"]);
    expect(await idsOf({ claims: () => ({ aud: "a.test" }) })).toEqual(["claim-aud-without-scheme"]);
  });
});

describe("a time by a clock that is off", () => {
  const at = (exp: number, stamp: number) => mistakesOf({ stamp, claims: () => ({ exp }) });
  const said = async (exp: number, stamp: number) =>
    (await at(exp, stamp))
      .filter(({ id }) => id.startsWith("claim-"))
      .map(({ id, message }) => [id, message]);

  it("that is ahead is told from a token that lives too long", async () => {
    expect(await said(NOW + 601, NOW + 301)).toEqual([
      ["claim-exp-clock-ahead", expect.stringMatching(/is 301 s from this clock\.$/)],
    ]);
    expect(await said(NOW + 601, NOW)).toEqual([
      ["claim-exp-too-far", expect.stringMatching(/It is 1 s too far\.$/)],
    ]);
    expect(await said(NOW + 600, NOW)).toEqual([]);
  });

  it("that is behind is told from a token that has expired", async () => {
    expect(await said(NOW, NOW - 100)).toEqual([
      ["claim-exp-clock-behind", expect.stringMatching(/is 100 s from this clock\.$/)],
    ]);
    expect(await said(NOW, NOW)).toEqual([["claim-exp-past", expect.stringMatching(/expired 0 s ago\.$/)]]);
    expect(await said(NOW + 1, NOW - 100)).toEqual([]);
  });
});

describe("a published key that cannot be one is named by what is seen of it:", () => {
  it.each<readonly [id: string, said: RegExp, alg: string, key: Record<string, unknown>]>([
    ["key-type", /It is missing; EdDSA has OKP\.$/, "EdDSA", { ...KEY, kty: undefined }],
    ["key-curve", /It is "Ed448"; EdDSA has Ed25519\.$/, "EdDSA", { ...KEY, crv: "Ed448" }],
    ["key-material-missing", /Missing: x\.$/, "EdDSA", { ...KEY, x: undefined }],
    ["key-material-spelling", /x is "a b"\.$/, "EdDSA", { ...KEY, x: "a b" }],
    ["key-material-length", /x has 31 bytes\.$/, "EdDSA", { ...KEY, x: b64u(Buffer.alloc(31, 1)) }],
    ["key-too-short", /It has 128 bytes; 256 are needed\.$/, "RS256", { ...KEY, ...rsa, alg: "RS256" }],
    [
      "key-exponent",
      /It is "Aw"\.$/,
      "RS256",
      { ...KEY, ...rsa, alg: "RS256", n: b64u(Buffer.alloc(256, 9)), e: "Aw" },
    ],
  ])("%s %s", async (id, said, alg, key) => {
    const found = (await mistakesOf({ alg, key })).find((one) => one.id === id);
    expect(found?.message).toMatch(said);
  });
});

describe("an id that is short", () => {
  const of = async (id: string, jti: string) =>
    (await idsOf({ id, claims: () => ({ jti }) })).filter((one) => one.startsWith("claim-jti"));

  it("is another one in any other text: what is around it may be there by chance", async () => {
    expect(await of("evt-1", "my-evt-1")).toEqual(["claim-jti-other"]);
    expect(await of("abcdef", Buffer.from("abcdef").toString("base64url"))).toEqual(["claim-jti-other"]);
    expect(await of("test-1", "evt-1")).toEqual(["claim-jti-other"]);
    expect(await of("evt-1", "EVT-1")).toEqual([]);
    expect(await of(ID, `my-${ID}`)).toEqual(["claim-jti-spelling"]);
  });
});

it("that a request is old by now comes last: every recorded one comes to it", async () => {
  const ids = await idsOf({ stamp: NOW - 900, claims: () => ({ jti: "another", exp: NOW - 600 }) });
  expect(ids.slice(0, 1)).toEqual(["claim-jti-other"]);
  expect(ids.slice(1).sort()).toEqual(["claim-exp-clock-behind", "timestamp-stale"]);
});

it("a header that is there several times says how often", async () => {
  const headers: [string, string][] = ["1", "2", "3"].map((value) => ["Webhook-Event-Id", value]);
  const { mistakes } = await diagnose({ request: { headers, body: "{}" }, clock: fixedClock(NOW * 1000) });
  expect(mistakes.find(({ id }) => id === "header-twice")?.message).toMatch(
    /Webhook-Event-Id is there 3 times\.$/,
  );
});
