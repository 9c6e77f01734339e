import { generateKeyPairSync } from "node:crypto";
import { type Algorithm, jwtSigner, type SigningKey } from "hookproof";
import { describe, expect, it } from "vitest";
import { proofLine } from "../kit/proof-line.js";

const url = "https://tenant.example.com/api/v1/webhooks/incoming/lst_1";
const request = {
  url,
  timestamp: "1767225600",
  eventId: "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10",
  body: Buffer.from("{}"),
};
const { subtle } = globalThis.crypto;
const rsa = { modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) };

async function privateKey(
  algorithm: object,
  usages: readonly KeyUsage[] = ["sign"],
): Promise<SigningKey["key"]> {
  const pair = (await subtle.generateKey(algorithm as EcKeyGenParams, true, [...usages])) as CryptoKeyPair;
  return pair.privateKey as SigningKey["key"];
}

type KeyUsage = "sign" | "deriveBits";

const sign = async (key: SigningKey["key"], alg: Algorithm) =>
  jwtSigner({ key, kid: "k", alg }).sign(request);

describe("a CryptoKey that is not of its algorithm's kind", () => {
  it.each<[Algorithm, string, object, KeyUsage, RegExp]>([
    ["ES256", "Ed25519", { name: "Ed25519" }, "sign", /is Ed25519 , not ECDSA on P-256/],
    ["ES256", "P-384", { name: "ECDSA", namedCurve: "P-384" }, "sign", /is ECDSA P-384, not ECDSA on P-256/],
    [
      "ES256",
      "ECDH on P-256",
      { name: "ECDH", namedCurve: "P-256" },
      "deriveBits",
      /is ECDH P-256, not ECDSA/,
    ],
    ["EdDSA", "ECDSA", { name: "ECDSA", namedCurve: "P-256" }, "sign", /is of the kind ECDSA, not Ed25519/],
    ["RS256", "ECDSA", { name: "ECDSA", namedCurve: "P-256" }, "sign", /is ECDSA , not RSASSA-PKCS1-v1_5/],
    [
      "RS256",
      "SHA-512",
      { name: "RSASSA-PKCS1-v1_5", hash: "SHA-512", ...rsa },
      "sign",
      /is RSASSA-PKCS1-v1_5 SHA-512, not RSASSA-PKCS1-v1_5 with SHA-256/,
    ],
  ])("%s: %s is refused by name", async (alg, _kind, algorithm, usage, words) => {
    const refused = expect(sign(await privateKey(algorithm, [usage]), alg)).rejects;
    await refused.toMatchObject({ code: "KEY_UNFIT", message: expect.stringMatching(words) });
  });

  it("null is a TypeError that names the argument", async () => {
    await expect(sign(null as unknown as SigningKey["key"], "ES256")).rejects.toThrow(/^key must be/);
  });
});

describe("the key that a function gives", () => {
  const pem = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
  const key = pem.export({ type: "pkcs8", format: "pem" }).toString();

  it("may have a kid of 256 characters, and not of 257", async () => {
    const long = (length: number) => ({ key, kid: "k".repeat(length), alg: "ES256" }) as const;
    expect(await proofLine(jwtSigner(long(256)), request)).toHaveLength(2);
    expect(() => jwtSigner(long(257))).toThrow(/^kid must be/);
  });

  it("is judged again when the same key comes with another algorithm", async () => {
    let alg: Algorithm = "ES256";
    const signer = jwtSigner(() => ({ key, kid: "k", alg }));
    expect(await proofLine(signer, request)).toHaveLength(2);
    alg = "EdDSA";
    await expect(signer.sign(request)).rejects.toMatchObject({ code: "KEY_UNFIT" });
  });

  it("that fails is SIGNER_FAILED, with what it threw as the cause", async () => {
    const outage = new Error("the vault is sealed");
    const signer = jwtSigner(() => Promise.reject(outage));
    await expect(signer.sign(request)).rejects.toMatchObject({ code: "SIGNER_FAILED", cause: outage });
  });
});
