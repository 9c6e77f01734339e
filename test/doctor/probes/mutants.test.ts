import { generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { HMAC_MUTANTS } from "../../kit/probes/hmac-mutants.js";
import { JWT_MUTANTS } from "../../kit/probes/jwt-mutants.js";
import { idsOf, resultsOf, SECRET } from "../../kit/probes/listeners.js";
import {
  type Checks,
  CORRECT,
  correctHmac,
  PATH,
  startReference,
} from "../../kit/probes/reference-listener.js";
import {
  CORRECT_TOKENS,
  type OwnKey,
  type TokenChecks,
  tokenAuthentication,
} from "../../kit/probes/reference-tokens.js";

const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const own: OwnKey = { kid: "reference", publicKey };

describe("deliberately broken listeners", () => {
  it("HMAC: the one that is right fails nothing", async () => {
    expect(await probeHmac({})).toEqual({ fail: [], unclear: [] });
  });

  it.each(HMAC_MUTANTS)("HMAC: one that $name", async ({ flaw, fails, unclear = [] }) => {
    expect(await probeHmac(flaw)).toEqual({ fail: fails, unclear });
  });

  it("JWT: the one that is right fails nothing", async () => {
    expect(await probeJwt({})).toEqual({ fail: [], unclear: [] });
  });

  it.each(JWT_MUTANTS)("JWT: one that $name", async ({ flaw, fails, unclear = [] }) => {
    expect(await probeJwt(flaw)).toEqual({ fail: fails, unclear });
  });

  it("are at least twenty, and each is caught", () => {
    const mutants = [...HMAC_MUTANTS, ...JWT_MUTANTS];
    expect(mutants.filter(({ fails }) => fails.length > 0).length).toBeGreaterThanOrEqual(20);
    expect(mutants.filter(({ fails, unclear = [] }) => fails.length + unclear.length === 0)).toEqual([]);
  });
});

async function probeHmac(flaw: Partial<Checks>) {
  const listener = await startReference({ ...CORRECT, authenticates: correctHmac(SECRET), ...flaw });
  return probe(listener, { method: "hmac", secret: SECRET });
}

async function probeJwt(flaw: Partial<TokenChecks>) {
  let baseUrl = "";
  const authenticates = tokenAuthentication(own, () => baseUrl, { ...CORRECT_TOKENS, ...flaw });
  const listener = await startReference({ ...CORRECT, authenticates });
  baseUrl = listener.baseUrl;
  const key = { ...privateKey.export({ format: "jwk" }), kty: "EC" };
  return probe(listener, { method: "jwt", key, kid: own.kid, alg: "ES256" });
}

async function probe(
  listener: Awaited<ReturnType<typeof startReference>>,
  auth: Parameters<typeof resultsOf>[0]["auth"],
) {
  try {
    const results = await resultsOf({ url: listener.baseUrl + PATH, auth }, { allowTrigger: true });
    return { fail: idsOf(results, "fail"), unclear: idsOf(results, "unclear") };
  } finally {
    await listener.stop();
  }
}
