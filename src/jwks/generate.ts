import {
  CompactSign,
  calculateJwkThumbprint,
  compactVerify,
  exportJWK,
  generateKeyPair,
  type JWK,
} from "jose";
import { HookproofError } from "../errors.js";
import type { Algorithm } from "../jwt/key.js";
import { checkAlgorithm, importPrivateKey, importPublicKey } from "../jwt/key.js";
import { utf8 } from "../primitives/bytes.js";
import { type Clock, systemClock } from "../primitives/clock.js";
import { shownAs } from "../primitives/redact.js";
import { MAX_KEY_ID_LENGTH } from "../protocol/limits.js";
import type { KeyRecord, KeyState } from "./key-record.js";
import { timesOf } from "./life-cycle.js";
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
 * @throws {HookproofError} KEY_UNFIT for a public or symmetric key, another kind or curve, RSA under 2048 bit or
 * with an exponent other than 65537, and halves that do not belong together
 * @throws {TypeError} for another algorithm or a kid that is not 1 to 256 characters
 *
 * @example
 * ```ts
 * import { generateKey, keyRecord } from "hookproof/jwks";
 *
 * const { privateJwk } = await generateKey({ alg: "ES256" });
 * const record = await keyRecord(privateJwk, { alg: "ES256", kid: "billing-1", state: "next" });
 * ```
 */
export async function keyRecord(privateJwk: JWK, options: KeyOptions): Promise<KeyRecord> {
  const { alg, state = "active", clock = systemClock } = options;
  await checkHalves(privateJwk, alg);
  const createdAt = clock.now();
  const kid = options.kid ?? (await defaultKid(privateJwk, createdAt));
  if (kid === "" || kid.length > MAX_KEY_ID_LENGTH)
    throw new TypeError(`kid must have 1 to ${MAX_KEY_ID_LENGTH} characters`);
  const record: KeyRecord = {
    kid,
    alg,
    state,
    ...timesOf(state, createdAt),
    publicJwk: publicJwk(privateJwk, { kid, alg }),
    privateJwk: shownAs({ ...privateJwk, use: "sig", kid, alg }, "[redacted]"),
  };
  return record;
}

/** A private key whose public members belong to another key signs tokens that its own key set refuses. */
async function checkHalves(privateJwk: JWK, alg: Algorithm): Promise<void> {
  const privateKey = await importPrivateKey(privateJwk, alg);
  try {
    const jws = await new CompactSign(utf8("hookproof")).setProtectedHeader({ alg }).sign(privateKey);
    await compactVerify(jws, await importPublicKey(publicJwk(privateJwk, { kid: "", alg }), alg));
  } catch {
    throw new HookproofError(
      "KEY_UNFIT",
      `The key for ${alg} has a private half that does not belong to its public one.`,
    );
  }
}

async function defaultKid(jwk: JWK, createdAt: number): Promise<string> {
  const date = new Date(createdAt).toISOString().slice(0, 10);
  return `${date}-${(await calculateJwkThumbprint(jwk)).slice(0, 8)}`;
}
