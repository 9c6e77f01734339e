import { createHash, createPublicKey, verify } from "node:crypto";
import { remoteKeys } from "hookproof/jwks";
import { fixedClock } from "hookproof/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  expectAccepted,
  expectRefusal,
  NOW,
  startTarget,
  type Target,
  without,
} from "../kit/hostile-target.js";
import {
  authorized,
  base64url,
  claimsFor,
  compactToken,
  jwtListener,
  jwtParts,
  type TestKey,
  testKey,
} from "../kit/hostile-tokens.js";
import { converse, requestBytes } from "../kit/raw-http.js";
import { type KeyHost, makeCertificate, serveKeys, startKeyHost, trusting } from "./hostile-key-hosts.js";

const certificate = makeCertificate();
const rs256 = testKey("RS256");
const eddsa = testKey("EdDSA");
const es256 = testKey("ES256");
let document: unknown;
let host: KeyHost;

beforeAll(async () => {
  host = await startKeyHost(certificate, (request, response) => serveKeys(() => document)(request, response));
});
afterAll(() => host.stop());

/** A server whose one listener fetches its keys from the host, and the clock of that fetching. */
async function startWith(
  keys: unknown,
): Promise<{ target: Target; keysClock: ReturnType<typeof fixedClock> }> {
  document = keys;
  const keysClock = fixedClock(NOW * 1000);
  const resolver = remoteKeys(host.url, { transport: trusting(certificate), clock: keysClock });
  return { target: await startTarget([jwtListener("lst_jwt", resolver)]), keysClock };
}

/** A token that a key with the exponent 1 would verify: its signature is the padded hash itself. */
function exponentOneForgery(): ReturnType<typeof jwtParts> {
  const parts = jwtParts("lst_jwt", rs256);
  const header = base64url('{"alg":"RS256","kid":"rs256"}');
  const input = `${header}.${base64url(JSON.stringify(claimsFor("lst_jwt", parts)))}`;
  const digestInfo = Buffer.from("3031300d060960864801650304020105000420", "hex");
  const hash = createHash("sha256").update(input).digest();
  const padding = Buffer.alloc(256 - 3 - digestInfo.length - hash.length, 0xff);
  const padded = Buffer.concat([Buffer.of(0, 1), padding, Buffer.of(0), digestInfo, hash]);
  return authorized(parts, `Bearer ${input}.${base64url(padded)}`);
}

