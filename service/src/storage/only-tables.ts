// Says whether a SQLite file holds what runs by itself.
import type { Database } from "./database.js";

/** Whether a file holds what runs when a table is read or written: one of somebody else's could run without end. */
export function hasOtherThanTables(db: Pick<Database, "prepare">): boolean {
  const other = `SELECT 1 FROM sqlite_master
    WHERE type NOT IN ('table', 'index') OR sql LIKE 'CREATE VIRTUAL%' LIMIT 1`;
  return db.prepare(other).all().length > 0;
}
