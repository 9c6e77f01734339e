import { describe, expect, it } from "vitest";
import * as native from "../../src/core/node/signature.js";
import * as portable from "../../src/core/signature-portable.js";

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

const PARAMETERS = [
  { name: "Ed25519" },
  { name: "ECDSA", hash: "SHA-256", namedCurve: "P-256" },
  {
    name: "RSASSA-PKCS1-v1_5",
    hash: "SHA-256",
    modulusLength: 2048,
    publicExponent: Uint8Array.of(1, 0, 1),
  },
];

const generate = (parameters: (typeof PARAMETERS)[number], extractable = true) =>
  crypto.subtle.generateKey(parameters, extractable, ["sign", "verify"]) as Promise<CryptoKeyPair>;

const pairs = await Promise.all(PARAMETERS.map((one) => generate(one))); // RSA takes half a second

const BOTH = [native, portable];
const message = hex("af82");

describe("a signature by a key of WebCrypto", () => {
  it.each([0, 1, 2])("each variant verifies what the other has signed (%i)", async (index) => {
    const [parameters, pair] = [PARAMETERS[index], pairs[index]];
    if (!parameters || !pair) return expect.unreachable();
    const { privateKey, publicKey } = pair;
    for (const { signatureBy } of BOTH) {
      const right = new Uint8Array(await signatureBy(privateKey, parameters, message));
      const wrong = [right.with(9, (right[9] ?? 0) ^ 1), right.subarray(1), hex(""), new Uint8Array(65)];
      for (const { isSignatureBy } of BOTH) {
        expect(await isSignatureBy(publicKey, parameters, right, message)).toBe(true);
        expect(await isSignatureBy(publicKey, parameters, right, hex("af83"))).toBe(false);
        for (const one of wrong) expect(await isSignatureBy(publicKey, parameters, one, message)).toBe(false);
      }
    }
  });

  it("is made and checked at once by Node, but not made with RSA, which takes long", async () => {
    for (const [index, { privateKey, publicKey }] of pairs.entries()) {
      const parameters = PARAMETERS[index] as (typeof PARAMETERS)[0];
      const signature = native.signatureBy(privateKey, parameters, message);
      const found = native.isSignatureBy(publicKey, parameters, new Uint8Array(await signature), message);
      const isRsa = parameters.name.startsWith("RSA");
      expect([signature instanceof Promise, found instanceof Promise]).toEqual([isRsa, false]);
    }
  });

  it("comes by WebCrypto from a key that must not be taken out of it", async () => {
    for (const parameters of PARAMETERS.slice(0, 2)) {
      const { privateKey, publicKey } = await generate(parameters, false);
      const signature = native.signatureBy(privateKey, parameters, message);
      expect(signature).toBeInstanceOf(Promise); // Node 27 refuses to take it out, Node 26 warns
      expect(
        await native.isSignatureBy(publicKey, parameters, new Uint8Array(await signature), message),
      ).toBe(true);
    }
  });

  it("is refused with a key of another kind or for another use, in each variant", async () => {
    const [edwards, curve] = pairs;
    const [ed25519, ecdsa] = PARAMETERS as [(typeof PARAMETERS)[0], (typeof PARAMETERS)[0]];
    if (!edwards || !curve) return expect.unreachable();
    const signature = new Uint8Array(64);
    const signing = (await crypto.subtle.importKey(
      "pkcs8",
      await crypto.subtle.exportKey("pkcs8", edwards.privateKey),
      "Ed25519",
      true,
      ["sign"],
    )) as CryptoKey;
    for (const { signatureBy, isSignatureBy } of BOTH) {
      const wrong = [
        async () => signatureBy(edwards.publicKey, ed25519, message),
        async () => signatureBy(curve.privateKey, ed25519, message),
        async () => isSignatureBy(signing, ed25519, signature, message),
        async () => isSignatureBy(edwards.publicKey, ecdsa, signature, message),
        async () => isSignatureBy(curve.publicKey, ed25519, signature, message),
      ];
      for (const one of wrong) await expect(one()).rejects.toThrow();
    }
  });
});
