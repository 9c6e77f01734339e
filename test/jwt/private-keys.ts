import { generateKeyPairSync, type KeyObject } from "node:crypto";
import type { JWK } from "jose";

/** Keys that must not sign here, and good ones, all made by Node. */
export const made = {
  rsa2048: lazily(() => generateKeyPairSync("rsa", { modulusLength: 2048 })),
  rsa1024: lazily(() => generateKeyPairSync("rsa", { modulusLength: 1024 })),
  rsaExponent3: lazily(() => generateKeyPairSync("rsa", { modulusLength: 2048, publicExponent: 3 })),
  p256: lazily(() => generateKeyPairSync("ec", { namedCurve: "P-256" })),
  p384: lazily(() => generateKeyPairSync("ec", { namedCurve: "P-384" })),
  secp256k1: lazily(() => generateKeyPairSync("ec", { namedCurve: "secp256k1" })),
  ed25519: lazily(() => generateKeyPairSync("ed25519")),
  ed25519Other: lazily(() => generateKeyPairSync("ed25519")),
  ed448: lazily(() => generateKeyPairSync("ed448")),
  x25519: lazily(() => generateKeyPairSync("x25519")),
};

interface Pair {
  publicKey: KeyObject;
  privateKey: KeyObject;
}

function lazily(make: () => Pair): () => Pair {
  let pair: Pair | undefined;
  return () => {
    pair ??= make();
    return pair;
  };
}

/** A key as a JWK. */
export function jwkOf(key: KeyObject): JWK {
  return key.export({ format: "jwk" }) as JWK;
}

/** A private key as a PKCS#8 PEM. */
export function pemOf(key: KeyObject): string {
  return key.export({ format: "pem", type: "pkcs8" }) as string;
}

/** The same key as an encrypted PKCS#8 PEM. */
export function encryptedPemOf(key: KeyObject): string {
  return key.export({ format: "pem", type: "pkcs8", cipher: "aes-256-cbc", passphrase: "hunter2" }) as string;
}
