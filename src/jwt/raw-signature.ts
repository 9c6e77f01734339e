import { signatureBy } from "#signature";
import { ALGORITHM_FACTS } from "./algorithms.js";
import { externalSignature } from "./external-signature.js";
import type { SigningKey } from "./key.js";
import { askForKey, checkSigningKey, importedOnce, type SigningKeySource } from "./sign-token.js";

/** Signs bytes that are no token with the keys of tokens. */
export interface RawSigner {
  /** The key of now; a caller's function is asked at every call. */
  key(): Promise<SigningKey>;
  sign(key: SigningKey, bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array>;
}

/** @throws {TypeError} for a key whose kid or alg cannot be one */
export function rawSigner(source: SigningKeySource): RawSigner {
  if (typeof source !== "function") checkSigningKey(source);
  const imported = importedOnce();
  return {
    key: async () => (typeof source === "function" ? askForKey(source) : source),
    async sign({ key, alg }, bytes) {
      if (typeof key === "function") return externalSignature(key, bytes, alg);
      return signatureBy(await imported(key, alg), ALGORITHM_FACTS[alg].signatureParameters, bytes);
    },
  };
}
