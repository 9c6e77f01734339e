import { readFileSync } from "node:fs";
import { importKey, localKeys } from "hookproof/jwks";
import { compactVerify, importJWK, type JWK } from "jose";
import { expect, it } from "vitest";
import { isAlgorithm } from "../../src/jwt/algorithms.js";
import { checkToken } from "../../src/schemes/access-governance/verify.js";

interface Group {
  comment: string;
  public?: JWK;
  private: JWK;
  tests: { tcId: number; comment: string; jws: string; result: "valid" | "invalid" }[];
}

const file = new URL("../vectors/data/wycheproof/json_web_signature_test.json", import.meta.url);
const { testGroups } = JSON.parse(readFileSync(file, "utf8")) as { testGroups: Group[] };

/** The cases that jose accepts and our rules refuse, one by one, by the rule that refuses them. */
const REFUSED_BY_US: Record<string, number[]> = {
  // The service knows RS256, ES256 and EdDSA (specification 5.2): no HMAC, no PSS, no other hash.
  "HS256 is not one of the three algorithms": [1, 348, 352, 357, 358, 359, 376, 377],
  "RS384 and RS512 are not": [264, 265, 266, 267, 268, 269, 270, 271],
  "PS256, PS384 and PS512 are not": [272, 273, 274, 275, 287, 288, 320, 321, 322, 323, 325, 326, 327, 328],
  // Wycheproof calls the following invalid as well.
  "the key's use is enc": [353, 354],
  "a segment is not canonical base64url: spaces, padding, unused bits": [360, 365, 367, 368, 370, 375],
};

async function joseAccepts(jws: string, jwk: JWK): Promise<boolean> {
  try {
    const { alg } = JSON.parse(Buffer.from(jws.split(".")[0] ?? "", "base64url").toString()) as {
      alg: string;
    };
    await compactVerify(jws, await importJWK(jwk, jwk.alg ?? alg));
    return true;
  } catch {
    return false;
  }
}

async function weAccept(jws: string, jwk: JWK): Promise<boolean> {
  const claims = { baseUrl: "", url: "", eventId: "", body: new Uint8Array(), nowSeconds: 0 };
  try {
    const rules = { ...claims, keys: localKeys({ keys: [jwk] }, { lenient: true }), allowEd25519: false };
    for (const check of await checkToken(`Bearer ${jws}`, rules))
      if (check.step === "token-signature") return check.ok;
  } catch {
    // A symmetric key: the whole set is refused.
  }
  return false;
}

it("nothing is accepted that jose refuses, and what only we refuse is known one by one", async () => {
  const onlyJose: number[] = [];
  for (const group of testGroups) {
    for (const { tcId, jws, result } of group.tests) {
      const jwk = group.public ?? group.private;
      const [jose, ours] = [await joseAccepts(jws, jwk), await weAccept(jws, jwk)];
      if (ours) expect([tcId, jose, result]).toEqual([tcId, true, "valid"]);
      if (jose && !ours) onlyJose.push(tcId);
    }
  }
  expect(onlyJose.sort((a, b) => a - b)).toEqual(
    Object.values(REFUSED_BY_US)
      .flat()
      .sort((a, b) => a - b),
  );
});

it("a private key is taken into a key set if its kind is one of the three, and refused by name otherwise", async () => {
  for (const { comment, private: jwk } of testGroups) {
    const { alg, kty, crv } = jwk;
    const kind = kty === "RSA" ? "RS256" : crv === "P-256" ? "ES256" : undefined;
    const wanted = isAlgorithm(alg) ? alg : kind;
    const taken = importKey(jwk, { alg: wanted ?? "ES256", kid: "w" }).then(
      () => true,
      (error: { code?: string }) => error.code,
    );
    // One group's key_ops is the single text "sign, verify", which names no use.
    const maySign =
      (jwk.use ?? "sig") === "sig" && (jwk.key_ops === undefined || jwk.key_ops.includes("sign"));
    const fits = maySign && kind !== undefined && (alg === undefined || isAlgorithm(alg));
    expect([comment, alg, await taken]).toEqual([comment, alg, fits ? true : "KEY_UNFIT"]);
  }
});
