import { HookproofError } from "../errors.js";
import type { KeyResolver } from "../jwt/key-resolver.js";
import type { Jwks } from "./key-set.js";
import { type KeyRules, verificationKeys } from "./verification-keys.js";

/**
 * A resolver over a key set that you have at hand.
 *
 * @throws {HookproofError} KEY_SET_INVALID, for instance when the set has a private member
 *
 * @example
 * ```ts
 * import { createKeySet, fixedKeys, generateKey } from "hookproof/jwks";
 *
 * const keySet = createKeySet([await generateKey({ alg: "RS256" })]);
 * const keys = fixedKeys(await keySet.publicJwks());
 * ```
 */
export function fixedKeys(jwks: Jwks, rules: KeyRules = {}): KeyResolver {
  const keys = verificationKeys(jwks, rules);
  if (typeof keys === "string") throw new HookproofError("KEY_SET_INVALID", `The key set has ${keys}.`);
  return { resolve: (kid, alg) => keys.find(kid, alg) };
}
