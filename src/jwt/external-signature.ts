import { HookproofError } from "../errors.js";
import type { Algorithm } from "./key.js";

/** A signer outside the process (KMS, HSM, vault): gets the bytes to sign, gives the signature's bytes. */
export type ExternalSigner = (bytes: Uint8Array) => Promise<Uint8Array>;

/** Asks an external signer and brings its answer into the form a JWS has. */
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
  const joseForm = alg === "ES256" && signature.length !== 64 ? rawFromDer(signature) : signature;
  const fits = alg === "RS256" ? joseForm.length >= 256 : joseForm.length === 64;
  if (fits) return joseForm;
  throw new HookproofError(
    "SIGNER_FAILED",
    `The external signer gave ${signature.length} bytes, which is not an ${alg} signature.`,
  );
}

/** The 64 bytes r || s of an ECDSA signature in DER, the form most key services answer in; empty if it is not one. */
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
