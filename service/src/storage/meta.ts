// Single values of the service in the database.
import { type Database, first } from "./database.js";

/** Single values of the service itself. */
export interface Meta {
  get(name: string): string | undefined;
  /** `undefined` takes the value away. */
  set(name: string, value: string | undefined): void;
  /** The value there is; the new one is kept only where there is none. */
  getOrSet(name: string, value: () => string): string;
}

/** The single values of a database. */
export function meta(db: Database): Meta {
  const select = db.prepare("SELECT value FROM meta WHERE name = ?");
  const insert = db.prepare(
    "INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = value RETURNING value",
  );
  const upsert = db.prepare(
    "INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
  );
  const remove = db.prepare("DELETE FROM meta WHERE name = ?");
  const get = (name: string) => first<{ value: string }>(select.all(name))?.value;
  return {
    get,
    set: (name, value) => void (value === undefined ? remove.all(name) : upsert.all(name, value)),
    getOrSet: (name, value) => get(name) ?? first<{ value: string }>(insert.all(name, value()))?.value ?? "",
  };
}
