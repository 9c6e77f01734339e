// Imports private and public keys, and refuses those that are unfit.
import type { CryptoKey, JWK } from "jose";
import { decodeBase64url } from "../core/bytes.js";
import { HookproofError } from "../core/errors.js";
import { shown } from "../core/shown.js";
import { ALGORITHM_FACTS, type Algorithm, checkAlgorithm } from "./algorithms.js";
import { isOfLowOrder } from "./ed25519.js";
import { readKey } from "./key-material.js";
import { checkUse, DECRYPT_FIRST, kindOf, nameIn } from "./unfit-key.js";

export type { JWK };

/**
 * A private key as callers hold it: a JWK, a text with a PEM (PKCS#8, PKCS#1 or SEC1) or a JWK in any of the forms that
 * keys are kept in, the bytes of a file with one, or a CryptoKey.
 */
export type PrivateKeyInput = JWK | string | Uint8Array | CryptoKey;

/**
 * A signer outside the process, such as a key management service, an HSM or a vault: it receives the bytes to sign
 * and resolves to the bytes of the signature.
 */
export type ExternalSigner = (bytes: Uint8Array) => Promise<Uint8Array>;

/** A key to sign tokens with, and how the token's header names it. */
export interface SigningKey {
  /** A private JWK, a text with a PEM or a JWK, a CryptoKey, or a function that signs elsewhere (ES256 as `r || s` or in DER). */
  key: PrivateKeyInput | ExternalSigner;
  /** The key's id in the key set that the listener fetches; 1 to 256 characters. */
  kid: string;
  /** The algorithm of the key. */
  alg: Algorithm;
}

/** The members of a JWK that make a public key, for every kind of key (RFC 7518 section 6, RFC 8037). */
const PUBLIC_MEMBERS = ["kty", "n", "e", "crv", "x", "y"] as const;

/** The private and symmetric members, for every kind of key (RFC 7518 section 6, and `priv` of AKP keys). */
export const PRIVATE_MEMBERS = ["d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"] as const;

/**
 * Only the members that make the public key. They are chosen by name, so that no private member and no instruction to
 * the importer (`ext`, `key_ops`, `x5c`) is copied.
 */
export function publicMembers(jwk: Readonly<Record<string, unknown>> | JWK): JWK {
  const members = PUBLIC_MEMBERS.map((name) => [name, jwk[name]] as const);
  return Object.fromEntries(members.filter(([, value]) => value !== undefined)) as unknown as JWK;
}

/**
 * Imports a private key for signing.
 *
 * @throws {HookproofError} KEY_UNFIT with the reason
 * @throws {TypeError} for a value that is no key, or another algorithm
 */
export async function importPrivateKey(key: PrivateKeyInput, alg: Algorithm): Promise<CryptoKey> {
  checkAlgorithm(alg);
  const isFile = typeof key === "string" || ArrayBuffer.isView(key);
  const imported = await (isFile ? importForm(key, alg) : importPrivate(key, alg));
  if (imported.type !== "private")
    throw unfit(alg, `is a ${imported.type} key; signing needs the private one`);
  checkFitness(imported, alg);
  return imported;
}

/**
 * Imports a public key for verification.
 *
 * @throws {HookproofError} KEY_UNFIT with the reason
 */
export async function importPublicKey(jwk: JWK, alg: Algorithm): Promise<CryptoKey> {
  const imported = await importKey(jwk, alg);
  if (imported.type !== "public") throw unfit(alg, `is a ${imported.type} key; a key set holds public ones`);
  checkFitness(imported, alg);
  // Read strictly, the text has one meaning; in any other spelling the key says itself what it is.
  const point = alg === "EdDSA" && typeof jwk.x === "string" ? decodeBase64url(jwk.x) : undefined;
  if (
    alg === "EdDSA" &&
    isOfLowOrder(point ?? decodeBase64url((await crypto.subtle.exportKey("jwk", imported)).x ?? ""))
  )
    throw unfit(alg, "is a point of low order, for which everybody can sign");
  return imported;
}

/** A JWK with octets too many or too few is another spelling of the key: of a private one, none but its owner sees it. */
async function importPrivate(key: JWK | CryptoKey, alg: Algorithm): Promise<CryptoKey> {
  try {
    return await importKey(key, alg);
  } catch (error) {
    if (!(error instanceof HookproofError) || isCryptoKey(key)) throw error;
    if (key.kty !== undefined && key.d === undefined) throw error;
    return importForm(key, alg, error);
  }
}

