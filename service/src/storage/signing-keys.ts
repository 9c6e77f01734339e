// The service's signing keys in the database.
import type { KeyTimes } from "hookproof/jwks";
import type { Database } from "./database.js";

/** A key the service signs access tokens with, as it is stored. */
export interface StoredKey extends KeyTimes {
  readonly kid: string;
  /** The private JWK as JSON. */
  readonly privateJwk: string;
}

/** The service's own signing keys. */
export interface SigningKeys {
  all(): StoredKey[];
  /** Replaces them all, at once. */
  replace(keys: readonly StoredKey[]): void;
}

interface KeyRow {
  kid: string;
  created_at: number;
  signs_at: number | null;
  retires_at: number | null;
  removes_at: number | null;
  private_jwk: string;
}

/** The signing keys of a database. */
export function signingKeys(db: Database): SigningKeys {
  const select = db.prepare("SELECT * FROM signing_keys ORDER BY created_at, kid");
  const insert = db.prepare(`INSERT INTO signing_keys
    (kid, created_at, signs_at, retires_at, removes_at, private_jwk) VALUES (?, ?, ?, ?, ?, ?)`);
  return {
    all: () =>
      (select.all() as KeyRow[]).map((row) => ({
        kid: row.kid,
        createdAt: row.created_at,
        signsAt: row.signs_at ?? undefined,
        retiresAt: row.retires_at ?? undefined,
        removesAt: row.removes_at ?? undefined,
        privateJwk: row.private_jwk,
      })),
    replace: (keys) =>
      db.transaction(() => {
        db.exec("DELETE FROM signing_keys");
        for (const { kid, createdAt, signsAt, retiresAt, removesAt, privateJwk } of keys) {
          insert.all(kid, createdAt, signsAt ?? null, retiresAt ?? null, removesAt ?? null, privateJwk);
        }
      }),
  };
}
