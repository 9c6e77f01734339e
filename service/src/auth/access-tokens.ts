// Makes and checks access tokens.
import { createHash } from "node:crypto";
import type { Clock } from "hookproof";
import { generateKey } from "hookproof/jwks";
import { planRotation, stateAt } from "hookproof/jwks/rotation";
import { type CryptoKey, errors, importJWK, type JWK, jwtVerify, SignJWT } from "jose";
import { newId } from "../storage/ids.js";
import type { SigningKeys, StoredKey } from "../storage/signing-keys.js";

/** Seconds an access token lives by default: published clients keep one for an hour and do not renew it on a 401. */
const TOKEN_LIFETIME_SECONDS = 3_600;

/** A day. Longer ones would outlive the keys of a rotation by too much. */
const MOST_LIFETIME_SECONDS = 86_400;

/** How long a replaced key verifies at least, and beyond the tokens it signed: clocks differ. */
const SKEW_MS = 5 * 60_000;

/** How many tokens are remembered as verified. */
const REMEMBERED = 1_000;

/** Access tokens: EdDSA JWTs of the service's own key. */
export interface AccessTokens {
  /** The public halves of the keys whose tokens are good, as JWKs. */
  publicKeys(): JWK[];
  /** Seconds a token lives, unless it is issued for less. */
  readonly lifetimeSeconds: number;
  issue(clientId: string, expiresInSeconds?: number): Promise<string>;
  /** The client of a token that is good; `undefined` for any other. */
  clientOf(token: string): Promise<string | undefined>;
  /** Signs with a new key from now on; tokens of the old one stay good until they expire. */
  rotate(): Promise<void>;
}

/**
 * The access tokens of one tenant, whose keys are in the database. Their issuer is the service's address, for others
 * who verify them; the service itself looks at the tenant, which stays when its port changes.
 *
 * @throws {RangeError} for a lifetime that is not whole seconds from 1 to 86,400
 */
export async function accessTokens(
  keys: SigningKeys,
  {
    tenant,
    issuer,
    clock,
    lifetimeSeconds = TOKEN_LIFETIME_SECONDS,
  }: { tenant: string; issuer: () => string; clock: Clock; lifetimeSeconds?: number | undefined },
): Promise<AccessTokens> {
  if (!Number.isInteger(lifetimeSeconds) || lifetimeSeconds < 1 || lifetimeSeconds > MOST_LIFETIME_SECONDS)
    throw new RangeError(`tokenLifetimeSeconds must be a whole number from 1 to ${MOST_LIFETIME_SECONDS}`);
  const verified = new Map<string, { clientId: string; expiresAt: number }>();
  const imported = new Map<string, CryptoKey>();
  const keyOf = async ({ kid, privateJwk }: StoredKey, half: "private" | "public") => {
    const name = `${half} ${kid}`;
    const known = imported.get(name);
    if (known) return known;
    const { d, key_ops: _, ...jwk } = JSON.parse(privateJwk) as JWK;
    const key = (await importJWK(half === "private" ? ({ ...jwk, d } as JWK) : jwk, "EdDSA")) as CryptoKey;
    imported.set(name, key);
    return key;
  };
  const newKey = async (state: "active" | "next"): Promise<StoredKey> => {
    const { privateJwk, publicJwk: _, ...key } = await generateKey({ alg: "EdDSA", state, clock });
    return { ...key, privateJwk: JSON.stringify(privateJwk) };
  };
  if (keys.all().length === 0) keys.replace([await newKey("active")]);
  let stored = keys.all();
  const keyFor = async (kid: string | undefined) => {
    const key = stored.find((one) => one.kid === kid && stateAt(one, clock.now()) !== "removed");
    if (!key) throw new errors.JWKSNoMatchingKey();
    return keyOf(key, "public");
  };

  return {
    lifetimeSeconds,
    publicKeys: () =>
      stored
        .filter((key) => stateAt(key, clock.now()) !== "removed")
        .map(({ kid, privateJwk }) => {
          const { kty, crv, x } = JSON.parse(privateJwk) as JWK;
          return { kty, crv, x, kid, alg: "EdDSA", use: "sig" } as JWK;
        }),
    async issue(clientId, expiresInSeconds = lifetimeSeconds) {
      const now = Math.floor(clock.now() / 1000);
      const key = stored.find((one) => stateAt(one, clock.now()) === "active") ?? stored.at(-1);
      if (!key) throw new Error("there is no key to sign with");
      return (
        new SignJWT({ client_id: clientId })
          .setProtectedHeader({ alg: "EdDSA", kid: key.kid, typ: "at+jwt" })
          .setIssuer(issuer())
          .setAudience(tenant)
          .setSubject(clientId)
          .setJti(newId())
          .setIssuedAt(now)
          // Not a moment less than the client is told: it counts from when it asked.
          .setExpirationTime(Math.ceil(clock.now() / 1000) + expiresInSeconds)
          .sign(await keyOf(key, "private"))
      );
    },
    async clientOf(token) {
      const now = clock.now();
      const digest = createHash("sha256").update(token).digest("base64");
      const known = verified.get(digest);
      if (known) {
        if (known.expiresAt > now) return known.clientId;
        verified.delete(digest);
      }
      try {
        const { payload } = await jwtVerify(token, ({ kid }) => keyFor(kid), {
          algorithms: ["EdDSA"],
          typ: "at+jwt",
          audience: tenant,
          requiredClaims: ["sub", "exp"],
          currentDate: new Date(now),
        });
        const clientId = payload.sub as string;
        const [oldest] = verified.keys();
        if (verified.size >= REMEMBERED && oldest !== undefined) verified.delete(oldest);
        verified.set(digest, { clientId, expiresAt: (payload.exp as number) * 1000 });
        return clientId;
      } catch (error) {
        if (error instanceof errors.JOSEError) return undefined;
        throw error;
      }
    },
    async rotate() {
      const waiting = [...stored, await newKey("next")].map((key) => ({ ...key, alg: "EdDSA" as const }));
      const now = clock.now();
      const planned = planRotation(waiting, "EdDSA", { now, maxAgeSeconds: 0, immediately: true }) ?? waiting;
      // The key that has just been retired verifies for as long as a token of it may live.
      const until = now + lifetimeSeconds * 1000 + SKEW_MS;
      const kept = planned
        .filter((key) => stateAt(key, now) !== "removed")
        .map((key) => (key.retiresAt === now ? { ...key, removesAt: until } : key));
      keys.replace(kept);
      stored = keys.all();
    },
  };
}
