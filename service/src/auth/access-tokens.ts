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
const MAX_LIFETIME_SECONDS = 86_400;

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
export async function accessTokens(keys: SigningKeys, options: TokenSettings): Promise<AccessTokens> {
  const { lifetimeSeconds = TOKEN_LIFETIME_SECONDS, clock } = options;
  if (!Number.isInteger(lifetimeSeconds) || lifetimeSeconds < 1 || lifetimeSeconds > MAX_LIFETIME_SECONDS)
    throw new RangeError(`tokenLifetimeSeconds must be a whole number from 1 to ${MAX_LIFETIME_SECONDS}`);
  if (keys.all().length === 0) keys.replace([await newKey("active", clock)]);
  return new TenantTokens(keys, { ...options, lifetimeSeconds });
}

interface TokenSettings {
  readonly tenant: string;
  readonly issuer: () => string;
  readonly clock: Clock;
  readonly lifetimeSeconds?: number | undefined;
}

class TenantTokens implements AccessTokens {
  readonly lifetimeSeconds: number;
  readonly #keys: SigningKeys;
  readonly #tenant: string;
  readonly #issuer: () => string;
  readonly #clock: Clock;
  readonly #verified = new Map<string, { clientId: string; expiresAt: number }>();
  readonly #imported = new Map<string, CryptoKey>();
  #stored: StoredKey[];

  constructor(
    keys: SigningKeys,
    { tenant, issuer, clock, lifetimeSeconds }: TokenSettings & { readonly lifetimeSeconds: number },
  ) {
    this.#keys = keys;
    this.#tenant = tenant;
    this.#issuer = issuer;
    this.#clock = clock;
    this.lifetimeSeconds = lifetimeSeconds;
    this.#stored = keys.all();
  }

  publicKeys(): JWK[] {
    return this.#stored
      .filter((key) => stateAt(key, this.#clock.now()) !== "removed")
      .map(({ kid, privateJwk }) => {
        const { kty, crv, x } = JSON.parse(privateJwk) as JWK;
        return { kty, crv, x, kid, alg: "EdDSA", use: "sig" } as JWK;
      });
  }

  async issue(clientId: string, expiresInSeconds = this.lifetimeSeconds): Promise<string> {
    const now = Math.floor(this.#clock.now() / 1000);
    const stored = this.#stored;
    const key = stored.find((one) => stateAt(one, this.#clock.now()) === "active") ?? stored.at(-1);
    if (!key) throw new Error("there is no key to sign with");
    return (
      new SignJWT({ client_id: clientId })
        .setProtectedHeader({ alg: "EdDSA", kid: key.kid, typ: "at+jwt" })
        .setIssuer(this.#issuer())
        .setAudience(this.#tenant)
        .setSubject(clientId)
        .setJti(newId())
        .setIssuedAt(now)
        // Not a moment less than the client is told: it counts from when it asked.
        .setExpirationTime(Math.ceil(this.#clock.now() / 1000) + expiresInSeconds)
        .sign(await this.#keyOf(key, "private"))
    );
  }

  async clientOf(token: string): Promise<string | undefined> {
    const now = this.#clock.now();
    const verified = this.#verified;
    const digest = createHash("sha256").update(token).digest("base64");
    const known = verified.get(digest);
    if (known) {
      if (known.expiresAt > now) return known.clientId;
      verified.delete(digest);
    }
    try {
      const { payload } = await jwtVerify(token, ({ kid }) => this.#verificationKey(kid), {
        algorithms: ["EdDSA"],
        typ: "at+jwt",
        audience: this.#tenant,
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
  }

  async rotate(): Promise<void> {
    const next = await newKey("next", this.#clock);
    const waiting = [...this.#stored, next].map((key) => ({ ...key, alg: "EdDSA" as const }));
    const now = this.#clock.now();
    const planned = planRotation(waiting, "EdDSA", { now, maxAgeSeconds: 0, immediately: true }) ?? waiting;
    // The key that has just been retired verifies for as long as a token of it may live.
    const until = now + this.lifetimeSeconds * 1000 + SKEW_MS;
    const kept = planned
      .filter((key) => stateAt(key, now) !== "removed")
      .map((key) => (key.retiresAt === now ? { ...key, removesAt: until } : key));
    this.#keys.replace(kept);
    this.#stored = this.#keys.all();
  }

  async #verificationKey(kid: string | undefined): Promise<CryptoKey> {
    const key = this.#stored.find((one) => one.kid === kid && stateAt(one, this.#clock.now()) !== "removed");
    if (!key) throw new errors.JWKSNoMatchingKey();
    return this.#keyOf(key, "public");
  }

  async #keyOf({ kid, privateJwk }: StoredKey, half: "private" | "public"): Promise<CryptoKey> {
    const name = `${half} ${kid}`;
    const known = this.#imported.get(name);
    if (known) return known;
    const { d, key_ops: _, ...jwk } = JSON.parse(privateJwk) as JWK;
    const key = (await importJWK(half === "private" ? ({ ...jwk, d } as JWK) : jwk, "EdDSA")) as CryptoKey;
    this.#imported.set(name, key);
    return key;
  }
}

async function newKey(state: "active" | "next", clock: Clock): Promise<StoredKey> {
  const { privateJwk, publicJwk: _, ...key } = await generateKey({ alg: "EdDSA", state, clock });
  return { ...key, privateJwk: JSON.stringify(privateJwk) };
}
