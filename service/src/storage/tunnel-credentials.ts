// Tunnel bridges and credentials in the database.
import type { Schemas } from "../api/validation.js";
import type { Database } from "./database.js";
import { createdAt, type Stored } from "./document.js";

type TunnelCredential = Schemas["TunnelCredential"];

/** Where a page starts: behind this credential. */
export type CredentialPosition = readonly [createdAt: number, id: string];

/** Tunnel bridges and their credentials (specification 2.7). */
export interface TunnelCredentials {
  addBridge(bridge: { id: string; createdAt: number; displayName: string }): void;
  hasBridge(id: string): boolean;
  add(credential: TunnelCredential): void;
  /** Credentials of a bridge, active and revoked, in the order they were made. */
  list(bridgeId: string, after: CredentialPosition, limit: number): TunnelCredential[];
}

/** The tunnel credentials of a database. */
export function tunnelCredentials(db: Database): TunnelCredentials {
  const insertBridge = db.prepare("INSERT INTO bridges (id, created_at, display_name) VALUES (?, ?, ?)");
  const selectBridge = db.prepare("SELECT 1 FROM bridges WHERE id = ?");
  const insert = db.prepare(
    "INSERT INTO tunnel_credentials (id, bridge_id, created_at, document) VALUES (?, ?, ?, ?)",
  );
  const select = db.prepare(`SELECT document FROM tunnel_credentials
    WHERE bridge_id = ? AND (created_at, id) > (?, ?) ORDER BY created_at, id LIMIT ?`);
  return {
    addBridge: ({ id, createdAt: at, displayName }) => void insertBridge.all(id, at, displayName),
    hasBridge: (id) => selectBridge.all(id).length > 0,
    add(credential) {
      // The secret is shown when a credential is made, and never again: it is not kept.
      const document = JSON.stringify({ ...credential, clientSecret: "" });
      insert.all(credential.id, credential.bridgeId, createdAt(credential), document);
    },
    list: (bridgeId, after, limit) =>
      (select.all(bridgeId, ...after, limit) as Stored[]).map(
        ({ document }) => JSON.parse(document) as TunnelCredential,
      ),
  };
}
