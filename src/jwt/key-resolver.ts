import type { CryptoKey } from "jose";
import type { Algorithm } from "./key.js";

/** The key a token's `kid` and `alg` point at, or why there is none. */
export type ResolvedKey =
  | { readonly ok: true; readonly key: CryptoKey }
  | {
      readonly ok: false;
      readonly code: "KEY_NOT_FOUND" | "KEY_SET_UNAVAILABLE" | "KEY_SET_INVALID";
      /** Private detail for the receiver's own log. */
      readonly detail: string;
    };

/**
 * Finds the public key for a token. `fixedKeys` and `remoteKeys` of `hookproof/jwks` make one
 * (specification 5.2, JWT method, step 3).
 */
export interface KeyResolver {
  resolve(kid: string, alg: Algorithm | "Ed25519"): Promise<ResolvedKey>;
}
