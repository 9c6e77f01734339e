import { jwtSigner, newEventId } from "hookproof";
import { generateKey, importKey } from "hookproof/jwks";
import type { JWK } from "jose";
import { describe, expect, it } from "vitest";
import type { Algorithm } from "../../src/jwt/algorithms.js";
import { importPrivateKey, importPublicKey, type PrivateKeyInput } from "../../src/jwt/key.js";
import { encryptedPemOf, jwkOf, made, pemOf } from "./private-keys.js";

const unfit = expect.objectContaining({ name: "HookproofError", code: "KEY_UNFIT" });
const url = "https://tenant.example.com/api/v1/webhooks/incoming/lst_1";
const request = { url, timestamp: "1767225600", eventId: newEventId(), body: new Uint8Array([123, 125]) };

const GOOD: [alg: Algorithm, kind: keyof typeof made][] = [
  ["RS256", "rsa2048"],
  ["ES256", "p256"],
  ["EdDSA", "ed25519"],
];

/** Pairs of an algorithm and a kind of key that must not go together. */
const WRONG: [alg: Algorithm, kind: keyof typeof made][] = [
  ["RS256", "rsa1024"],
  ["RS256", "rsaExponent3"],
  ["RS256", "p256"],
  ["RS256", "ed25519"],
  ["ES256", "p384"],
  ["ES256", "secp256k1"],
  ["ES256", "rsa2048"],
  ["ES256", "ed25519"],
  ["EdDSA", "ed448"],
  ["EdDSA", "x25519"],
  ["EdDSA", "p256"],
  ["EdDSA", "rsa2048"],
];

describe("a private key that fits", () => {
  it.each(GOOD)("%s: as JWK, as PEM, as CryptoKey", async (alg, kind) => {
    const { privateKey } = made[kind]();
    const imported = await importPrivateKey(pemOf(privateKey), alg);
    expect((await importPrivateKey(jwkOf(privateKey), alg)).type).toBe("private");
    expect(await importPrivateKey(imported, alg)).toBe(imported);
    expect((await importPrivateKey({ ...jwkOf(privateKey), alg }, alg)).type).toBe("private");
  });
});

describe("a private key that came readable", () => {
  it("stays so, unless it says otherwise: Node signs at once only with such a key", async () => {
    const { privateKey } = made.ed25519();
    const isReadable = async (key: PrivateKeyInput) => (await importPrivateKey(key, "EdDSA")).extractable;
    expect(await isReadable(pemOf(privateKey))).toBe(true);
    expect(await isReadable(jwkOf(privateKey))).toBe(true);
    expect(await isReadable({ ...jwkOf(privateKey), ext: false })).toBe(false);
  });
});

describe("KEY_UNFIT", () => {
  it.each(WRONG)("%s with %s: as JWK, as PEM, in a signer and in a key record", async (alg, kind) => {
    const { privateKey } = made[kind]();
    const jwk = jwkOf(privateKey);
    await expect(importPrivateKey(jwk, alg)).rejects.toThrow(unfit);
    await expect(importPrivateKey(pemOf(privateKey), alg)).rejects.toThrow(unfit);
    await expect(jwtSigner({ key: jwk, kid: "k", alg }).sign(request)).rejects.toThrow(unfit);
    await expect(importKey(jwk, { alg })).rejects.toThrow(unfit);
  });

  it.each(WRONG)("%s with %s: as a public key of a key set", async (alg, kind) => {
    await expect(importPublicKey(jwkOf(made[kind]().publicKey), alg)).rejects.toThrow(unfit);
  });

  it.each(GOOD)("%s: a public key where a private one is needed, and the reverse", async (alg, kind) => {
    const { publicKey, privateKey } = made[kind]();
    await expect(importPrivateKey(jwkOf(publicKey), alg)).rejects.toThrow(unfit);
    await expect(importPublicKey(jwkOf(privateKey), alg)).rejects.toThrow(unfit);
    const spki = publicKey.export({ format: "pem", type: "spki" }) as string;
    await expect(importPrivateKey(spki, alg)).rejects.toThrow(/public key.*PUBLIC KEY/);
  });

  it.each<[what: string, key: () => PrivateKeyInput, alg: Algorithm, words: RegExp]>([
    ["an encrypted PEM", () => encryptedPemOf(made.p256().privateKey), "ES256", /encrypted/],
    [
      "no PEM at all",
      () => "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8",
      "ES256",
      /is 32 octets and nothing else, as a secret is/,
    ],
    [
      "a damaged PEM",
      () => pemOf(made.p256().privateKey).replace(/\n[A-Za-z0-9+/]{10}/, "\n"),
      "ES256",
      /damaged/,
    ],
    ["a symmetric JWK", () => ({ kty: "oct", k: "c2VjcmV0" }), "RS256", /symmetric/],
    ["a JWK without members", () => ({ kty: "EC", crv: "P-256" }), "ES256", /cannot be imported/],
    ["a JWK of an unknown kind", () => ({ kty: "XYZ" }) as unknown as JWK, "ES256", /cannot be imported/],
    [
      "a JWK that names another algorithm",
      () => ({ ...jwkOf(made.p256().privateKey), alg: "ES384" }),
      "ES256",
      /says alg "ES384"/,
    ],
    [
      "a JWK that lacks its private member",
      () => ({ ...jwkOf(made.p256().privateKey), d: "" }),
      "ES256",
      /member d that is not base64url/,
    ],
  ])("%s", async (_, key, alg, words) => {
    const error: Error = await importPrivateKey(key(), alg).then(
      () => expect.unreachable(),
      (reason: Error) => reason,
    );
    expect(error).toEqual(unfit);
    expect(error.message).toMatch(words);
  });

  it("a CryptoKey of RSA with another hash or padding", async () => {
    const generate = (name: string, hash: string, usage: KeyUsage) =>
      crypto.subtle.generateKey(
        { name, hash, modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) },
        false,
        [usage],
      ) as Promise<CryptoKeyPair>;
    const sha512 = await generate("RSASSA-PKCS1-v1_5", "SHA-512", "sign");
    const pss = await generate("RSA-PSS", "SHA-256", "sign");
    await expect(importPrivateKey(sha512.privateKey, "RS256")).rejects.toThrow(unfit);
    await expect(importPrivateKey(pss.privateKey, "RS256")).rejects.toThrow(unfit);
    await expect(importPrivateKey(sha512.publicKey, "RS256")).rejects.toThrow(unfit);
  });

  it("an algorithm beyond the three is a wrong call", async () => {
    for (const alg of ["HS256", "PS256", "ES384", "none", "es256", "Ed25519", undefined])
      await expect(importPrivateKey(pemOf(made.p256().privateKey), alg as Algorithm)).rejects.toThrow(
        TypeError,
      );
    await expect(importPrivateKey(7 as unknown as JWK, "ES256")).rejects.toThrow(TypeError);
    await expect(generateKey({ alg: "HS256" as Algorithm })).rejects.toThrow(TypeError);
  });

  it("never repeats the key", async () => {
    const jwk = jwkOf(made.p384().privateKey);
    const error = await importPrivateKey(jwk, "ES256").then(Object, (reason: Error) => reason);
    const pem = pemOf(made.p384().privateKey);
    const other = await importPrivateKey(pem, "ES256").then(Object, (reason: Error) => reason);
    for (const text of [error, other].map(
      (one) => `${one.stack} ${JSON.stringify(one)} ${String(one.cause)}`,
    )) {
      expect(text).not.toContain(jwk.d);
      expect(text).not.toContain(pem.split("\n")[1]);
    }
  });
});
