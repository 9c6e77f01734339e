// Says whether a SQLite file holds what no program of ours makes.
import type { Database } from "./database.js";

/**
 * Whether a file holds what runs when a table is read or written, which in one of somebody else's could be without end, or
 * a name that would be more than a name where SQL is put together from it.
 */
export function hasOtherThanTables(db: Pick<Database, "prepare">): boolean {
  const other = `SELECT 1 FROM sqlite_master
    WHERE type NOT IN ('table', 'index') OR sql LIKE 'CREATE VIRTUAL%' OR name GLOB '*[^A-Za-z0-9_]*' LIMIT 1`;
  return db.prepare(other).all().length > 0;
}
