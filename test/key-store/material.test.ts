// What may be imported as a private key, and what is said of the rest.
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { beforeAll, expect, it } from "vitest";
import { checkedAlgorithmOf, privateJwkOf, privatePem, publicPem } from "../../src/key-store/material.js";

const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const jwk = privateKey.export({ format: "jwk" });
const pem = (key: KeyObject, options: object = {}) =>
  String(key.export({ type: key.type === "public" ? "spki" : "pkcs8", format: "pem", ...options }));
const encrypted = pem(privateKey, { cipher: "aes-256-cbc", passphrase: "opens it" });
const ofCurve = (namedCurve: string) => pem(generateKeyPairSync("ec", { namedCurve }).privateKey);
let rsa: KeyObject;
beforeAll(() => {
  rsa = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
});

it("a PEM and a JWK, as an object and as text, are the same key", () => {
  for (const material of [pem(privateKey), `${pem(publicKey)}${pem(privateKey)}`, jwk, JSON.stringify(jwk)])
    expect(privateJwkOf(material as string, undefined)).toEqual(jwk);
  expect(privateJwkOf(encrypted, "opens it")).toEqual(jwk);
  expect(privateJwkOf(pem(privateKey), "not needed")).toEqual(jwk);
});

it.each([
  ["rsa", () => pem(rsa), "RS256"],
  ["ec", () => pem(privateKey), "ES256"],
  ["ed25519", () => pem(generateKeyPairSync("ed25519").privateKey), "EdDSA"],
])("a PEM of the kind %s has one algorithm", (_, text, alg) => {
  expect(checkedAlgorithmOf(privateJwkOf(text(), undefined))).toBe(alg);
});

it("a JWK says what it is for in its store, and not what its last owner did with it", () => {
  const given = { ...jwk, kid: "one", use: "sig", key_ops: ["sign"], ext: true };
  expect(privateJwkOf(given as never, undefined)).toEqual({ ...jwk, kid: "one", use: "sig" });
});

it.each<[what: string, material: unknown, words: string]>([
  ["null", null, "is not a JWK"],
  ["null as text", "null", "is not a JWK"],
  ["a list", [], "is not a JWK"],
  ["a number", "5", "is not a JWK"],
  ["a text that is no JSON", "hello", "is neither a PEM nor the JSON of a JWK"],
  [
    "a PEM whose hyphens became dashes",
    "–––BEGIN PRIVATE KEY–––",
    "has BEGIN … PRIVATE KEY without five hyphens and plain spaces",
  ],
  [
    "a PEM with no-break spaces",
    "-----BEGIN\u00a0PRIVATE\u00a0KEY-----",
    "has BEGIN … PRIVATE KEY without five hyphens and plain spaces",
  ],
  [
    "a PEM with bars for its lines",
    "-----BEGIN PRIVATE KEY-----|MIIB|-----END PRIVATE KEY-----",
    'cannot be read: the PEM has "|" in it, which is no base64',
  ],
  ["a URL that is damaged", "-----BEGIN%20PRIVATE%2", "cannot be read: the PEM is damaged"],
  ["a key set", { keys: [jwk] }, "is a key set; bring one key of it"],
  ["a key set as text", JSON.stringify({ keys: [] }), "is a key set; bring one key of it"],
  ["a symmetric key", { kty: "oct", k: "c2VjcmV0", d: "x" }, "is symmetric"],
  ["a public JWK", { ...jwk, d: undefined }, "is a public key; signing needs the private one"],
  ["one for encryption", { ...jwk, use: "enc" }, "is not for signing (use)"],
  ["one to verify with", { ...jwk, key_ops: ["verify"] }, "is not for signing (key_ops)"],
  ["one whose uses are no list", { ...jwk, key_ops: "sign" }, "is not for signing (key_ops)"],
  ["a public PEM", pem(publicKey), "is a public key; signing needs the private one"],
  [
    "a public PEM of RSA alone",
    "-----BEGIN RSA PUBLIC KEY-----\nAAAA\n-----END RSA PUBLIC KEY-----\n",
    "is a public key",
  ],
  ["a certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "is a public key"],
  [
    "a damaged PEM",
    "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
    "cannot be read: the PEM is damaged or of an unknown kind",
  ],
  [
    "a PEM that is no key",
    "-----BEGIN DH PARAMETERS-----\nAAAA\n-----END DH PARAMETERS-----\n",
    "cannot be read",
  ],
  ["another curve", ofCurve("P-384"), "is of the kind ec secp384r1; it must be"],
  ["another kind", pem(generateKeyPairSync("ed448").privateKey), "is of the kind ed448; it must be"],
])("refuses %s", (_, material, words) => {
  expect(() => privateJwkOf(material as string, undefined)).toThrow(
    expect.objectContaining({ code: "KEY_UNFIT", message: expect.stringContaining(`The key ${words}`) }),
  );
});

it("refuses a JWK of a kind that has no algorithm", () => {
  expect(() => checkedAlgorithmOf({ kty: "EC", crv: "P-521" })).toThrow("is of the kind EC P-521;");
});

it.each([
  ["without a passphrase", undefined, "The PEM is encrypted; its passphrase is needed."],
  ["with another one", "another", "The PEM cannot be decrypted with this passphrase."],
])("refuses an encrypted PEM %s", (_, passphrase, message) => {
  expect(() => privateJwkOf(encrypted, passphrase)).toThrow(
    expect.objectContaining({ code: "KEY_STORE_PASSPHRASE", message }),
  );
});

it("gives the halves as PEM, the private one encrypted where there is a passphrase", () => {
  expect(publicPem(jwk as never)).toBe(pem(publicKey));
  expect(privatePem(jwk as never, undefined)).toBe(pem(privateKey));
  const sealed = privatePem(jwk as never, "opens it");
  expect(sealed).toContain("BEGIN ENCRYPTED PRIVATE KEY");
  expect(privateJwkOf(sealed, "opens it")).toEqual(jwk);
});
