import type { JWK } from "jose";
import { HookproofError } from "../errors.js";
import type { Algorithm, SigningKey } from "../jwt/key.js";
import type { KeyRecord } from "./key-record.js";
import { publicJwk } from "./public-jwk.js";

/** The document a JWKS host serves (RFC 7517 section 5). */
export interface Jwks {
  readonly keys: readonly JWK[];
}

/** Where the records of a key set are kept; `openKeyStore` of `hookproof/node` keeps them on disk. */
export interface KeyRecordSource {
  /** The records with their states of this moment. A frozen array is taken as unchanged when it is given again. */
  load(): Promise<readonly KeyRecord[]>;
}

/** Keys under one roof: what is published, and what signs. */
export interface KeySet {
  /**
   * The public document: next, active and retired keys, never a private member, never two keys with one kid
   * (KEY_SET_INVALID).
   */
  publicJwks(): Promise<Jwks>;
  /** The active key of an algorithm, for `jwtSigner(() => keySet.signingKey("ES256"))`. */
  signingKey(alg: Algorithm): Promise<SigningKey>;
}

/**
 * A key set over records or over whatever keeps them; the state is read anew for every answer.
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
  const load = "load" in source ? () => source.load() : async () => source;
  return {
    async publicJwks() {
      const records = await load();
      if (last?.records === records) return last.document;
      const document = documentOf(records);
      // A list that is not frozen may be changed in place.
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

/** Frozen, so that whoever serves it may tell by the object alone that nothing has changed. */
function documentOf(records: readonly KeyRecord[]): Jwks {
  const published = records.filter(({ state }) => state !== "removed");
  if (new Set(published.map(({ kid }) => kid)).size < published.length)
    throw new HookproofError("KEY_SET_INVALID", "The key set has two keys with one kid.");
  const keys = published.map((record) => Object.freeze(publicJwk(record.publicJwk, record)));
  return Object.freeze({ keys: Object.freeze(keys) });
}
