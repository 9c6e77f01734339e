import { inspect } from "node:util";
import { generateKey, importKey } from "hookproof/jwks";
import { fixedClock } from "hookproof/testing";
import { calculateJwkThumbprint } from "jose";
import { describe, expect, it } from "vitest";
import { jwkOf, made } from "../jwt/private-keys.js";

const PRIVATE = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];

describe.each(["RS256", "ES256", "EdDSA"] as const)("generateKey, %s", (alg) => {
  it("gives a record whose public half has everything a key set needs and nothing private", async () => {
    const key = await generateKey({ alg, clock: fixedClock("2026-01-01T12:00:00Z") });
    expect(key).toMatchObject({ alg, state: "active", createdAt: Date.UTC(2026, 0, 1, 12) });
    expect(key.publicJwk).toMatchObject({ use: "sig", alg, kid: key.kid });
    expect(Object.keys(key.publicJwk).filter((name) => PRIVATE.includes(name))).toEqual([]);
    expect(key.privateJwk).toMatchObject({ ...key.publicJwk, d: expect.any(String) });
    expect(key.kid).toBe(`2026-01-01-${(await calculateJwkThumbprint(key.publicJwk)).slice(0, 8)}`);
    expect(inspect(key, { depth: 9 })).not.toContain(key.privateJwk.d);
  });

  it("takes a kid and a state of your own", async () => {
    const key = await generateKey({ alg, kid: "my-key", state: "next" });
    expect(key).toMatchObject({ kid: "my-key", state: "next", publicJwk: { kid: "my-key" } });
  });
});

it("an RSA key has 2048 bit and the exponent 65537", async () => {
  const { publicJwk } = await generateKey({ alg: "RS256" });
  expect(publicJwk.e).toBe("AQAB");
  const modulus = Buffer.from(publicJwk.n ?? "", "base64url");
  expect(modulus).toHaveLength(256);
  expect(modulus[0]).toBeGreaterThanOrEqual(128);
});

it.each(["", "k".repeat(257)])("the kid %j is refused", async (kid) => {
  await expect(generateKey({ alg: "EdDSA", kid })).rejects.toThrow(/kid/);
});

it("a kid of 256 characters is the longest", async () => {
  const kid = "k".repeat(256);
  expect((await generateKey({ alg: "EdDSA", kid })).publicJwk.kid).toBe(kid);
});

describe.each(["RS256", "ES256", "EdDSA"] as const)("importKey, %s", (alg) => {
  it("refuses a private key with the public members of another key", async () => {
    const [{ privateJwk }, other] = [await generateKey({ alg }), await generateKey({ alg })];
    const { use: _, kid: __, ...publicMembers } = other.publicJwk;
    await expect(importKey({ ...privateJwk, ...publicMembers }, { alg })).rejects.toThrow(
      // Node's own import looks at the curves; RSA keys it takes as they are.
      alg === "RS256"
        ? "The key for RS256 has a private half that does not belong to its public one."
        : `The key for ${alg} cannot be imported`,
    );
  });
});

it("importKey takes a key made elsewhere under the names it is given, not under its own", async () => {
  const jwk = { ...jwkOf(made.p256().privateKey), kid: "old", x5c: ["MII"], ext: true };
  const { publicJwk } = await importKey(jwk, { alg: "ES256", kid: "new" });
  const { kty, crv, x, y } = jwk;
  expect(publicJwk).toEqual({ kty, crv, x, y, use: "sig", kid: "new", alg: "ES256" });
  // What it is for is no name: a key store refuses it too.
  await expect(importKey({ ...jwk, use: "enc" }, { alg: "ES256" })).rejects.toMatchObject({
    code: "KEY_UNFIT",
  });
});
