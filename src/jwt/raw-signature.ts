import type { CryptoKey } from "jose";
import { ALGORITHM_FACTS, type Algorithm } from "./algorithms.js";
import { externalSignature } from "./external-signature.js";
import type { SigningKey } from "./key.js";
import { askForKey, checkSigningKey, importedOnce, type SigningKeySource } from "./sign-token.js";

/** Signs bytes that are no token with the keys of tokens. */
export interface RawSigner {
  /** The key of now; a caller's function is asked at every call. */
  key(): Promise<SigningKey>;
  sign(key: SigningKey, bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>>;
}

/** @throws {TypeError} for a key whose kid or alg cannot be one */
export function rawSigner(source: SigningKeySource): RawSigner {
  if (typeof source !== "function") checkSigningKey(source);
  const imported = importedOnce();
  return {
    key: async () => (typeof source === "function" ? askForKey(source) : source),
    async sign({ key, alg }, bytes) {
      if (typeof key === "function") return new Uint8Array(await externalSignature(key, bytes, alg));
      const parameters = ALGORITHM_FACTS[alg].signatureParameters;
      return new Uint8Array(await crypto.subtle.sign(parameters, await imported(key, alg), bytes));
    },
  };
}

/** Whether a key has signed these bytes; false also for a key that cannot verify them. */
export async function hasSigned(
  key: CryptoKey,
  alg: Algorithm,
  signature: Uint8Array<ArrayBuffer>,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  try {
    return await crypto.subtle.verify(ALGORITHM_FACTS[alg].signatureParameters, key, signature, bytes);
  } catch {
    return false;
  }
}