describe("key sets with bad keys", () => {
  const small = testKey("RS256", "rs256", { bits: 1024, e: 65_537 });
  const cubic = testKey("RS256", "rs256", { bits: 2048, e: 3 });
  const offCurve = { ...es256.jwk, y: es256.jwk.x };
  const { use: _use, ...noUse } = eddsa.jwk;
  const { alg: _alg, ...noAlg } = eddsa.jwk;

  it.each<[string, TestKey, unknown[]]>([
    ["use: enc", eddsa, [{ ...eddsa.jwk, use: "enc" }]],
    ["no use", eddsa, [noUse]],
    ["no alg", eddsa, [noAlg]],
    ["another alg", eddsa, [{ ...eddsa.jwk, alg: "ES256" }]],
    ["key_ops without verify", eddsa, [{ ...eddsa.jwk, key_ops: ["sign"] }]],
    ["key_ops that is no list", eddsa, [{ ...eddsa.jwk, key_ops: "verify" }]],
    ["RSA of 1024 bit", small, [small.jwk]],
    ["RSA with e = 3", cubic, [cubic.jwk]],
    ["a point off the curve", es256, [offCurve]],
    ["the curve of another key type", eddsa, [{ ...eddsa.jwk, crv: "X25519" }]],
    ["coordinates that are no text", es256, [{ ...es256.jwk, x: 5, y: null }]],
    ["an empty modulus", rs256, [{ ...rs256.jwk, n: "" }]],
    ["the kid twice, first right", eddsa, [eddsa.jwk, { ...testKey("EdDSA").jwk }]],
    ["the kid twice, last right", eddsa, [{ ...testKey("EdDSA").jwk }, eddsa.jwk]],
    ["entries that are no keys", eddsa, [null, 5, [], "eddsa", { kid: "eddsa" }]],
    ["no keys", eddsa, []],
  ])("%s: 401, and a good key next to it still works", async (_name, key, keys) => {
    const good = testKey("ES256", "next to");
    const { target } = await startWith({ keys: [...keys, good.jwk] });
    await expectRefusal(target, jwtParts("lst_jwt", key), 401, "KEY_NOT_FOUND");
    await expectAccepted(target, jwtParts("lst_jwt", good));
    await target.stop();
  });

  it("a use nested 20,000 levels deep is 401", async () => {
    const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
    const { target } = await startWith(JSON.stringify({ keys: [eddsa.jwk] }).replace('"sig"', deep));
    await expectRefusal(target, jwtParts("lst_jwt", eddsa), 401, "KEY_NOT_FOUND");
    await target.stop();
  });

  it("e = 1: a token without any secret is 401", async () => {
    const { target } = await startWith({ keys: [{ ...rs256.jwk, e: "AQ" }] });
    await expectRefusal(target, exponentOneForgery(), 401, "KEY_NOT_FOUND");
    await target.stop();
  });

  /** The y coordinates of all points of order 1, 2, 4 and 8, and those that are 0 and 1 by another spelling. */
  const lowOrder = [
    ["order 4", "00".repeat(32)],
    ["order 1, the identity", `01${"00".repeat(31)}`],
    ["order 8", "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"],
    ["order 8, the other one", "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"],
    ["order 2", `ec${"ff".repeat(30)}7f`],
    ["order 4, not canonical", `ed${"ff".repeat(30)}7f`],
    ["order 1, not canonical", `ee${"ff".repeat(30)}7f`],
  ].flatMap(([name = "", hex = ""]): [string, Buffer][] => {
    const [plain, signed] = [Buffer.from(hex, "hex"), Buffer.from(hex, "hex")];
    signed[31] = (signed[31] ?? 0) | 0x80;
    return [
      [name, plain],
      [`${name}, with the sign`, signed],
    ];
  });
  /** R is the identity and S is zero: for a point of low order that fits one message of as many as its order. */
  const fitsEverything = Buffer.concat([Buffer.of(1), Buffer.alloc(63)]);

  /** The token, of a few thousand, whose forged signature node:crypto itself takes for right. */
  function lowOrderForgery(x: string): { parts: ReturnType<typeof jwtParts>; taken: boolean } {
    const parts = jwtParts("lst_jwt", eddsa);
    const publicKey = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
    let input = "";
    for (let count = 0; count < 200; count++) {
      const claims = JSON.stringify({ ...claimsFor("lst_jwt", parts), count });
      input = `${base64url('{"alg":"EdDSA","kid":"eddsa"}')}.${base64url(claims)}`;
      if (verify(null, Buffer.from(input), publicKey, fitsEverything)) break;
    }
    const taken = verify(null, Buffer.from(input), publicKey, fitsEverything);
    return { parts: authorized(parts, `Bearer ${input}.${base64url(fitsEverything)}`), taken };
  }

  it.each(lowOrder)("Ed25519 of %s: a token without any secret is 401", async (_name, point) => {
    const x = base64url(point);
    const { parts } = lowOrderForgery(x);
    const { target } = await startWith({ keys: [{ ...eddsa.jwk, x }] });
    await expectRefusal(target, parts, 401, "KEY_NOT_FOUND");
    await target.stop();
  });

  it("and the forgery is one: node:crypto takes it for the canonical points", () => {
    const taken = lowOrder.filter(([, point]) => lowOrderForgery(base64url(point)).taken);
    expect(taken.length).toBeGreaterThanOrEqual(8);
  });

  const secretJwk = eddsa.privateKey.export({ format: "jwk" });
  it.each<[string, unknown]>([
    ["a private key", { keys: [eddsa.jwk, { ...secretJwk, kid: "private", use: "sig", alg: "EdDSA" }] }],
    [
      "a symmetric key",
      { keys: [eddsa.jwk, { kty: "oct", k: "AAAA", kid: "oct", use: "sig", alg: "HS256" }] },
    ],
    ["a private member that is null", { keys: [{ ...eddsa.jwk, d: null }] }],
    ["51 keys", { keys: Array.from({ length: 51 }, (_, i) => ({ ...eddsa.jwk, kid: `key-${i}` })) }],
    ["keys that is no list", { keys: eddsa.jwk }],
    ["a list", [eddsa.jwk]],
    ["a key alone", eddsa.jwk],
    ["null", null],
    ["a text", '"keys"'],
    ["more than 64 KiB", { keys: [eddsa.jwk], more: "a".repeat(65_536) }],
  ])("%s makes the whole set invalid: 401", async (_name, keys) => {
    const { target } = await startWith(keys);
    await expectRefusal(target, jwtParts("lst_jwt", eddsa), 401, "KEY_SET_INVALID");
    await target.stop();
  });
});

