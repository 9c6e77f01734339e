import { type CryptoKey, exportJWK, importJWK, importPKCS8, type JWK } from "jose";
import { HookproofError } from "../errors.js";
import { decodeBase64url } from "../primitives/base64url.js";
import type { ExternalSigner } from "./external-signature.js";

/** The algorithms a token may be signed with (specification 5.2, JWT method, step 2). */
const ALGORITHMS = ["RS256", "ES256", "EdDSA"] as const;

/** RS256 (RSA, 2048 bit or more), ES256 (ECDSA on P-256) or EdDSA (Ed25519). */
export type Algorithm = (typeof ALGORITHMS)[number];

/** Whether a value names one of the three algorithms, in its exact spelling. */
export function isAlgorithm(value: unknown): value is Algorithm {
  return (ALGORITHMS as readonly unknown[]).includes(value);
}

/** A private key as callers hold it: a JWK, a PKCS#8 PEM text, or a CryptoKey. */
export type PrivateKeyInput = JWK | string | CryptoKey;

/** A key to sign tokens with, and the names it goes by. */
export interface SigningKey {
  /** A private JWK, a PKCS#8 PEM, a CryptoKey, or a function that signs bytes elsewhere (ES256 in raw or DER form). */
  key: PrivateKeyInput | ExternalSigner;
  /** The key's id in the key set that the listener fetches; 1 to 256 characters. */
  kid: string;
  alg: Algorithm;
}

/** Imports a private key for signing, or refuses it by name. */
export async function importPrivateKey(key: PrivateKeyInput, alg: Algorithm): Promise<CryptoKey> {
  checkAlgorithm(alg);
  const imported = await importKey(key, alg);
  if (imported.type !== "private")
    throw unfit(alg, `is a ${imported.type} key; signing needs the private one`);
  checkFitness(imported, alg);
  return imported;
}

/** Imports a public key for verification, or refuses it by name. */
export async function importPublicKey(jwk: JWK, alg: Algorithm): Promise<CryptoKey> {
  const imported = await importKey(jwk, alg);
  if (imported.type !== "public") throw unfit(alg, `is a ${imported.type} key; a key set holds public ones`);
  checkFitness(imported, alg);
  if (alg === "EdDSA" && isOfLowOrder((await exportJWK(imported)).x))
    throw unfit(alg, "is a point of low order, for which everybody can sign");
  return imported;
}

/** Refuses whatever is not one of the three algorithms. */
export function checkAlgorithm(alg: unknown): void {
  if (!isAlgorithm(alg)) throw new TypeError(`alg must be one of ${ALGORITHMS.join(", ")}`);
}

async function importKey(key: PrivateKeyInput, alg: Algorithm): Promise<CryptoKey> {
  if (typeof key === "string") return importPem(key, alg);
  if (typeof key !== "object" || key === null)
    throw new TypeError("key must be a JWK, a PEM text, a CryptoKey or a function");
  if (isCryptoKey(key)) return key;
  if (key.alg !== undefined && key.alg !== alg)
    throw unfit(alg, `says alg ${JSON.stringify(key.alg)} itself`);
  try {
    const imported = await importJWK(key, alg);
    if (!(imported instanceof Uint8Array)) return imported;
  } catch {
    throw unfit(alg, "cannot be imported: its kty, crv or members do not make such a key");
  }
  throw unfit(alg, "is symmetric");
}

async function importPem(pem: string, alg: Algorithm): Promise<CryptoKey> {
  const label = /-----BEGIN ([A-Z0-9 ]+)-----/.exec(pem)?.[1];
  if (label === "ENCRYPTED PRIVATE KEY") throw unfit(alg, "is an encrypted PEM; decrypt it first");
  if (label !== "PRIVATE KEY") {
    throw unfit(
      alg,
      `is not a PKCS#8 PEM (BEGIN PRIVATE KEY)${label ? `, but a ${label}: convert it with openssl pkcs8 -topk8 -nocrypt` : ""}`,
    );
  }
  try {
    return await importPKCS8(pem, alg);
  } catch {
    throw unfit(alg, "cannot be imported: the PEM holds another kind of key or is damaged");
  }
}

function isCryptoKey(key: JWK | CryptoKey): key is CryptoKey {
  return Object.prototype.toString.call(key) === "[object CryptoKey]";
}

/** What WebCrypto tells of a key's algorithm, for the kinds that may appear here. */
interface KeyFacts {
  name: string;
  modulusLength?: number;
  publicExponent?: Uint8Array;
  hash?: { name: string };
  namedCurve?: string;
}

function checkFitness(key: CryptoKey, alg: Algorithm): void {
  const facts: KeyFacts = key.algorithm;
  if (alg === "EdDSA") {
    if (facts.name !== "Ed25519") throw unfit(alg, `is of the kind ${facts.name}, not Ed25519`);
  } else if (alg === "ES256") {
    if (facts.name !== "ECDSA" || facts.namedCurve !== "P-256") {
      throw unfit(alg, `is ${facts.name} ${facts.namedCurve ?? ""}, not ECDSA on P-256`);
    }
  } else {
    if (facts.name !== "RSASSA-PKCS1-v1_5" || facts.hash?.name !== "SHA-256") {
      throw unfit(alg, `is ${facts.name} ${facts.hash?.name ?? ""}, not RSASSA-PKCS1-v1_5 with SHA-256`);
    }
    if ((facts.modulusLength ?? 0) < 2048)
      throw unfit(alg, `has ${facts.modulusLength} bit; at least 2048 are needed`);
    if (facts.publicExponent?.join() !== "1,0,1") throw unfit(alg, "has a public exponent other than 65537");
  }
}

function unfit(alg: Algorithm, reason: string): HookproofError {
  return new HookproofError("KEY_UNFIT", `The key for ${alg} ${reason}.`);
}

/**
 * The y coordinates, in hexadecimal and without the sign of x, that a point of order 1, 2, 4 or 8 on Curve25519 can be
 * written with: 0, 1, -1 and the two of order 8, and 0 and 1 once more with the field's prime added to them.
 */
const LOW_ORDER = new Set([
  "0000000000000000000000000000000000000000000000000000000000000000",
  "0100000000000000000000000000000000000000000000000000000000000000",
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
  "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
]);

/** With such a key, a signature of S = 0 fits whatever was signed (RFC 8032 leaves it open, so runtimes accept it). */
function isOfLowOrder(x: string | undefined): boolean {
  const bytes = decodeBase64url(x ?? "");
  if (bytes?.length !== 32) return true;
  const unsigned = [...bytes.subarray(0, 31), (bytes[31] ?? 0) & 0x7f];
  return LOW_ORDER.has(unsigned.map((byte) => byte.toString(16).padStart(2, "0")).join(""));
}
