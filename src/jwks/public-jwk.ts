import type { JWK } from "jose";
import type { Algorithm } from "../jwt/key.js";

/**
 * What a key set shows of a key. The members are named one by one, so that a private one cannot slip through
 * by a name nobody thought of.
 */
export function publicJwk(jwk: JWK, { kid, alg }: { kid: string; alg: Algorithm }): JWK {
  const { kty, n, e, crv, x, y } = jwk;
  const members = { kty, n, e, crv, x, y };
  const present = Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
  return { ...(present as unknown as JWK), use: "sig", kid, alg };
}
