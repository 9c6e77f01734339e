// Reads the usable keys of a key set from an untrusted source.

import type { CryptoKey } from "jose";
import { HookproofError } from "../core/errors.js";
import { isObject } from "../core/json.js";
import { checkOptions } from "../core/options.js";
import { shown } from "../core/shown.js";
import type { Algorithm } from "../jwt/algorithms.js";
import { importPublicKey, type JWK, PRIVATE_MEMBERS, publicMembers } from "../jwt/key.js";
import type { KeyResolver, ResolvedKey } from "../jwt/verify.js";
import type { Jwks } from "./key-set.js";
import { MAX_KEY_SET_KEYS, wordsOfShape } from "./key-set-shape.js";

/** Which keys of a key set are used. */
export interface KeyRules {
  /** Use keys without `use` or `alg` as well. A key with another `use` or `alg` is not used in any case. */
  readonly lenient?: boolean | undefined;
}

/**
 * A resolver over a key set that you have at hand; `remoteKeys` fetches one.
 *
 * @throws {HookproofError} KEY_SET_INVALID, for instance if the set has a private member
 *
 * @example
 * ```ts
 * import { createKeySet, generateKey, localKeys } from "hookproof/jwks";
 *
 * const keySet = createKeySet([await generateKey({ alg: "RS256" })]);
 * const keys = localKeys(await keySet.publicJwks());
 * ```
 */
export function localKeys(jwks: Jwks, rules: KeyRules = {}): KeyResolver {
  checkOptions("localKeys", rules, { lenient: "boolean" });
  const keys = verificationKeys(jwks, rules);
  if (typeof keys === "string") throw new HookproofError("KEY_SET_INVALID", `The key set has ${keys}.`);
  return { resolve: (kid, alg) => keys.find(kid, alg) };
}

/** The usable keys of a key set document. */
export interface VerificationKeys {
  find(kid: string, alg: Algorithm | "Ed25519"): Promise<ResolvedKey>;
}

/** Reads a key set from an untrusted source. A text as the result says why the whole set is refused. */
export function verificationKeys(document: unknown, rules: KeyRules): VerificationKeys | string {
  const keys = keysOf(document);
  if (typeof keys === "string") return keys;
  const imported = new Map<string, Promise<CryptoKey | undefined>>();

  return {
    async find(kid, alg) {
      const named = keys.filter((key) => key.kid === kid);
      if (named.length === 0) return notFound(`no key with kid ${shown(kid)}`);
      // A kid may stand twice where use or alg tells the keys apart (RFC 7517, 4.5).
      const [jwk, second] = named.filter((key) => unfitness(key, alg, rules) === undefined);
      if (second) return notFound(`kid ${shown(kid)} occurs ${named.length} times`);
      if (jwk === undefined)
        return notFound(`kid ${shown(kid)} has ${unfitness(named[0] as JWK, alg, rules)}`);
      const keyAlg = alg === "Ed25519" ? "EdDSA" : alg;
      // The algorithm is part of the name: a failed import for one must not block a lenient key for the others.
      const name = `${keyAlg} ${kid}`;
      let key = imported.get(name);
      if (!key) {
        key = importPublicKey(publicMembers(jwk), keyAlg).catch(() => undefined);
        imported.set(name, key);
      }
      const ready = await key;
      return ready
        ? { ok: true, key: ready }
        : notFound(`kid ${shown(kid)} has a key that does not fit ${alg}`);
    },
  };
}

function notFound(detail: string): ResolvedKey {
  return { ok: false, code: "KEY_NOT_FOUND", detail };
}

function keysOf(document: unknown): readonly JWK[] | string {
  const keys =
    typeof document === "object" && document !== null && "keys" in document ? document.keys : undefined;
  if (!Array.isArray(keys)) return `no list of keys${wordsOfShape(document)}`;
  if (keys.length > MAX_KEY_SET_KEYS) return `more than ${MAX_KEY_SET_KEYS} keys`;
  const objects = keys.filter(isKey);
  const secret = objects.flatMap((key) => PRIVATE_MEMBERS.filter((name) => Object.hasOwn(key, name)))[0];
  if (secret !== undefined) return `a private or symmetric key (member ${secret})`;
  return objects.some(({ kty }) => kty === "oct") ? "a symmetric key (kty oct)" : objects;
}

/** Whether a member of a key set is an object, whatever it holds. */
export function isKey(value: unknown): value is JWK {
  return isObject(value);
}

function unfitness(jwk: JWK, alg: string, { lenient = false }: KeyRules): string | undefined {
  const algs: unknown[] = alg === "Ed25519" ? ["EdDSA", "Ed25519"] : [alg];
  if (jwk.use !== "sig" && !(lenient && jwk.use === undefined)) return `use ${shown(jwk.use)}`;
  if (!algs.includes(jwk.alg) && !(lenient && jwk.alg === undefined))
    return `alg ${shown(jwk.alg)}, and not ${alg}`;
  if (jwk.key_ops !== undefined && !(Array.isArray(jwk.key_ops) && jwk.key_ops.includes("verify")))
    return "key_ops without verify";
  return undefined;
}
