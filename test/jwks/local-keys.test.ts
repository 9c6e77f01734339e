import { generateKey, type Jwks, type KeyRules, localKeys } from "hookproof/jwks";
import type { JWK } from "jose";
import { beforeAll, describe, expect, it } from "vitest";
import { jwkOf, made } from "../jwt/private-keys.js";

let good: JWK;

beforeAll(async () => {
  good = (await generateKey({ alg: "ES256", kid: "k" })).publicJwk;
});

async function find(
  keys: unknown[],
  alg: "RS256" | "ES256" | "EdDSA" | "Ed25519" = "ES256",
  rules: KeyRules = {},
) {
  const resolved = await localKeys({ keys } as Jwks, rules).resolve("k", alg);
  return resolved.ok ? "found" : resolved.code;
}

const without = (jwk: JWK, ...names: string[]) =>
  Object.fromEntries(Object.entries(jwk).filter(([name]) => !names.includes(name)));

describe("localKeys", () => {
  it("finds a key by its kid and alg", async () => {
    expect(await find([good])).toBe("found");
    expect(await find([{ ...good, kid: "other" }, good, "not a key", null, []])).toBe("found");
    expect(await localKeys({ keys: [good] } as unknown as Jwks).resolve("k", "RS256")).toMatchObject({
      code: "KEY_NOT_FOUND",
      detail: 'kid "k" has alg "ES256", and not RS256',
    });
    expect(await find([{ ...good, kid: "K" }])).toBe("KEY_NOT_FOUND");
    expect(await find([])).toBe("KEY_NOT_FOUND");
  });

  it("a kid that stands twice is used where use or alg leaves one key", async () => {
    expect(await find([good, good])).toBe("KEY_NOT_FOUND");
    expect(await find([good, without(good, "alg")], "ES256", { lenient: true })).toBe("KEY_NOT_FOUND");
    for (const other of [{ use: "enc" }, { alg: "ES384" }, { alg: "RS256", kty: "RSA" }]) {
      expect(await find([good, { ...good, ...other }])).toBe("found");
      expect(await find([{ ...good, ...other }, good])).toBe("found");
    }
  });

  it("demands use and alg, unless it is told to be lenient", async () => {
    for (const jwk of [without(good, "use"), without(good, "alg"), without(good, "use", "alg")]) {
      expect(await find([jwk])).toBe("KEY_NOT_FOUND");
      expect(await find([jwk], "ES256", { lenient: true })).toBe("found");
    }
    for (const jwk of [
      { ...good, use: "enc" },
      { ...good, alg: "ES384" },
      { ...good, key_ops: ["sign"] },
      { ...good, key_ops: "verify" },
    ])
      expect(await find([jwk], "ES256", { lenient: true })).toBe("KEY_NOT_FOUND");
    expect(await find([{ ...good, key_ops: ["verify"] }])).toBe("found");
  });

  it("gives an Ed25519 key under both names of its algorithm", async () => {
    const ed = (await generateKey({ alg: "EdDSA", kid: "k" })).publicJwk;
    expect(await find([ed], "EdDSA")).toBe("found");
    expect(await find([ed], "Ed25519")).toBe("found");
    expect(await find([{ ...ed, alg: "Ed25519" }], "Ed25519")).toBe("found");
    expect(await find([{ ...ed, alg: "Ed25519" }], "EdDSA")).toBe("KEY_NOT_FOUND");
  });

  it.each<[what: string, alg: "RS256" | "ES256" | "EdDSA", jwk: () => JWK]>([
    ["RSA of 1024 bit", "RS256", () => jwkOf(made.rsa1024().publicKey)],
    ["RSA with the exponent 3", "RS256", () => jwkOf(made.rsaExponent3().publicKey)],
    ["RSA with the exponent 1", "RS256", () => ({ ...jwkOf(made.rsa2048().publicKey), e: "AQ" })],
    ["a point off the curve", "ES256", () => ({ ...good, y: good.x }) as JWK],
    ["P-384", "ES256", () => jwkOf(made.p384().publicKey)],
    ["X25519", "EdDSA", () => jwkOf(made.x25519().publicKey)],
    ["Ed448", "EdDSA", () => jwkOf(made.ed448().publicKey)],
    ["members of other types", "ES256", () => ({ ...good, x: 7 }) as unknown as JWK],
  ])("does not qualify: %s", async (_, alg, jwk) => {
    expect(await find([{ ...jwk(), kid: "k", use: "sig", alg }], alg)).toBe("KEY_NOT_FOUND");
  });

  it.each(["d", "p", "q", "dp", "dq", "qi", "oth", "k"])(
    "one member %s makes the whole set invalid",
    (name) => {
      const invalid = expect.objectContaining({ code: "KEY_SET_INVALID" });
      expect(() => localKeys({ keys: [good, { kty: "oct", kid: "x", [name]: "hunter2" }] })).toThrow(invalid);
      expect(() => localKeys({ keys: [{ kty: "EC", [name]: "hunter2" }] })).toThrow(/^(?!.*hunter2)/);
    },
  );

  it.each([
    undefined,
    null,
    [],
    {},
    { keys: {} },
    "keys",
    { keys: Array.from({ length: 51 }, () => ({ kty: "EC" })) },
  ])("is no key set: %j", (document) => {
    expect(() => localKeys(document as Jwks)).toThrow(expect.objectContaining({ code: "KEY_SET_INVALID" }));
  });

  it("takes 50 keys", async () => {
    const others = Array.from({ length: 49 }, (_, index) => ({ ...good, kid: `k${index}` }));
    expect(await find([...others, good])).toBe("found");
  });
});
