import type { CryptoKey } from "jose";
import { isSignatureBy } from "#signature";
import { ALGORITHM_FACTS, type Algorithm } from "./algorithms.js";

/** Whether a key, which a caller's resolver may have given, is one that verifies signatures of an algorithm. */
export function isVerifyingKey(key: CryptoKey | undefined, alg: Algorithm): boolean {
  if (!key?.algorithm || !key.usages?.includes("verify")) return false;
  return ALGORITHM_FACTS[alg].unfitness(key.algorithm) === undefined;
}

/** Whether a key has signed these bytes; false also for a key that cannot verify them. */
export async function hasSigned(
  key: CryptoKey,
  alg: Algorithm,
  signature: Uint8Array<ArrayBuffer>,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  if (!isVerifyingKey(key, alg)) return false;
  try {
    return await isSignatureBy(key, ALGORITHM_FACTS[alg].signatureParameters, signature, bytes);
  } catch {
    return false;
  }
}
