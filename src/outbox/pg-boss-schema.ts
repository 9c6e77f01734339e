import { HookproofError, messageOf } from "../errors.js";
import { type BossDatabase, inTransaction, type SqlRunner } from "./pg-boss-database.js";

/**
 * The tables beside pg-boss's own, a version after the other. pg-boss's job says that an event is waiting, when
 * it is due and who fetched it; the rest stands here.
 *
 * An event is `waiting` with a job, `parked` without one behind another of its ordering key, `leased`,
 * `delivered` or `dead`. `window_from` is `first_attempt_at` of an event that waits again: a column of its own,
 * so that `begin` changes none that is indexed.
 */
const MIGRATIONS: readonly ((schema: string) => string)[] = [
  (schema) => `
    CREATE SEQUENCE ${schema}.event_seq;
    CREATE TABLE ${schema}.event (
      id uuid NOT NULL,
      listener text NOT NULL,
      seq bigint NOT NULL DEFAULT nextval('${schema}.event_seq'),
      state text NOT NULL CHECK (state IN ('waiting', 'parked', 'leased', 'delivered', 'dead')),
      body bytea,
      digest text NOT NULL,
      ordering_key text,
      traceparent text,
      encryption_key_id text,
      enqueued_at timestamptz NOT NULL,
      due_at timestamptz NOT NULL,
      job_id uuid,
      fetched int,
      leased_until timestamptz,
      attempts int NOT NULL DEFAULT 0,
      attempts_before_redrive int NOT NULL DEFAULT 0,
      first_attempt_at timestamptz,
      window_from timestamptz,
      history json[] NOT NULL DEFAULT '{}',
      ended_at timestamptz,
      outcome text,
      reason text,
      code text,
      blocks_key boolean NOT NULL DEFAULT false,
      PRIMARY KEY (id, listener)
    ) WITH (fillfactor = 70);
    CREATE INDEX event_due ON ${schema}.event (listener, due_at) WHERE state = 'waiting';
    CREATE INDEX event_leased ON ${schema}.event (leased_until) WHERE state = 'leased';
    CREATE INDEX event_window ON ${schema}.event (listener, window_from) WHERE window_from IS NOT NULL;
    CREATE INDEX event_ended ON ${schema}.event (state, ended_at, seq) WHERE ended_at IS NOT NULL;
    CREATE INDEX event_key ON ${schema}.event (listener, ordering_key, seq)
      WHERE ordering_key IS NOT NULL AND (ended_at IS NULL OR blocks_key);
    CREATE INDEX event_key_leased ON ${schema}.event (listener, ordering_key)
      WHERE ordering_key IS NOT NULL AND state = 'leased'`,
];

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
    for (const migration of MIGRATIONS.slice(version ?? 0)) await db.executeSql(migration(schema));
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
