import { HookproofError } from "../core/errors.js";
import { countOf } from "../core/words.js";
import { ALGORITHM_FACTS, type Algorithm } from "./algorithms.js";
import type { ExternalSigner } from "./key.js";

/**
 * Calls an external signer and converts the signature to the form that a JWS has.
 *
 * @throws {HookproofError} SIGNER_FAILED if the signer fails or the signature has a wrong length
 */
export async function externalSignature(
  sign: ExternalSigner,
  bytes: Uint8Array,
  alg: Algorithm,
): Promise<Uint8Array> {
  let signature: unknown;
  try {
    signature = await sign(bytes);
  } catch (cause) {
    throw new HookproofError("SIGNER_FAILED", "The external signer failed.", { cause });
  }
  if (!(signature instanceof Uint8Array))
    throw new HookproofError("SIGNER_FAILED", "The external signer must give a Uint8Array.");
  const { isSignatureLength, isOftenDer } = ALGORITHM_FACTS[alg];
  const raw = isOftenDer && !isSignatureLength(signature.length) ? rawFromDer(signature) : signature;
  if (isSignatureLength(raw.length)) return raw;
  throw new HookproofError(
    "SIGNER_FAILED",
    `The external signer gave ${countOf(signature.length, "byte")}, which is not an ${alg} signature.`,
  );
}

/** The 64 bytes `r || s` of an ECDSA signature in DER, the form of most key services; empty for other bytes. */
export function rawFromDer(der: Uint8Array): Uint8Array {
  const raw = new Uint8Array(64);
  let offset = 2;
  for (const end of [32, 64]) {
    const length = der[offset + 1] ?? 0;
    const integer = der.subarray(offset + 2, offset + 2 + length);
    const first = integer.findIndex((byte) => byte !== 0);
    const digits = first < 0 ? integer.subarray(0, 0) : integer.subarray(first);
    if (der[offset] !== 0x02 || integer.length !== length || length === 0 || digits.length > 32)
      return new Uint8Array();
    raw.set(digits, end - digits.length);
    offset += 2 + length;
  }
  return der[0] === 0x30 && der[1] === der.length - 2 && offset === der.length ? raw : new Uint8Array();
}
