import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK } from "jose";
import type { Algorithm } from "../jwt/key.js";
import { checkAlgorithm, importPrivateKey } from "../jwt/key.js";
import { type Clock, systemClock } from "../primitives/clock.js";
import { shownAs } from "../primitives/redact.js";
import { MAX_KEY_ID_LENGTH } from "../protocol/limits.js";
import type { KeyRecord, KeyState } from "./key-record.js";
import { publicJwk } from "./public-jwk.js";

/** Options of `generateKey` and of `keyRecord`. */
export interface KeyOptions {
  alg: Algorithm;
  /** A key id of your own; by default the date and part of the thumbprint. */
  kid?: string | undefined;
  state?: KeyState | undefined;
  clock?: Clock | undefined;
}

/**
 * Generates a key for signing tokens: RS256 (2048 bit), ES256 or EdDSA (specification 5.2, JWT method, step 2).
 *
 * @throws {TypeError} for another algorithm or a kid that is not 1 to 256 characters
 *
 * @example
 * ```ts
 * import { generateKey } from "hookproof/jwks";
 *
 * const key = await generateKey({ alg: "EdDSA" });
 * key.publicJwk.use; // "sig"
 * ```
 */
export async function generateKey(options: KeyOptions): Promise<KeyRecord> {
  checkAlgorithm(options.alg);
  const { privateKey } = await generateKeyPair(options.alg, { extractable: true, modulusLength: 2048 });
  return keyRecord(await exportJWK(privateKey), options);
}

/**
 * Makes a record of a private JWK that fits its algorithm, for keys that were made elsewhere
 * (specification 5.2, JWT method, step 1).
 *
 * @throws {HookproofError} KEY_UNFIT
 * @throws {TypeError} for another algorithm or a kid that is not 1 to 256 characters
 *
 * @example
 * ```ts
 * import { keyRecord } from "hookproof/jwks";
 *
 * const { privateKey } = await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"]);
 * const jwk = await crypto.subtle.exportKey("jwk", privateKey);
 * const record = await keyRecord({ ...jwk, kty: "OKP" }, { alg: "EdDSA", kid: "2026-01" });
 * ```
 */
export async function keyRecord(privateJwk: JWK, options: KeyOptions): Promise<KeyRecord> {
  const { alg, state = "active", clock = systemClock } = options;
  await importPrivateKey(privateJwk, alg);
  const createdAt = clock.now();
  const kid = options.kid ?? (await defaultKid(privateJwk, createdAt));
  if (kid === "" || kid.length > MAX_KEY_ID_LENGTH)
    throw new TypeError(`kid must have 1 to ${MAX_KEY_ID_LENGTH} characters`);
  const record: KeyRecord = {
    kid,
    alg,
    state,
    createdAt,
    publicJwk: publicJwk(privateJwk, { kid, alg }),
    privateJwk: shownAs({ ...privateJwk, use: "sig", kid, alg }, "[redacted]"),
  };
  return record;
}

async function defaultKid(jwk: JWK, createdAt: number): Promise<string> {
  const date = new Date(createdAt).toISOString().slice(0, 10);
  return `${date}-${(await calculateJwkThumbprint(jwk)).slice(0, 8)}`;
}
