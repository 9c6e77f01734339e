import { createPrivateKey, createPublicKey, sign, verify } from "node:crypto";
import type { SignEd25519, VerifyEd25519 } from "./ed25519-portable.js";

// At once, and not by the thread pool: for a message of a few kilobytes the way there takes longer than the signature.

const PKCS8_HEAD = Buffer.from("302e020100300506032b657004220420", "hex"); // RFC 8410 section 7

export function ed25519Signer(seed: Uint8Array): SignEd25519 {
  const pkcs8 = Buffer.concat([PKCS8_HEAD, seed]);
  const key = createPrivateKey({ key: pkcs8, format: "der", type: "pkcs8" });
  return (...parts) => sign(null, Buffer.concat(parts), key);
}

export function ed25519Verifier(publicKey: Uint8Array): VerifyEd25519 {
  const x = Buffer.from(publicKey).toString("base64url");
  const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
  return (signature, ...parts) => verify(null, Buffer.concat(parts), key, signature);
}
