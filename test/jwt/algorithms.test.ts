import { ALGORITHMS } from "hookproof";
import { describe, expect, it } from "vitest";
import { algorithmOf, isAlgorithm } from "../../src/jwt/algorithms.js";

describe("the table of algorithms", () => {
  it("has the three of the service", () => {
    expect(ALGORITHMS).toEqual(["RS256", "ES256", "EdDSA"]);
  });

  it.each([
    [{ kty: "RSA" }, "RS256"],
    [{ kty: "EC", crv: "P-256" }, "ES256"],
    [{ kty: "OKP", crv: "Ed25519" }, "EdDSA"],
    [{ kty: "EC", crv: "P-384" }, undefined],
    [{ kty: "EC" }, undefined],
    [{ kty: "OKP", crv: "X25519" }, undefined],
    [{ kty: "OKP", crv: "P-256" }, undefined],
    [{ kty: "oct" }, undefined],
    [{ crv: "P-256" }, undefined],
  ])("finds the algorithm of %j: %s", (jwk, alg) => {
    expect(algorithmOf(jwk)).toBe(alg);
  });

  it.each(["ES384", "es256", "ES256 ", "Ed25519", "HS256", "none", "", null, ["ES256"], 5])(
    "does not have %j",
    (name) => {
      expect(isAlgorithm(name)).toBe(false);
    },
  );
});
