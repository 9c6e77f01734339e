// Signatures of keys by Node, at once and not by its thread pool.
import { createPrivateKey, createPublicKey, KeyObject, sign, verify } from "node:crypto";
import type * as portable from "../signature-portable.js";

// Without the portable variant, which would be another file to find at every start.

// At once, and not by the thread pool: for a message of a few kilobytes the way there takes longer than the signature.

const PKCS8_HEAD = Buffer.from("302e020100300506032b657004220420", "hex"); // RFC 8410 section 7

export function ed25519Signer(seed: Uint8Array): portable.SignEd25519 {
  const pkcs8 = Buffer.concat([PKCS8_HEAD, seed]);
  const key = createPrivateKey({ key: pkcs8, format: "der", type: "pkcs8" });
  return (...parts) => sign(null, Buffer.concat(parts), key);
}

export function ed25519Verifier(publicKey: Uint8Array): portable.VerifyEd25519 {
  const x = Buffer.from(publicKey).toString("base64url");
  const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
  return (signature, ...parts) => verify(null, Buffer.concat(parts), key, signature);
}

export const signatureBy: typeof portable.signatureBy = (key, parameters, bytes) => {
  // Not by RSA, which signs ten times as long.
  const own = parameters.name === RSA ? undefined : keyAtOnce(key, parameters, "sign");
  if (own) return sign(hashOf(parameters), bytes, own);
  return crypto.subtle.sign(parameters, key, bytes).then((signature) => new Uint8Array(signature));
};

export const isSignatureBy: typeof portable.isSignatureBy = (key, parameters, signature, bytes) => {
  const own = keyAtOnce(key, parameters, "verify");
  return own
    ? verify(hashOf(parameters), bytes, own, signature)
    : crypto.subtle.verify(parameters, key, signature, bytes);
};

const RSA = "RSASSA-PKCS1-v1_5";
const NAMES: ReadonlySet<string> = new Set(["Ed25519", "ECDSA", RSA]);

/** As Node names the hash: none for Ed25519, and that of the parameters, or else SHA-256. */
function hashOf({ name, hash = "SHA-256" }: portable.SignatureParameters): string | null {
  return name === "Ed25519" ? null : hash === "SHA-256" ? "sha256" : hash.replace("-", "").toLowerCase();
}

/** A key of WebCrypto as one of Node; nothing where WebCrypto has to keep the key, or has to refuse it. */
function keyAtOnce(key: CryptoKey, { name }: portable.SignatureParameters, usage: KeyUsage) {
  const isFit = key.extractable && key.algorithm.name === name && key.usages.includes(usage);
  return isFit && NAMES.has(name)
    ? { key: KeyObject.from(key), dsaEncoding: "ieee-p1363" as const }
    : undefined;
}