/** What WebCrypto calls EdDSA on the curve Ed25519. */
const NAME_IN_RFC_9864 = "Ed25519";

/** What came readable stays so: Node signs at once only with a key that it may take out of WebCrypto. */
async function importKey(key: JWK | CryptoKey, alg: Algorithm): Promise<CryptoKey> {
  if (typeof key !== "object" || key === null)
    throw new TypeError("key must be a JWK, a PEM text, a CryptoKey or a function");
  if (isCryptoKey(key)) return key;
  if (key.d !== undefined) checkUse(key);
  if (key.alg !== undefined && key.alg !== alg && !(alg === "EdDSA" && key.alg === NAME_IN_RFC_9864))
    throw unfit(alg, `says alg ${shown(nameIn(key.alg))} itself`);
  if (key.kty === "oct") throw unfit(alg, "is symmetric");
  try {
    return await importJwk(key, alg);
  } catch {
    const { kty, d, p, q, dp, dq, qi } = key;
    if (kty === "RSA" && d !== undefined && [p, q, dp, dq, qi].includes(undefined))
      throw unfit(alg, "lacks some of p, q, dp, dq and qi: export it with all of them, or as a PEM");
    throw unfit(alg, `cannot be imported: ${whyNoKey(key, alg)}`);
  }
}

/** The first thing that keeps a JWK from being such a key. */
function whyNoKey(jwk: JWK, alg: Algorithm): string {
  const { kty, crv } = ALGORITHM_FACTS[alg];
  const members = kty === "RSA" ? ["n", "e"] : kty === "EC" ? ["x", "y"] : ["x"];
  if (jwk.kty !== kty || jwk.crv !== crv) return `it is of the kind ${kindOf(jwk)}`;
  const lacking = members.find((name) => jwk[name as keyof JWK] === undefined);
  return lacking === undefined ? "its members make no such key" : `it has no member ${lacking}`;
}

/** What the JWK is for (`use`, and an `alg` that WebCrypto knows by another name) is not WebCrypto's to judge. */
async function importJwk({ alg: _, use: _use, ...jwk }: JWK, alg: Algorithm): Promise<CryptoKey> {
  const { kty, keyParameters } = ALGORITHM_FACTS[alg];
  const { ext = true } = jwk;
  const usages = jwk.d ? ["sign"] : (jwk.key_ops ?? ["verify"]); // some write both of a pair's into the private half
  if (jwk.kty !== kty || typeof ext !== "boolean" || new Set(usages).size !== usages.length)
    throw new TypeError("no such JWK");
  return crypto.subtle.importKey(
    "jwk",
    { ...jwk, ext, key_ops: usages } as JsonWebKey,
    keyParameters,
    ext,
    usages as KeyUsage[],
  );
}

/**
 * Imports a key in whatever form.
 *
 * @param refusal what a JWK was refused with as it is
 */
async function importForm(
  key: JWK | string | Uint8Array,
  alg: Algorithm,
  refusal?: HookproofError,
): Promise<CryptoKey> {
  const read = readKey(key);
  if (read.form === "jwk") {
    if (refusal && JSON.stringify(read.jwk) === JSON.stringify(key)) throw refusal;
    return importKey(read.jwk, alg);
  }
  if (read.form === "encrypted") throw unfit(alg, DECRYPT_FIRST);
  try {
    return await crypto.subtle.importKey("pkcs8", read.der, ALGORITHM_FACTS[alg].keyParameters, true, [
      "sign",
    ]);
  } catch {
    throw unfit(alg, "cannot be imported: the PEM holds another kind of key or is damaged");
  }
}

function isCryptoKey(key: JWK | CryptoKey): key is CryptoKey {
  return Object.prototype.toString.call(key) === "[object CryptoKey]";
}

function checkFitness(key: CryptoKey, alg: Algorithm): void {
  const reason = ALGORITHM_FACTS[alg].unfitness(key.algorithm);
  if (reason !== undefined) throw unfit(alg, reason);
}

function unfit(alg: Algorithm, reason: string): HookproofError {
  return new HookproofError("KEY_UNFIT", `The key for ${alg} ${reason}.`);
}
