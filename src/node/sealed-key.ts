import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from "node:crypto";
import type { JWK } from "../jwks/key-record.js";

/** A private key under a passphrase, as it stands in the file; the texts are base64url. */
export interface SealedKey {
  readonly kdf: "scrypt";
  /** The cost of one guess: 128 * N * r bytes of memory, and as much work. */
  readonly N: number;
  readonly r: number;
  readonly p: number;
  readonly salt: string;
  readonly cipher: "aes-256-gcm";
  readonly iv: string;
  readonly data: string;
  readonly tag: string;
}

/** OWASP's parameters of 2024: 128 MiB, and a third of a second on a machine of that time. */
const COST = { N: 2 ** 17, r: 8, p: 1 } as const;
/** Nobody else writes the file; a damaged number must not ask for all the memory there is. */
const MOST_N = 2 ** 20;

/** Seals and opens private keys under one passphrase. */
export interface Sealing {
  /** Under the salt of another key of the store, so that one passphrase is stretched once. */
  seal(jwk: JWK, kid: string, beside: SealedKey | undefined): SealedKey;
  /** @throws for another passphrase, another kid, or bytes that were changed */
  open(sealed: SealedKey, kid: string): JWK;
}

/** Stretches the passphrase when it is first needed; what comes of it is kept for as long as the store is open. */
export function sealing(passphrase: string): Sealing {
  const stretched = new Map<string, Buffer>();

  function keyFor({ N, r, p, salt }: Pick<SealedKey, "N" | "r" | "p" | "salt">): Buffer {
    const name = `${N} ${r} ${p} ${salt}`;
    let key = stretched.get(name);
    if (!key) {
      // Twice what it takes: the default would refuse it.
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
        ...{ kdf: "scrypt", N, r, p, salt, cipher: "aes-256-gcm" },
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

/** Whether a value of the file is a sealed key, as far as can be seen without opening it. */
export function isSealedKey(value: unknown): value is SealedKey {
  if (typeof value !== "object" || value === null) return false;
  const { kdf, N, r, p, salt, cipher, iv, data, tag } = value as Record<string, unknown>;
  return (
    kdf === "scrypt" &&
    cipher === "aes-256-gcm" &&
    isCost(N, COST.N, MOST_N) &&
    isCost(r, COST.r, 32) &&
    isCost(p, COST.p, 16) &&
    [salt, iv, data, tag].every((text) => typeof text === "string")
  );
}

function isCost(value: unknown, least: number, most: number): boolean {
  return typeof value === "number" && Number.isInteger(value) && value >= least && value <= most;
}