describe("random kids", () => {
  /** Pipelines requests over one connection and counts the answers by status and code. */
  async function pipeline(target: Target, requests: readonly Buffer[]): Promise<Record<string, number>> {
    const { answers } = await converse(target.port, (socket) => socket.write(Buffer.concat(requests)), {
      hangAfterMs: 110_000,
    });
    const count: Record<string, number> = {};
    for (const { status, code } of answers)
      count[`${status} ${code}`] = (count[`${status} ${code}`] ?? 0) + 1;
    return count;
  }

  it("10,000 cost at most one fetch in 30 s, and a valid kid is still 200", async () => {
    const { target, keysClock } = await startWith({ keys: [eddsa.jwk] });
    const before = host.requests();
    const signature = base64url(new Uint8Array(64));
    const requests = Array.from({ length: 2_500 }, (_, i) => {
      const parts = jwtParts("lst_jwt", eddsa, { signWith: "x", signAs: "HS256" });
      const header = base64url(JSON.stringify({ alg: "EdDSA", kid: `${Math.random()}` }));
      const request = authorized(parts, `Bearer ${header}.e30.${signature}`);
      return requestBytes(
        i === 2_499 ? request : { ...request, headers: without(request.headers, "Connection") },
      );
    });
    const counts = await Promise.all([1, 2, 3, 4].map(() => pipeline(target, requests)));
    expect(counts).toEqual(new Array(4).fill({ "401 KEY_NOT_FOUND": 2_500 }));
    // The first fetch brought the set, the second one was for the first unknown kid.
    expect(host.requests() - before).toBeLessThanOrEqual(2);
    expect(target.runs()).toBe(0);
    await expectAccepted(target, jwtParts("lst_jwt", eddsa));

    keysClock.advance(30_000);
    const fetches = host.requests();
    for (let i = 0; i < 20; i++)
      await expectRefusal(
        target,
        jwtParts("lst_jwt", eddsa, { header: { kid: `late-${i}` } }),
        401,
        "KEY_NOT_FOUND",
      );
    expect(host.requests() - fetches).toBe(1);
    await target.stop();
  });

  it("while the host is down they cost one attempt in 10 s, and a held set serves on", async () => {
    const asked: unknown[] = [];
    const dead = await startKeyHost(
      certificate,
      serveKeys(() => ({ keys: [eddsa.jwk] })),
    );
    const keysClock = fixedClock(NOW * 1000);
    const transport = trusting(certificate, asked as []);
    const target = await startTarget([
      jwtListener("lst_jwt", remoteKeys(dead.url, { transport, clock: keysClock })),
    ]);
    await expectAccepted(target, jwtParts("lst_jwt", eddsa));
    await dead.stop();
    keysClock.advance(301_000);
    for (let i = 0; i < 10; i++)
      await expectRefusal(
        target,
        jwtParts("lst_jwt", eddsa, { header: { kid: `k${i}` } }),
        401,
        "KEY_NOT_FOUND",
      );
    expect(asked.length).toBe(2);
    await expectAccepted(target, jwtParts("lst_jwt", eddsa));
    keysClock.advance(10_000);
    await expectAccepted(target, jwtParts("lst_jwt", eddsa));
    expect(asked.length).toBe(3);
    keysClock.advance(10 * 60_000);
    await expectRefusal(target, jwtParts("lst_jwt", eddsa), 401, "KEY_SET_UNAVAILABLE");
    await target.stop();
  });
});

describe("a key that was taken out of the set", () => {
  it.each([
    ["max-age=60", 60_000],
    ["no-store", 60_000],
    ["max-age=0", 60_000],
    ["max-age=300", 300_000],
    ["public, max-age=99999999", 600_000],
    ["nonsense", 300_000],
  ])("with Cache-Control: %s it works for %i ms, and is 401 after that", async (cacheControl, ms) => {
    let keys = [eddsa.jwk, es256.jwk];
    const moved = await startKeyHost(
      certificate,
      serveKeys(() => ({ keys }), cacheControl),
    );
    const keysClock = fixedClock(NOW * 1000);
    const transport = trusting(certificate);
    const target = await startTarget([
      jwtListener("lst_jwt", remoteKeys(moved.url, { transport, clock: keysClock })),
    ]);
    await expectAccepted(target, jwtParts("lst_jwt", eddsa));
    keys = [es256.jwk];
    keysClock.advance(ms - 1);
    await expectAccepted(target, jwtParts("lst_jwt", eddsa));
    keysClock.advance(1);
    await expectRefusal(target, jwtParts("lst_jwt", eddsa), 401, "KEY_NOT_FOUND");
    await expectAccepted(target, jwtParts("lst_jwt", es256));
    expect(moved.requests()).toBe(2);
    await Promise.all([target.stop(), moved.stop()]);
  });

  it("a new key under the old kid is taken over once the set is fetched again", async () => {
    const successor = testKey("EdDSA");
    const { target, keysClock } = await startWith({ keys: [eddsa.jwk] });
    await expectAccepted(target, jwtParts("lst_jwt", eddsa));
    document = { keys: [successor.jwk] };
    keysClock.advance(300_000);
    await expectAccepted(target, jwtParts("lst_jwt", successor));
    const old = jwtParts("lst_jwt", eddsa);
    const token = compactToken(eddsa, claimsFor("lst_jwt", old));
    await expectRefusal(target, authorized(old, `Bearer ${token}`), 401, "TOKEN_SIGNATURE_MISMATCH");
    await target.stop();
  });
});
