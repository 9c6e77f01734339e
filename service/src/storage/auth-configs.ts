// Auth configs in the database.
import type { Schemas } from "../api/validation.js";
import { type Database, first } from "./database.js";
import { createdAt, type Stored } from "./document.js";

type AuthConfig = Schemas["AuthConfig"];

/** Auth configs (specification 2.2). */
export interface AuthConfigs {
  add(config: AuthConfig): void;
  get(id: string): AuthConfig | undefined;
  /** Whether there was one to delete. */
  delete(id: string): boolean;
}

/** The auth configs of a database. */
export function authConfigs(db: Database): AuthConfigs {
  const insert = db.prepare("INSERT INTO auth_configs (id, created_at, document) VALUES (?, ?, ?)");
  const select = db.prepare("SELECT document FROM auth_configs WHERE id = ?");
  const remove = db.prepare("DELETE FROM auth_configs WHERE id = ? RETURNING id");
  return {
    add: (config) => void insert.all(config.id, createdAt(config), JSON.stringify(withoutSecrets(config))),
    get(id) {
      const row = first<Stored>(select.all(id));
      return row && (JSON.parse(row.document) as AuthConfig);
    },
    delete: (id) => remove.all(id).length > 0,
  };
}

/** Client secrets are never answered, and nothing else here needs them: they are not even kept. */
function withoutSecrets(config: AuthConfig): AuthConfig {
  const text = JSON.stringify(config, (name, value) => (name === "oidcClientSecret" ? "" : value));
  return JSON.parse(text) as AuthConfig;
}
