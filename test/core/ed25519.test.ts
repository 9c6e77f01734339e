import { describe, expect, it } from "vitest";
import * as native from "../../src/core/ed25519-node.js";
import * as portable from "../../src/core/ed25519-portable.js";

const hex = (text: string) => new Uint8Array(Buffer.from(text, "hex"));

/** RFC 8032, section 7.1: test 2 and test 3. */
const VECTORS = [
  {
    seed: "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
    publicKey: "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
    message: "72",
    signature:
      "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
  },
  {
    seed: "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
    publicKey: "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
    message: "af82",
    signature:
      "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
  },
];

describe.each(Object.entries({ native, portable }))(
  "Ed25519, %s",
  (_, { ed25519Signer, ed25519Verifier }) => {
    it.each(VECTORS)(
      "signs and verifies as RFC 8032 has it",
      async ({ seed, publicKey, message, signature }) => {
        const [whole, right] = [hex(message), hex(signature)];
        const sign = ed25519Signer(hex(seed));
        const verify = ed25519Verifier(hex(publicKey));
        for (const parts of [[whole], [whole.subarray(0, 1), whole.subarray(1)]]) {
          expect(Buffer.from(await sign(...parts)).toString("hex")).toBe(signature);
          expect(await verify(right, ...parts)).toBe(true);
        }
        expect(await verify(right, whole, whole)).toBe(false);
        expect(await verify(right.with(0, (right[0] ?? 0) ^ 1), whole)).toBe(false);
      },
    );

    it("refuses every signature by a key that is no point, without an error", async () => {
      const verify = ed25519Verifier(new Uint8Array(32).fill(2));
      expect(await verify(new Uint8Array(64), hex("72"))).toBe(false);
    });
  },
);
