import { HookproofError, messageOf } from "../errors.js";
import { type BossDatabase, inTransaction, type SqlRunner } from "./pg-boss-database.js";
import { MIGRATIONS } from "./pg-boss-migrations.js";

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/;

/** Checks a schema's name, as it becomes part of the SQL, and quotes it. */
export function quotedSchema(name: string): string {
  if (typeof name !== "string" || !NAME.test(name))
    throw new TypeError("schema must be a name of letters, digits and _");
  return `"${name}"`;
}

/** Creates or updates the tables; any number of processes may do so at once. */
export async function prepareSchema(database: BossDatabase, name: string): Promise<void> {
  if ((await versionOf(database, name)) === MIGRATIONS.length) return;
  const schema = quotedSchema(name);
  await inTransaction(database, async (db) => {
    await db.executeSql("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [`hookproof ${name}`]);
    const version = await versionOf(db, name);
    if (version === MIGRATIONS.length) return;
    if (version === undefined) {
      await db.executeSql(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
      await db.executeSql(`CREATE TABLE ${schema}.version (version int NOT NULL)`);
    }
    for (const migration of MIGRATIONS.slice(version ?? 0)) await db.executeSql(migration(schema, name));
    await db.executeSql(`DELETE FROM ${schema}.version`);
    await db.executeSql(`INSERT INTO ${schema}.version VALUES ($1)`, [MIGRATIONS.length]);
  });
}

/**
 * The version of the tables, if there are any. It asks the catalogue's tables, as a function such as `to_regclass`
 * may answer from a cache that knows nothing yet of what another process has just committed.
 */
async function versionOf(db: SqlRunner, name: string): Promise<number | undefined> {
  const sql = "SELECT FROM pg_catalog.pg_tables WHERE schemaname = $1 AND tablename = 'version'";
  if ((await db.executeSql(sql, [name])).rows.length === 0) return undefined;
  const { rows } = await db.executeSql(`SELECT version FROM ${quotedSchema(name)}.version`);
  const version = (rows as { version: number }[])[0]?.version ?? 0;
  if (version > MIGRATIONS.length) throw new HookproofError("OUTBOX_NEWER", messageOf("OUTBOX_NEWER"));
  return version;
}
