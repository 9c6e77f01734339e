// Makes, hashes and compares client secrets.
import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";

const derive = promisify(scrypt) as (
  secret: string,
  salt: Uint8Array,
  length: number,
  options: ScryptOptions,
) => Promise<Buffer>;

/** 16 MiB for each guess. */
const COST = { N: 16_384, r: 8, p: 1 };
const LENGTH = 32;

/** A new client secret, 256 bit. */
export function newClientSecret(): string {
  return randomBytes(32).toString("base64url");
}

/** What is stored of a client secret: salt and scrypt hash. */
export async function hashClientSecret(secret: string): Promise<string> {
  const salt = randomBytes(16);
  const hash = await derive(secret, salt, LENGTH, COST);
  return `${salt.toString("base64url")}.${hash.toString("base64url")}`;
}

/**
 * Whether a secret is the one that was hashed. Without a hash it is not, and that takes as long: whether there is
 * such a client does not show.
 */
export async function isClientSecret(secret: string, stored: string | undefined): Promise<boolean> {
  const [salt = "", hash = ""] = (stored ?? ".").split(".");
  const derived = await derive(secret, Buffer.from(salt, "base64url"), LENGTH, COST);
  const expected = stored === undefined ? Buffer.alloc(LENGTH) : Buffer.from(hash, "base64url");
  return timingSafeEqual(derived, expected) && stored !== undefined;
}
