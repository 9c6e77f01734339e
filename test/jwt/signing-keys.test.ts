import { type Algorithm, jwtSigner, type SigningKey } from "hookproof";
import { compactVerify } from "jose";
import { expect, it } from "vitest";
import { proofLine } from "../kit/proof-line.js";

const request = {
  url: "https://tenant.example.com/api/v1/webhooks/incoming/lst_1",
  timestamp: "1767225600",
  eventId: "0B0F2B3E-6F3C-4C1D-9A6E-2F6D8B7C1A10",
  body: Buffer.from("{}"),
};
const ALGORITHMS: Readonly<Record<Algorithm, object>> = {
  RS256: {
    name: "RSASSA-PKCS1-v1_5",
    hash: "SHA-256",
    modulusLength: 2048,
    publicExponent: new Uint8Array([1, 0, 1]),
  },
  ES256: { name: "ECDSA", namedCurve: "P-256" },
  EdDSA: { name: "Ed25519" },
};
const cases = (Object.keys(ALGORITHMS) as Algorithm[]).flatMap((alg) => [
  [alg, "that can be read", true] as const,
  [alg, "that WebCrypto keeps", false] as const,
]);

it.each(cases)(
  "%s with a key %s makes a token of one form, which jose verifies",
  async (alg, _, extractable) => {
    const { subtle } = globalThis.crypto;
    const usages = ["sign", "verify"] as const;
    const pair = (await subtle.generateKey(ALGORITHMS[alg] as EcKeyGenParams, extractable, [
      ...usages,
    ])) as CryptoKeyPair;
    const signer = jwtSigner({ key: pair.privateKey as SigningKey["key"], kid: 'a "kid"', alg });
    const [name, value] = await proofLine(signer, request);
    expect(name).toBe("Authorization");
    const token = value.replace(/^Bearer /, "");
    const [header = "", claims = ""] = token
      .split(".")
      .map((part) => Buffer.from(part, "base64url").toString());
    expect(header).toBe(`{"alg":"${alg}","kid":"a \\"kid\\"","typ":"JWT"}`);
    expect(claims).toBe(
      '{"sub":"https://tenant.example.com","aud":"https://tenant.example.com/api/v1/webhooks/incoming/lst_1",' +
        '"exp":1767225900,"jti":"0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10","htm":"POST",' +
        '"htb_s256":"RBNvo1WzZ4oRRq0W9-hknpT7T8If536DEMBg9hyq_4o"}',
    );
    expect(token).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
    const { protectedHeader } = await compactVerify(token, pair.publicKey);
    expect(protectedHeader).toEqual({ alg, kid: 'a "kid"', typ: "JWT" });
  },
);
