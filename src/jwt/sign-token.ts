// Signs tokens and other bytes with keys of any kind.
import type { CryptoKey } from "jose";
import { encodeBase64url } from "#hash";
import { signatureBy } from "#signature";
import { utf8 } from "../core/bytes.js";
import { HookproofError, isNotGiven, notGiven } from "../core/errors.js";
import { MAX_KEY_ID_LENGTH } from "../core/protocol.js";
import { countOf } from "../core/shown.js";
import { ALGORITHM_FACTS, type Algorithm, checkAlgorithm } from "./algorithms.js";
import { type ExternalSigner, importPrivateKey, type PrivateKeyInput, type SigningKey } from "./key.js";

/** A key to sign with, or a function that gives the one of now. */
export type SigningKeySource = SigningKey | (() => SigningKey | Promise<SigningKey>);

/**
 * Signs claims as compact tokens with the header members `alg`, `kid` and `typ`. A fixed key is checked at once; a
 * function is called for every token, so that a rotated key is used at once.
 *
 * @throws {TypeError} for a wrong option. Signing rejects with KEY_UNFIT or SIGNER_FAILED
 */
export function tokenSigner(source: SigningKeySource, typ: string): (claims: object) => Promise<string> {
  if (typeof source !== "function") checkFixedKey(source);
  const imported = importedOnce();
  return async (claims) => {
    const { key, kid, alg } = typeof source === "function" ? await askForKey(source) : source;
    const header = { alg, kid, typ };
    const input = `${segment(header)}.${segment(claims)}`;
    const bytes = utf8(input);
    const signature = await (typeof key === "function"
      ? externalSignature(key, bytes, alg)
      : signatureBy(await imported(key, alg), ALGORITHM_FACTS[alg].signatureParameters, bytes));
    return `${input}.${encodeBase64url(signature)}`;
  };
}

function segment(members: object): string {
  return encodeBase64url(utf8(JSON.stringify(members)));
}

/** The key that a caller's function gives. */
async function askForKey(signingKey: () => SigningKey | Promise<SigningKey>): Promise<SigningKey> {
  let given: SigningKey;
  try {
    given = await signingKey();
  } catch (cause) {
    throw new HookproofError("SIGNER_FAILED", "The function that gives the signing key failed.", { cause });
  }
  checkSigningKey(given);
  return given;
}

/** A fixed key is what an environment variable may not have given. */
function checkFixedKey(source: SigningKey): void {
  if (typeof source !== "object" || source === null)
    throw new TypeError("key must be an object with key, kid and alg");
  if (isNotGiven(source.key)) throw notGiven("key", source.key, "KEY_UNFIT");
  checkSigningKey(source);
}

/** Refuses a key whose kid or alg cannot be one. */
function checkSigningKey({ kid, alg }: SigningKey): void {
  checkAlgorithm(alg);
  if (typeof kid !== "string" || kid === "" || kid.length > MAX_KEY_ID_LENGTH) {
    throw new TypeError(`kid must be a text of 1 to ${MAX_KEY_ID_LENGTH} characters`);
  }
}

/** Imports a key at its first use; again only when the key or its algorithm changes. */
function importedOnce(): (key: PrivateKeyInput, alg: Algorithm) => Promise<CryptoKey> {
  let last: { key: PrivateKeyInput; alg: Algorithm; imported: Promise<CryptoKey> } | undefined;
  return (key, alg) => {
    if (last?.key !== key || last.alg !== alg) last = { key, alg, imported: importPrivateKey(key, alg) };
    return last.imported;
  };
}

/** Signs bytes that are no token with the keys of tokens. */
interface RawSigner {
  /** The key of now; a caller's function is asked at every call. */
  key(): Promise<SigningKey>;
  sign(key: SigningKey, bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array>;
}

/** @throws {TypeError} for a key whose kid or alg cannot be one */
export function rawSigner(source: SigningKeySource): RawSigner {
  if (typeof source !== "function") checkFixedKey(source);
  const imported = importedOnce();
  return {
    key: async () => (typeof source === "function" ? askForKey(source) : source),
    async sign({ key, alg }, bytes) {
      if (typeof key === "function") return externalSignature(key, bytes, alg);
      return signatureBy(await imported(key, alg), ALGORITHM_FACTS[alg].signatureParameters, bytes);
    },
  };
}

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
