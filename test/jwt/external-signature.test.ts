import { describe, expect, it } from "vitest";
import type { Algorithm } from "../../src/jwt/algorithms.js";
import { externalSignature } from "../../src/jwt/sign-token.js";

const given = (alg: Algorithm, ...answer: number[]) =>
  externalSignature(async () => Uint8Array.from(answer), new Uint8Array(), alg);
const bytes = (length: number) => Array.from({ length }, (_, index) => index + 1);

/** The smallest ECDSA signature of DER: r = 1, s = 2 (X.690 section 8.3). */
const DER = [0x30, 6, 0x02, 1, 1, 0x02, 1, 2];

describe("an external signature", () => {
  it.each<[Algorithm, number]>([
    ["ES256", 64],
    ["EdDSA", 64],
    ["RS256", 256],
    ["RS256", 512],
  ])("of %s with %i bytes is taken as it is", async (alg, length) => {
    expect([...(await given(alg, ...bytes(length)))]).toEqual([...Uint8Array.from(bytes(length))]);
  });

  it("of ES256 in DER becomes r and s", async () => {
    const [r, s] = [new Array(32).fill(0).with(31, 1), new Array(32).fill(0).with(31, 2)];
    expect([...(await given("ES256", ...DER))]).toEqual([...r, ...s]);
  });

  it.each<[what: string, alg: Algorithm, answer: number[]]>([
    ["DER for EdDSA", "EdDSA", DER],
    ["255 bytes for RSA", "RS256", bytes(255)],
    ["r with another tag", "ES256", DER.with(2, 0x03)],
    ["s with another tag", "ES256", DER.with(5, 0x03)],
    ["an r without bytes", "ES256", [0x30, 5, 0x02, 0, 0x02, 1, 2]],
    ["an s that is longer than what is there", "ES256", DER.with(6, 5)],
    ["a byte behind s, counted", "ES256", [0x30, 7, ...DER.slice(2), 0]],
  ])("is refused: %s", async (_, alg, answer) => {
    await expect(given(alg, ...answer)).rejects.toThrow(expect.objectContaining({ code: "SIGNER_FAILED" }));
  });
});
