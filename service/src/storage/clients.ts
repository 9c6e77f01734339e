// Clients in the database.
import type { Principal, Role } from "../auth/principal.js";
import { type Database, first } from "./database.js";

/** A client of the service: a program that gets access tokens. */
export interface Client extends Principal {
  readonly createdAt: number;
  readonly displayName: string;
  /** Absent where the client proves itself by assertions only, or not at all. */
  readonly secretHash?: string | undefined;
  /** The public key of its assertions, an Ed25519 JWK as JSON. */
  readonly publicJwk?: string | undefined;
}

/** Clients. */
export interface Clients {
  /** Adds a client, or replaces the one of that id. */
  put(client: Client): void;
  get(id: string): Client | undefined;
}

interface ClientRow {
  id: string;
  created_at: number;
  display_name: string;
  role: Role;
  user_id: string | null;
  secret_hash: string | null;
  public_jwk: string | null;
}

/** The clients of a database. */
export function clients(db: Database): Clients {
  const upsert = db.prepare(`INSERT INTO clients
    (id, created_at, display_name, role, user_id, secret_hash, public_jwk) VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET display_name = excluded.display_name, role = excluded.role,
      user_id = excluded.user_id, secret_hash = excluded.secret_hash, public_jwk = excluded.public_jwk`);
  const select = db.prepare("SELECT * FROM clients WHERE id = ?");
  return {
    put(client) {
      upsert.all(
        client.clientId,
        client.createdAt,
        client.displayName,
        client.role,
        client.userId || null,
        client.secretHash ?? null,
        client.publicJwk ?? null,
      );
    },
    get(id) {
      const row = first<ClientRow>(select.all(id));
      return (
        row && {
          clientId: row.id,
          createdAt: row.created_at,
          displayName: row.display_name,
          role: row.role,
          userId: row.user_id ?? "",
          secretHash: row.secret_hash ?? undefined,
          publicJwk: row.public_jwk ?? undefined,
        }
      );
    },
  };
}
