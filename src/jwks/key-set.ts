// Makes keys and the key set that publishes them.
import { calculateJwkThumbprint } from "jose/jwk/thumbprint";
import { CompactSign } from "jose/jws/compact/sign";
import { compactVerify } from "jose/jws/compact/verify";
import { exportJWK } from "jose/key/export";
import { generateKeyPair } from "jose/key/generate/keypair";
import { utf8 } from "../core/bytes.js";
import { type Clock, systemClock } from "../core/clock.js";
import { HookproofError, isNotGiven, notGiven } from "../core/errors.js";
import { checkOptions, type OptionNames } from "../core/options.js";
import { MAX_KEY_ID_LENGTH } from "../core/protocol.js";
import { shownAs } from "../core/shown.js";
import { type Algorithm, checkAlgorithm } from "../jwt/algorithms.js";
import { importPrivateKey, importPublicKey, type JWK, publicMembers, type SigningKey } from "../jwt/key.js";
import { canonicalJwk, readKey } from "../jwt/key-material.js";
import { type KeyLife, type KeyState, timesOf } from "./life-cycle.js";

/** A key of a key set with both halves. `console.log` does not show the private members. */
export interface KeyRecord extends KeyLife {
  /** The state when the record was made or loaded. */
  readonly state: KeyState;
  /** What the key set publishes: `kty`, `use`, `kid`, `alg` and the public members. */
  readonly publicJwk: JWK;
  /** The private key as JWK. */
  readonly privateJwk: JWK;
}

/** Options of `generateKey` and `importKey`. */
export interface KeyOptions {
  /** The algorithm of the key. */
  alg: Algorithm;
  /** The key's id, 1 to 256 characters; by default the date and a part of its thumbprint. */
  kid?: string | undefined;
  /** The state it begins in; `active` by default. */
  state?: KeyState | undefined;
  /** The clock for `createdAt`; the system's by default. */
  clock?: Clock | undefined;
}

const NAMES: OptionNames<KeyOptions> = { alg: 1, kid: 1, state: 1, clock: ".now" };

/**
 * Generates a key for signing tokens: RS256 (2048 bit), ES256 or EdDSA (specification 5.2, JWT method, step 2).
 *
 * @throws {TypeError} for another algorithm, or a kid that is not 1 to 256 characters
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
  checkOptions("generateKey", options, NAMES);
  checkAlgorithm(options.alg);
  const { privateKey } = await generateKeyPair(options.alg, { extractable: true, modulusLength: 2048 });
  return importKey(await exportJWK(privateKey), options);
}

const JWK_ONLY = "importKey takes a private JWK; readSigningKey of hookproof/node reads other forms";

/**
 * Makes a key record of a private JWK that was generated elsewhere (specification 5.2, JWT method, step 1).
 *
 * @throws {HookproofError} KEY_UNFIT for a public or symmetric key, for another kind or curve, for RSA with less than
 * 2048 bit or an exponent other than 65537, and for a private key whose public members belong to another key
 * @throws {TypeError} for another algorithm, or a kid that is not 1 to 256 characters
 *
 * @example
 * ```ts
 * import { generateKey, importKey } from "hookproof/jwks";
 *
 * const { privateJwk } = await generateKey({ alg: "ES256" });
 * const record = await importKey(privateJwk, { alg: "ES256", kid: "billing-1", state: "next" });
 * ```
 */
export async function importKey(given: JWK, options: KeyOptions): Promise<KeyRecord> {
  checkOptions("importKey", options, NAMES);
  const { alg, state = "active", clock = systemClock } = options;
  if (isNotGiven(given)) throw notGiven("key", given, "KEY_UNFIT");
  if (typeof given !== "object" || given === null) throw new TypeError(JWK_ONLY);
  const read = readKey(given);
  if (read.form !== "jwk") throw new TypeError(JWK_ONLY);
  const privateJwk = read.jwk;
  await checkHalves(privateJwk, alg);
  const createdAt = clock.now();
  const kid = options.kid ?? (await defaultKid(privateJwk, createdAt));
  if (kid === "" || kid.length > MAX_KEY_ID_LENGTH)
    throw new TypeError(`kid must have 1 to ${MAX_KEY_ID_LENGTH} characters`);
  return {
    kid,
    alg,
    state,
    ...timesOf(state, createdAt),
    publicJwk: publicJwkOf(privateJwk, { kid, alg }),
    privateJwk: shownAs({ ...privateJwk, use: "sig", kid, alg }, "[redacted]"),
  };
}

