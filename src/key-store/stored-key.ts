// Keys as the file of a key store holds them.

import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from "node:crypto";
import { HookproofError } from "../core/errors.js";
import { isObject } from "../core/json.js";
import { shownAs } from "../core/shown.js";
import type { KeyRecord } from "../jwks/key-set.js";
import {
  DEFAULT_MAX_AGE_SECONDS,
  type KeyLife,
  type KeyState,
  lifeCycleFault,
  stateAt,
} from "../jwks/life-cycle.js";
import { isAlgorithm } from "../jwt/algorithms.js";
import type { JWK } from "../jwt/key.js";
import { isStorableKid } from "./material.js";

/** A key as the file holds it. A removed key has only its id, its algorithm and its times. */
export interface StoredKey extends KeyLife {
  readonly publicJwk?: JWK;
  readonly privateJwk?: JWK;
  /** The private key, encrypted under the store's passphrase; instead of `privateJwk`. */
  readonly sealedPrivateKey?: SealedKey;
  /** When the key was asked to sign as soon as its publication is proved; only in a store with `publishedTo`. */
  readonly askedAt?: number;
}

/** The content of the file. */
export interface StoredKeys {
  /** How long the host lets listeners keep the set; rotations in every process wait for it. */
  readonly maxAgeSeconds: number;
  /** The URL that `publishKeySet` proves the set at; no key is rotated in without that proof. */
  readonly publishedTo?: string;
  readonly keys: readonly StoredKey[];
}

/** The version of the file's format. */
export const VERSION = 1;

/** Reads the content of the file; without a file the store is empty. */
export function parseStoredKeys(text: string | undefined, path: string): StoredKeys {
  if (text === undefined) return { maxAgeSeconds: DEFAULT_MAX_AGE_SECONDS, keys: [] };
  let stored: { version?: unknown; maxAgeSeconds?: unknown; publishedTo?: unknown; keys?: unknown } | null;
  try {
    stored = JSON.parse(text);
  } catch {
    throw invalid(path, "is not JSON: it is damaged or half-written");
  }
  const version = stored?.version;
  if (typeof version === "number" && version > VERSION) {
    throw new HookproofError(
      "KEY_STORE_NEWER",
      `${path} is of version ${version}, and this one reads version ${VERSION}; nothing was changed.`,
    );
  }
  if (version !== VERSION || !Array.isArray(stored?.keys)) throw invalid(path, "is not a key store");
  const { maxAgeSeconds = DEFAULT_MAX_AGE_SECONDS } = stored;
  if (!Number.isSafeInteger(maxAgeSeconds) || (maxAgeSeconds as number) < 0)
    throw invalid(path, "has no valid maxAgeSeconds");
  const { publishedTo } = stored;
  if (publishedTo !== undefined && typeof publishedTo !== "string")
    throw invalid(path, "has no valid publishedTo");
  const keys: readonly unknown[] = stored.keys;
  const bad = keys.findIndex((key) => !isStoredKey(key));
  if (bad >= 0) throw invalid(path, `has a key, number ${bad + 1}, that is not one`);
  const fault = lifeCycleFault(keys as StoredKey[]);
  if (fault) throw invalid(path, `has ${fault}`);
  return {
    maxAgeSeconds: maxAgeSeconds as number,
    ...(publishedTo === undefined ? {} : { publishedTo }),
    keys: keys as StoredKey[],
  };
}

function isStoredKey(value: unknown): value is StoredKey {
  if (!isObject(value)) return false;
  const { kid, alg, createdAt, signsAt, retiresAt, removesAt, askedAt } = value;
  const isNamed = isStorableKid(kid) && isAlgorithm(alg);
  const isTimed =
    Number.isFinite(createdAt) &&
    [signsAt, retiresAt, removesAt, askedAt].every((time) => time === undefined || Number.isFinite(time));
  const { publicJwk, privateJwk, sealedPrivateKey } = value;
  const hasKey = isObject(publicJwk) && (isObject(privateJwk) || isSealedKey(sealedPrivateKey));
  const isErased = publicJwk === undefined && privateJwk === undefined && sealedPrivateKey === undefined;
  return isNamed && isTimed && (hasKey || (isErased && removesAt !== undefined));
}

function invalid(path: string, reason: string): HookproofError {
  return new HookproofError("KEY_STORE_INVALID", `${path} ${reason}; nothing was changed.`);
}

/** A record as the file holds it, encrypted if the store has a passphrase. */
export function storedKey(
  { state: _, ...record }: KeyRecord,
  keys: readonly StoredKey[],
  seals: Sealing | undefined,
): StoredKey {
  if (!seals) return record;
  const { privateJwk, ...rest } = record;
  const beside = keys.find(({ sealedPrivateKey }) => sealedPrivateKey !== undefined)?.sealedPrivateKey;
  return { ...rest, sealedPrivateKey: seals.seal(privateJwk, record.kid, beside) };
}

/** A stored key as a record. With a passphrase, reading `privateJwk` decrypts it. */
export function recordOf(key: StoredKey, state: KeyState, seals: Sealing | undefined): KeyRecord {
  const { kid, alg, createdAt, signsAt, retiresAt, removesAt } = key;
  const publicJwk = key.publicJwk as JWK;
  const record = { kid, alg, state, createdAt, signsAt, retiresAt, removesAt, publicJwk };
  if (key.privateJwk) return { ...record, privateJwk: shownAs({ ...key.privateJwk }, "[redacted]") };
  let privateJwk: JWK | undefined;
  return {
    ...record,
    get privateJwk() {
      privateJwk ??= shownAs({ ...opened(key, seals), use: "sig", kid, alg }, "[redacted]");
      return privateJwk;
    },
  };
}

