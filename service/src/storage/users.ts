// Users in the database.
import type { Schemas } from "../api/validation.js";
import { type Database, first } from "./database.js";
import { createdAt, type Stored } from "./document.js";

type User = Schemas["User"];

/** Users (specification 2.4). */
export interface Users {
  add(user: User): void;
  get(id: string): User | undefined;
  /** The user is gone from every cohort too. One who owns something cannot be deleted. */
  delete(id: string): boolean;
}

/** The users of a database. */
export function users(db: Database): Users {
  const insert = db.prepare(
    "INSERT INTO users (id, created_at, display_name, email, document) VALUES (?, ?, ?, ?, ?)",
  );
  const select = db.prepare("SELECT document FROM users WHERE id = ?");
  const remove = db.prepare("DELETE FROM users WHERE id = ? RETURNING id");
  return {
    add: (user) =>
      void insert.all(user.id, createdAt(user), user.displayName, user.email, JSON.stringify(user)),
    get(id) {
      const row = first<Stored>(select.all(id));
      return row && (JSON.parse(row.document) as User);
    },
    delete: (id) => remove.all(id).length > 0,
  };
}
