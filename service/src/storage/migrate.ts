// Brings the tables up to date by numbered steps.
import { AUTOMATION_TABLES } from "./automation-tables.js";
import { CORE_TABLES } from "./core-tables.js";
import type { Database } from "./database.js";
import { LOOKUP_TABLES } from "./lookup-tables.js";
import { hasOtherThanTables } from "./only-tables.js";
import { SECRET_TABLES } from "./secret-tables.js";

/** Each brings a database from the version of its index to the next. What has been released is never changed. */
const MIGRATIONS: readonly string[] = [CORE_TABLES + SECRET_TABLES + AUTOMATION_TABLES, LOOKUP_TABLES];

/**
 * Refuses somebody else's database before anything is written to it.
 *
 * @throws {Error} for one that has tables, and not those that the first step makes
 */
export function refuseOther(db: Pick<Database, "prepare">): void {
  const tables = db
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .all() as { name: string }[];
  const names = new Set(tables.map(({ name }) => name));
  if (names.size === 0 || (versionOf(db) > 0 && names.has("meta") && names.has("signing_keys"))) return;
  throw new Error("it is a database of another program");
}

function versionOf(db: Pick<Database, "prepare">): number {
  return (db.prepare("PRAGMA user_version").all()[0] as { user_version: number }).user_version;
}

/**
 * Brings the tables up to date. SQLite keeps the version itself (`user_version`).
 *
 * @throws {Error} for a database of a later version, or one with views, triggers, virtual tables or other names
 */
export function migrate(db: Pick<Database, "exec" | "prepare" | "transaction">): void {
  if (hasOtherThanTables(db))
    throw new Error(
      "it holds views, triggers, virtual tables, or tables of other names, which this program never makes",
    );
  const version = () => versionOf(db);
  if (version() === MIGRATIONS.length) return;
  db.transaction(() => {
    // Asked again, now that no other process can be in the middle of it.
    const from = version();
    if (from > MIGRATIONS.length) {
      throw new Error(`it has version ${from}, and this program knows up to ${MIGRATIONS.length}`);
    }
    for (const sql of MIGRATIONS.slice(from)) db.exec(sql);
    db.exec(`PRAGMA user_version = ${MIGRATIONS.length}`);
  });
}
