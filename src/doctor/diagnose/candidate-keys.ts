// The keys that may have made a token's signature, each imported when it is asked for.
import { isSignatureBy } from "#signature";
import { decodeBase64url, utf8 } from "../../core/bytes.js";
import { type Algorithm, algorithmOf } from "../../jwt/algorithms.js";
import { importPublicKey } from "../../jwt/key.js";
import { hasSigned } from "../../jwt/verify.js";
import { once } from "./search.js";

/** A token, decoded. */
export interface TokenParts {
  readonly header: Readonly<Record<string, unknown>>;
  /** The three parts as they stand in the token. */
  readonly segments: readonly string[];
  readonly signature: Uint8Array;
  readonly body: Uint8Array;
}

/** A public key that may have made the signature. */
export interface CandidateKey {
  readonly kid: unknown;
  readonly alg: Algorithm;
  /** Imports it when it is first asked for; nothing where it cannot be used, so that it made no signature. */
  readonly key: () => Promise<CryptoKey | undefined>;
  /** The modulus of an RSA key, where it is known. */
  readonly modulus?: Uint8Array | undefined;
  /** Whether it made the token's signature as it stands. */
  readonly isRight: () => Promise<boolean>;
}

/** A key as it is published. */
export type Member = Readonly<Record<string, unknown>>;

/** The published keys that may have made the signature of a token. */
export function candidatesOf(members: readonly Member[], token: TokenParts): CandidateKey[] {
  return members.flatMap((member) => {
    const alg = algorithmOf(member);
    if (alg === undefined) return [];
    const { kid, kty, n, e, crv, x, y } = member;
    const jwk = { kty, n, e, crv, x, y } as Parameters<typeof importPublicKey>[0];
    const modulus = typeof n === "string" ? decodeBase64url(n) : undefined;
    const key = once(() => importPublicKey(jwk, alg).catch(() => undefined));
    return candidate({ kid, alg, key, modulus }, token);
  });
}

/** A key that may have made the signature of a token. */
export function candidate(
  made: Omit<CandidateKey, "isRight">,
  { signature, segments }: TokenParts,
): CandidateKey {
  return { ...made, isRight: once(() => hasMade(made, signature, signedText(segments))) };
}

/** Whether a key made a signature of a message. By its length alone most keys of another kind have not. */
export async function hasMade(
  { key, alg, modulus }: Omit<CandidateKey, "isRight">,
  signature: Uint8Array,
  message: Uint8Array,
): Promise<boolean> {
  const length = alg === "RS256" ? modulus?.subarray(modulus[0] === 0 ? 1 : 0).length : 64;
  if (length !== undefined && signature.length !== length) return false;
  const imported = await key();
  return imported !== undefined && hasSigned(imported, alg, signature.slice(), message.slice());
}

/** What a token's signature covers. */
export function signedText(segments: readonly string[]): Uint8Array {
  return utf8(segments.slice(0, 2).join("."));
}

/** The keys that can be used, so many of them: what is asked for first. */
export async function usable(
  candidates: readonly CandidateKey[],
  max: number,
): Promise<readonly CandidateKey[]> {
  const found: CandidateKey[] = [];
  for (const one of candidates) {
    if (found.length === max) break;
    if ((await one.key()) !== undefined) found.push(one);
  }
  return found;
}

/** Whether a key on P-256 made a signature by another hash. */
export async function isByOtherHash(
  { key }: CandidateKey,
  hash: string,
  signature: ReturnType<typeof Uint8Array.of>,
  message: ReturnType<typeof Uint8Array.of>,
): Promise<boolean> {
  const imported = await key();
  try {
    return (
      imported !== undefined && (await isSignatureBy(imported, { name: "ECDSA", hash }, signature, message))
    );
  } catch {
    return false;
  }
}
