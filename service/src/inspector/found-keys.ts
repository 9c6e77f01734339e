// Remembers the keys a resolver found, so that they can be shown.
import { createHash, KeyObject } from "node:crypto";
import type { KeyResolver } from "hookproof/jwks";

/** A key of a key set, as the page names it. */
interface FoundKey {
  readonly kid: string;
  readonly alg: string;
  /** RFC 7638, where the key can be read. */
  readonly thumbprint?: string;
}

/** A resolver that remembers what it found, so that nothing is looked up again only to be shown. */
interface RememberingKeys extends KeyResolver {
  /** The key that was found for a kid last. */
  found(kid: string): FoundKey | undefined;
}

/** A key set has at most 50 keys; a resolver of somebody else's may know more. */
const MAX = 200;

/** Wraps a resolver of keys. */
export function rememberingKeys(keys: KeyResolver): RememberingKeys {
  const found = new Map<string, FoundKey>();
  return {
    async resolve(kid, alg) {
      const resolved = await keys.resolve(kid, alg);
      if (resolved?.ok) {
        if (found.size >= MAX) found.clear();
        found.set(kid, { kid, alg, ...thumbprintOf(resolved.key) });
      }
      return resolved;
    },
    found: (kid) => found.get(kid),
  };
}

/** The members that RFC 7638 hashes, in its order. */
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  RSA: ["e", "kty", "n"],
  EC: ["crv", "kty", "x", "y"],
  OKP: ["crv", "kty", "x"],
};

function thumbprintOf(key: unknown): Pick<FoundKey, "thumbprint"> {
  try {
    const jwk = KeyObject.from(key as never).export({ format: "jwk" }) as Record<string, unknown>;
    const members = (MEMBERS[String(jwk.kty)] ?? []).map((name) => [name, jwk[name]]);
    const canonical = JSON.stringify(Object.fromEntries(members));
    return { thumbprint: createHash("sha256").update(canonical).digest("base64url") };
  } catch {
    // A key that may not be exported has no thumbprint to show.
    return {};
  }
}