function opened({ kid, sealedPrivateKey }: StoredKey, seals: Sealing | undefined): JWK {
  if (!seals)
    throw new HookproofError(
      "KEY_STORE_PASSPHRASE",
      `The key ${JSON.stringify(kid)} is encrypted; the store's passphrase is needed.`,
    );
  try {
    return seals.open(sealedPrivateKey as SealedKey, kid);
  } catch {
    throw new HookproofError(
      "KEY_STORE_PASSPHRASE",
      `The key ${JSON.stringify(kid)} cannot be decrypted with this passphrase.`,
    );
  }
}

/** A store has one passphrase or none. A key under another one would be noticed only when it is needed to sign. */
export function checkPassphrase(keys: readonly StoredKey[], seals: Sealing | undefined): void {
  const sealed = keys.find(({ sealedPrivateKey }) => sealedPrivateKey !== undefined);
  if (sealed) opened(sealed, seals);
  if (seals && keys.some(({ privateJwk }) => privateJwk !== undefined))
    throw new HookproofError(
      "KEY_STORE_PASSPHRASE",
      "The keys of this store are not encrypted; a passphrase is for a new store.",
    );
}

/** Whether a key is removed and its material still in the file. */
export function isToErase(key: StoredKey, now: number): boolean {
  return key.publicJwk !== undefined && stateAt(key, now) === "removed";
}

/** The content without the material of removed keys. */
export function withoutRemoved(stored: StoredKeys, now: number): StoredKeys {
  const keys = stored.keys.map((key) => {
    if (!isToErase(key, now)) return key;
    const { publicJwk: _, privateJwk: __, sealedPrivateKey: ___, askedAt: ____, ...names } = key;
    return names;
  });
  return { ...stored, keys };
}

/** A private key, encrypted under a passphrase; the texts are base64url. */
interface SealedKey {
  readonly kdf: "scrypt";
  /** The cost of one guess of the passphrase: 128 * N * r bytes of memory, and work in proportion. */
  readonly N: number;
  readonly r: number;
  readonly p: number;
  readonly salt: string;
  readonly cipher: "aes-256-gcm";
  readonly iv: string;
  readonly data: string;
  readonly tag: string;
}

/** OWASP's parameters of 2024: 128 MiB, and about a third of a second. */
const COST = { N: 2 ** 17, r: 8, p: 1 } as const;
/** A damaged file must not make scrypt take all memory. */
const MAX_N = 2 ** 20;

/** Seals and opens private keys under one passphrase. */
export interface Sealing {
  /** Encrypts a key, with the salt of another key of the store, so that the passphrase is stretched only once. */
  seal(jwk: JWK, kid: string, beside: SealedKey | undefined): SealedKey;
  /** Decrypts a key; throws for another passphrase, another kid, or changed bytes. */
  open(sealed: SealedKey, kid: string): JWK;
}

/** Encryption under a passphrase. The passphrase is stretched at its first use; the result is kept in memory. */
export function createSealing(passphrase: string): Sealing {
  const stretched = new Map<string, Buffer>();

  function keyFor({ N, r, p, salt }: Pick<SealedKey, "N" | "r" | "p" | "salt">): Buffer {
    const name = `${N} ${r} ${p} ${salt}`;
    let key = stretched.get(name);
    if (!key) {
      // Twice the need; Node's default limit is too small.
      const maxmem = 256 * N * r;
      key = scryptSync(passphrase.normalize("NFC"), Buffer.from(salt, "base64url"), 32, { N, r, p, maxmem });
      stretched.set(name, key);
    }
    return key;
  }

  return {
    seal(jwk, kid, beside) {
      const { N, r, p, salt } = beside ?? { ...COST, salt: randomBytes(16).toString("base64url") };
      const iv = randomBytes(12);
      const cipher = createCipheriv("aes-256-gcm", keyFor({ N, r, p, salt }), iv).setAAD(Buffer.from(kid));
      const data = Buffer.concat([cipher.update(JSON.stringify(jwk), "utf8"), cipher.final()]);
      return {
        kdf: "scrypt",
        N,
        r,
        p,
        salt,
        cipher: "aes-256-gcm",
        iv: iv.toString("base64url"),
        data: data.toString("base64url"),
        tag: cipher.getAuthTag().toString("base64url"),
      };
    },
    open(sealed, kid) {
      const iv = Buffer.from(sealed.iv, "base64url");
      const decipher = createDecipheriv("aes-256-gcm", keyFor(sealed), iv, { authTagLength: 16 })
        .setAAD(Buffer.from(kid))
        .setAuthTag(Buffer.from(sealed.tag, "base64url"));
      const data = Buffer.concat([decipher.update(sealed.data, "base64url"), decipher.final()]);
      return JSON.parse(data.toString("utf8"));
    },
  };
}

/** Whether a value has the form of a sealed key, and a cost within the limits. */
function isSealedKey(value: unknown): value is SealedKey {
  if (typeof value !== "object" || value === null) return false;
  const { kdf, N, r, p, salt, cipher, iv, data, tag } = value as Record<string, unknown>;
  return (
    kdf === "scrypt" &&
    cipher === "aes-256-gcm" &&
    isCost(N, COST.N, MAX_N) &&
    isCost(r, COST.r, 32) &&
    isCost(p, COST.p, 16) &&
    [salt, iv, data, tag].every((text) => typeof text === "string")
  );
}

function isCost(value: unknown, min: number, max: number): boolean {
  return typeof value === "number" && Number.isInteger(value) && value >= min && value <= max;
}