/** What a key set publishes of a key, as strict verifiers of other languages want it. */
function publicJwkOf(jwk: JWK, { kid, alg }: { kid: string; alg: Algorithm }): JWK {
  return { ...publicMembers(canonicalJwk(jwk)), use: "sig", kid, alg };
}

/** If the public members belong to another key, no listener can verify what the private one signs. */
async function checkHalves(privateJwk: JWK, alg: Algorithm): Promise<void> {
  const privateKey = await importPrivateKey(privateJwk, alg);
  try {
    const jws = await new CompactSign(utf8("hookproof")).setProtectedHeader({ alg }).sign(privateKey);
    await compactVerify(jws, await importPublicKey(publicMembers(privateJwk), alg));
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

/** The document of a key set (RFC 7517 section 5). */
export interface Jwks {
  /** The public keys. */
  readonly keys: readonly JWK[];
}

/** Where the records of a key set are stored; `openKeyStore` of `hookproof/node` stores them on disk. */
export interface KeyRecordSource {
  /**
   * The records, with their states at this moment. If the same frozen array comes back, the key set takes it as
   * unchanged.
   */
  load(): Promise<readonly KeyRecord[]>;
}

/** The keys of a sender: what it publishes, and what it signs with. */
export interface KeySet {
  /**
   * The public document: the next, active and retired keys, without private members. Rejects with KEY_SET_INVALID if
   * two keys have one kid.
   */
  publicJwks(): Promise<Jwks>;
  /**
   * The active key of an algorithm, for `jwtSigner(() => keySet.signingKey("ES256"))`. Rejects with KEY_NOT_FOUND if
   * there is none.
   */
  signingKey(alg: Algorithm): Promise<SigningKey>;
}

/**
 * A key set over records, or over a store of records. It loads the records for every answer.
 *
 * @example
 * ```ts
 * import { createKeySet, generateKey } from "hookproof/jwks";
 *
 * const keySet = createKeySet([await generateKey({ alg: "ES256" })]);
 * (await keySet.publicJwks()).keys.length; // 1
 * ```
 */
export function createKeySet(source: readonly KeyRecord[] | KeyRecordSource): KeySet {
  let last: { records: readonly KeyRecord[]; document: Jwks } | undefined;
  if (!Array.isArray(source) && typeof (source as Partial<KeyRecordSource> | undefined)?.load !== "function")
    throw new TypeError("createKeySet takes a list of keys, or an object with the method load");
  const load = "load" in source ? () => source.load() : async () => source;
  return {
    async publicJwks() {
      const records = await load();
      if (last?.records === records) return last.document;
      const document = documentOf(records);
      // An array that is not frozen may be changed in place.
      if (Object.isFrozen(records)) last = { records, document };
      return document;
    },
    async signingKey(alg) {
      const record = (await load()).find((one) => one.alg === alg && one.state === "active");
      if (!record) throw new HookproofError("KEY_NOT_FOUND", `The key set has no active key for ${alg}.`);
      return { key: record.privateJwk, kid: record.kid, alg };
    },
  };
}

/** The document is frozen, so that a host can see by its identity that nothing has changed. */
function documentOf(records: readonly KeyRecord[]): Jwks {
  const published = records.filter(({ state }) => state !== "removed");
  if (new Set(published.map(({ kid }) => kid)).size < published.length)
    throw new HookproofError("KEY_SET_INVALID", "The key set has two keys with one kid.");
  const keys = published.map((record) => Object.freeze(publicJwkOf(record.publicJwk, record)));
  return Object.freeze({ keys: Object.freeze(keys) });
}
