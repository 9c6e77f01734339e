// Signatures of keys by WebCrypto.
import { concatBytes } from "./bytes.js";

/** What stands before the 32 bytes of a private key in its PKCS #8 form (RFC 8410 section 7). */
const PKCS8_HEAD = [48, 46, 2, 1, 0, 48, 5, 6, 3, 43, 101, 112, 4, 34, 4, 32];

/** Signs a message, given in its parts. */
export type SignEd25519 = (...parts: Uint8Array[]) => Uint8Array | Promise<Uint8Array>;

/** Whether a signature of 64 bytes is that of a message, given in its parts. */
export type VerifyEd25519 = (
  signature: Uint8Array<ArrayBuffer>,
  ...parts: Uint8Array[]
) => boolean | Promise<boolean>;

/** Signs with the private key of these 32 bytes (RFC 8032: the seed). It is imported once. */
export function ed25519Signer(seed: Uint8Array): SignEd25519 {
  const pkcs8 = concatBytes([Uint8Array.from(PKCS8_HEAD), seed]);
  const key = importedOnce(() =>
    crypto.subtle.importKey("pkcs8", pkcs8, { name: "Ed25519" }, false, ["sign"]),
  );
  return async (...parts) =>
    new Uint8Array(await crypto.subtle.sign("Ed25519", await key(), concatBytes(parts)));
}

/** Verifies with the public key of these 32 bytes. */
export function ed25519Verifier(publicKey: Uint8Array): VerifyEd25519 {
  const bytes = publicKey.slice();
  const key = importedOnce(() =>
    crypto.subtle.importKey("raw", bytes, { name: "Ed25519" }, false, ["verify"]),
  );
  return async (signature, ...parts) =>
    crypto.subtle.verify("Ed25519", await key(), signature, concatBytes(parts));
}

/** WebCrypto's parameters of an algorithm, to sign and to verify. */
export interface SignatureParameters {
  readonly name: string;
  readonly hash?: string;
}

/** Signs with a private key. It throws or rejects for a key that is not for this. */
export function signatureBy(
  key: CryptoKey,
  parameters: SignatureParameters,
  bytes: Uint8Array<ArrayBuffer>,
): Uint8Array | Promise<Uint8Array> {
  return crypto.subtle.sign(parameters, key, bytes).then((signature) => new Uint8Array(signature));
}

/** Whether the private half of a public key has signed. It throws or rejects for a key that is not for this. */
export function isSignatureBy(
  key: CryptoKey,
  parameters: SignatureParameters,
  signature: Uint8Array<ArrayBuffer>,
  bytes: Uint8Array<ArrayBuffer>,
): boolean | Promise<boolean> {
  return crypto.subtle.verify(parameters, key, signature, bytes);
}

function importedOnce(start: () => Promise<CryptoKey>): () => Promise<CryptoKey> {
  let imported: Promise<CryptoKey> | undefined;
  return () => {
    imported ??= start();
    return imported;
  };
}
