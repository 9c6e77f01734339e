// Says why a private key is unfit, and repeats nothing of it.
import type { JWK } from "jose";
import { HookproofError } from "../core/errors.js";

/** What is said of an encrypted key where no passphrase can be given. */
export const DECRYPT_FIRST =
  "is encrypted; decrypt it first: openssl pkey -in key.pem -out decrypted.pem (it asks for the passphrase)";

/** A name in a key as it may be shown. What is too long for one may be a part of a private key, in the wrong place. */
export function nameIn(value: unknown): unknown {
  return value === undefined || (typeof value === "string" && /^[\w-]{1,16}$/.test(value)) ? value : "…";
}

/** An unfit key of which the algorithm does not matter. */
export function unfitKey(reason: string): HookproofError {
  return new HookproofError("KEY_UNFIT", `The key ${reason}.`);
}

/**
 * Refuses a key that says itself that it is for something else: a listener would not take what it signs.
 *
 * @throws {HookproofError} KEY_UNFIT with the member that says so
 */
export function checkUse({ use = "sig", key_ops: ops = ["sign"] }: JWK): void {
  const other = use !== "sig" ? "use" : Array.isArray(ops) && ops.includes("sign") ? "" : "key_ops";
  if (other) throw unfitKey(`is not for signing (${other})`);
}

/** The kind of a JWK as it says it itself. */
export function kindOf({ kty, crv }: JWK): string {
  return [kty, crv]
    .filter((name) => name !== undefined)
    .map(nameIn)
    .join(" ");
}
