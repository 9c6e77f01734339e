import type { CryptoKey, JWK } from "jose";
import type { Algorithm } from "../jwt/key.js";
import { importPublicKey } from "../jwt/key.js";
import type { ResolvedKey } from "../jwt/key-resolver.js";
import { shown } from "../protocol/check.js";

/** A key set has at most this many keys. */
export const MAX_KEYS = 50;

/** The private and symmetric members of every kind of key (RFC 7518 section 6, and `priv` of AKP keys). */
export const PRIVATE_MEMBERS = ["d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"];

/** What a key must say of itself. */
export interface KeyRules {
  /** Accept keys that lack `use` or `alg`; one that says something else is skipped all the same. */
  readonly lenient?: boolean | undefined;
}

/** The usable keys of a key set document. */
export interface VerificationKeys {
  find(kid: string, alg: Algorithm | "Ed25519"): Promise<ResolvedKey>;
}

/** Reads a key set as a stranger's input; a text says why the whole set is refused. */
export function verificationKeys(document: unknown, rules: KeyRules): VerificationKeys | string {
  const keys = keysOf(document);
  if (typeof keys === "string") return keys;
  const imported = new Map<string, Promise<CryptoKey | undefined>>();

  return {
    async find(kid, alg) {
      const named = keys.filter((key) => key.kid === kid);
      const [jwk] = named;
      if (jwk === undefined) return notFound(`no key with kid ${shown(kid)}`);
      if (named.length > 1) return notFound(`kid ${shown(kid)} stands ${named.length} times`);
      const unfit = unfitness(jwk, alg, rules);
      if (unfit) return notFound(`kid ${shown(kid)} has ${unfit}`);
      const keyAlg = alg === "Ed25519" ? "EdDSA" : alg;
      // By algorithm as well: a token that names another one must not spoil a lenient key for the others.
      const name = `${keyAlg} ${kid}`;
      let key = imported.get(name);
      if (!key) {
        key = importPublicKey(publicMaterial(jwk), keyAlg).catch(() => undefined);
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
  if (!Array.isArray(keys)) return "no list of keys";
  if (keys.length > MAX_KEYS) return `more than ${MAX_KEYS} keys`;
  const objects = keys.filter(
    (key): key is JWK => typeof key === "object" && key !== null && !Array.isArray(key),
  );
  const secret = objects.flatMap((key) => PRIVATE_MEMBERS.filter((name) => Object.hasOwn(key, name)))[0];
  if (secret !== undefined) return `a private or symmetric key (member ${secret})`;
  return objects.some(({ kty }) => kty === "oct") ? "a symmetric key (kty oct)" : objects;
}

function unfitness(jwk: JWK, alg: string, { lenient = false }: KeyRules): string | undefined {
  const algs: unknown[] = alg === "Ed25519" ? ["EdDSA", "Ed25519"] : [alg];
  if (jwk.use !== "sig" && !(lenient && jwk.use === undefined)) return `use ${shown(jwk.use)}`;
  if (!algs.includes(jwk.alg) && !(lenient && jwk.alg === undefined))
    return `alg ${shown(jwk.alg)}, and the token ${alg}`;
  if (jwk.key_ops !== undefined && !(Array.isArray(jwk.key_ops) && jwk.key_ops.includes("verify")))
    return "key_ops without verify";
  return undefined;
}

/** Only what makes the key: `ext`, `key_ops`, `x5c` and the like are not for the importer to act on. */
export function publicMaterial({ kty, n, e, crv, x, y }: JWK): JWK {
  return { kty, n, e, crv, x, y } as JWK;
}
