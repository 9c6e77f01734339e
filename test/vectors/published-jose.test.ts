import { importKey, type Jwks, localKeys } from "hookproof/jwks";
import { fixedClock } from "hookproof/testing";
import { calculateJwkThumbprint, type JWK } from "jose";
import { describe, expect, it } from "vitest";
import { type Algorithm, isAlgorithm } from "../../src/jwt/algorithms.js";
import { checkToken } from "../../src/schemes/access-governance/verify.js";
import { type ProtocolVectors, readVectors } from "./vector-file.js";

interface RfcJose {
  jws: { id: string; alg: string; jwk?: JWK; jws: string; expect: "valid" | "invalid" }[];
  thumbprints: { id: string; jwk: JWK; thumbprint: string }[];
}

interface WycheproofJws {
  numberOfTests: number;
  testGroups: {
    comment: string;
    public?: JWK;
    private: JWK;
    tests: { tcId: number; comment: string; jws: string; result: "valid" | "invalid" }[];
  }[];
}

const rfc = readVectors<RfcJose>("rfc_jose.json");
const wycheproof = readVectors<WycheproofJws>("wycheproof/json_web_signature_test.json");

/** How far a token gets: the code it is refused with, or `verified` when its signature was accepted. */
async function judge(token: string, jwks: Jwks, lenient = false): Promise<string> {
  const expected = { baseUrl: "", url: "", eventId: "", body: new Uint8Array(), nowSeconds: 0 };
  const rules = { ...expected, keys: localKeys(jwks, { lenient }), allowEd25519: false };
  for (const check of await checkToken(`Bearer ${token}`, rules)) {
    if (check.step === "token-signature" && check.ok) return "verified";
    if (check.code) return check.code;
  }
  return "nothing was decided";
}

function publicHalf({ kty, n, e, crv, x, y }: JWK): JWK {
  return JSON.parse(JSON.stringify({ kty, n, e, crv, x, y })) as JWK;
}

describe("RFC 7515 and RFC 8037", () => {
  it.each(rfc.jws)(
    "$id: no kid, or another algorithm, is refused before any key is looked at",
    async (one) => {
      const jwk =
        one.jwk && one.jwk.kty !== "oct" ? [{ ...publicHalf(one.jwk), alg: one.alg, use: "sig" }] : [];
      const expected = isAlgorithm(one.alg) ? "TOKEN_KEY_ID_INVALID" : "TOKEN_ALGORITHM_REFUSED";
      expect(await judge(one.jws, { keys: jwk as JWK[] })).toBe(expected);
    },
  );

  const signable = rfc.jws.filter(({ alg, jwk }) => isAlgorithm(alg) && jwk);
  it.each(signable)(
    "$id: the key fits and its record publishes only the public half",
    async ({ alg, jwk }) => {
      const record = await importKey(jwk as JWK, { alg: alg as Algorithm, kid: "rfc" });
      expect(record.publicJwk).toEqual({ ...publicHalf(jwk as JWK), alg, use: "sig", kid: "rfc" });
    },
  );
});

describe("thumbprints", () => {
  const own = readVectors<ProtocolVectors>("protocol.json").keys.map(({ jwk, thumbprint }) => ({
    id: jwk.kid,
    jwk: jwk as JWK,
    thumbprint,
  }));

  it.each([...rfc.thumbprints, ...own])("$id", async ({ jwk, thumbprint }) => {
    expect(await calculateJwkThumbprint(jwk)).toBe(thumbprint);
  });

  it("a default kid is the date and the first eight characters of the thumbprint (RFC 8037 A.3)", async () => {
    const jwk = rfc.jws.find(({ id }) => id.startsWith("RFC8037"))?.jwk as JWK;
    const record = await importKey(jwk, { alg: "EdDSA", clock: fixedClock("2026-01-01T23:59:59Z") });
    expect(record.kid).toBe("2026-01-01-kPrK_qmx");
  });
});

/** Valid by the letter of RFC 7515 and refused here: a character outside the alphabet was put into a segment. */
const NOT_CANONICAL = new Map([
  [372, "InvalidCharacterInsertedInHeader"],
  [373, "InvalidCharacterInsertedInPayload"],
]);

function algOf(token: string): unknown {
  try {
    return JSON.parse(Buffer.from(token.split(".")[0] ?? "", "base64url").toString()).alg;
  } catch {
    return undefined;
  }
}

describe("Wycheproof JWS", () => {
  it("has the cases it is supposed to have", () => {
    const counted = wycheproof.testGroups.reduce((sum, { tests }) => sum + tests.length, 0);
    expect(counted).toBe(wycheproof.numberOfTests);
  });

  const groups = wycheproof.testGroups.map((group, index) => ({ ...group, index }));
  it.each(groups)("group $index, $comment", async ({ public: key, tests }) => {
    for (const { tcId, comment, jws, result } of tests) {
      const verdict = await judge(jws, { keys: key ? [key] : [] }, true);
      const title = `case ${tcId}, ${comment}`;
      if (result === "invalid") expect(verdict, title).toMatch(/^(?:TOKEN|KEY)_[A-Z_]+$/);
      else if (NOT_CANONICAL.has(tcId))
        expect([comment, verdict]).toEqual([NOT_CANONICAL.get(tcId), "TOKEN_MALFORMED"]);
      else expect(verdict, title).toBe(isAlgorithm(algOf(jws)) ? "verified" : "TOKEN_ALGORITHM_REFUSED");
    }
  });
});
