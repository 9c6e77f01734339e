// Copies of the state under names.
import type { Database } from "../storage/database.js";
import { first } from "../storage/database.js";

export interface Snapshots {
  /** Keeps the state as it is now; one of the same name is replaced. */
  save(name: string, now: number): void;
  /** Goes back to a snapshot, at once; false if there is none. Every access token stays good. */
  restore(name: string): boolean;
  /** False if there is none. */
  remove(name: string): boolean;
  list(): { name: string; createdAt: number }[];
}

/** Tables of copies begin with this, and are no part of the state. */
const SNAPSHOT_PREFIX = "snapshot_";

/** The service's own keys and settings, which no snapshot and no reset takes back. */
const OWN = new Set(["meta", "signing_keys"]);

/** The tables that hold the state. Their names are letters, digits and underscores: no other database is opened. */
export function stateTables(db: Database): string[] {
  return tablesOf(db).filter((name) => !OWN.has(name) && !name.startsWith(SNAPSHOT_PREFIX));
}

function copiesIn(db: Database): string[] {
  return tablesOf(db).filter((name) => name.startsWith(SNAPSHOT_PREFIX));
}

function tablesOf(db: Database): string[] {
  const rows = db
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
    .all() as { name: string }[];
  return rows.map(({ name }) => name);
}

/** The snapshots in a database: each table of the state is copied next to itself. */
export function snapshots(db: Database): Snapshots {
  const LIST = `${SNAPSHOT_PREFIX}list`;
  db.exec(`CREATE TABLE IF NOT EXISTS ${LIST}
    (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, created_at INTEGER NOT NULL) STRICT`);
  const idOf = (name: string): number | undefined => {
    const id = first<{ id: unknown }>(db.prepare(`SELECT id FROM ${LIST} WHERE name = ?`).all(name))?.id;
    // A list that somebody else made may have texts as ids, and an id becomes a part of SQL.
    return Number.isSafeInteger(id) ? (id as number) : undefined;
  };
  const copyOf = (id: number, table: string) => `${SNAPSHOT_PREFIX}${id}_${table}`;
  const drop = (name: string): boolean => {
    const id = idOf(name);
    if (id !== undefined)
      for (const table of stateTables(db)) db.exec(`DROP TABLE IF EXISTS "${copyOf(id, table)}"`);
    return db.prepare(`DELETE FROM ${LIST} WHERE name = ? RETURNING name`).all(name).length > 0;
  };
  return {
    save: (name, now) =>
      db.transaction(() => {
        drop(name);
        db.prepare(`INSERT INTO ${LIST} (name, created_at) VALUES (?, ?)`).all(name, now);
        const id = idOf(name);
        if (id === undefined) throw new Error("the database's list of snapshots is not one of this program");
        for (const table of stateTables(db))
          db.exec(`CREATE TABLE "${copyOf(id, table)}" AS SELECT * FROM "${table}"`);
      }),
    restore(name) {
      const id = idOf(name);
      if (id === undefined) return false;
      db.transaction(() => {
        db.exec("PRAGMA defer_foreign_keys = ON");
        const copies = new Set(copiesIn(db));
        // Clients that act as no user stay: their tokens are good.
        for (const table of stateTables(db))
          db.exec(`DELETE FROM "${table}"${table === "clients" ? " WHERE user_id IS NOT NULL" : ""}`);
        // Only now: whatever is deleted takes with it what was filled in before.
        // A snapshot of an earlier version has no copy of a table that came later, which was empty then.
        for (const table of stateTables(db))
          if (copies.has(copyOf(id, table)))
            db.exec(`INSERT OR REPLACE INTO "${table}" SELECT * FROM "${copyOf(id, table)}"`);
      });
      return true;
    },
    remove: (name) => db.transaction(() => drop(name)),
    list: () =>
      (
        db.prepare(`SELECT name, created_at FROM ${LIST} ORDER BY name`).all() as {
          name: string;
          created_at: number;
        }[]
      ).map((row) => ({ name: row.name, createdAt: row.created_at })),
  };
}
