import { HookproofError, messageOf } from "../errors.js";
import { inTransaction, type SqliteDatabase } from "./sqlite-database.js";

/** A connection that the store opened, and closes. */
export interface OpenSqliteDatabase extends SqliteDatabase {
  close(): unknown;
}

/** States of an event in the table. */
export const PENDING = 0;
export const DELIVERED = 1;
export const DEAD = 2;

/** Pending events whose turn it is: what the index of due events holds. */
export const IS_OPEN = `state = ${PENDING} AND turn = 1`;

/** Pending events that are not due since they were enqueued; of the others, the first one due is the oldest. */
export const IS_MOVED = `state = ${PENDING} AND (turn = 0 OR visible_at <> enqueued_at)`;

/**
 * What makes each version of the tables from the one before; a file that is at version n has had the first n.
 * Steps that were published are never changed.
 *
 * `turn` is 1 for an event whose turn it is, 0 for one behind an earlier one of its ordering key, and NULL for one
 * that is finished; so no claim looks at what has to wait. `visible_at` is when it may be handed out: its due time,
 * or the end of its lease. What was only enqueued stands in two indexes, by its id and by that time. `sent_before`
 * says whether there was an attempt before the current one, so that a release can take that back. Bodies have a
 * table of their own, as the other columns change several times. The counts are kept by whoever changes a state.
 */
const STEPS: readonly string[] = [
  `CREATE TABLE hookproof_outbox (
    seq INTEGER PRIMARY KEY,
    listener TEXT NOT NULL,
    id TEXT NOT NULL,
    digest TEXT NOT NULL,
    ordering_key TEXT,
    traceparent TEXT,
    encryption_key_id TEXT,
    enqueued_at INTEGER NOT NULL,
    state INTEGER NOT NULL DEFAULT ${PENDING},
    turn INTEGER,
    due_at INTEGER NOT NULL,
    visible_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    attempts_before_redrive INTEGER NOT NULL DEFAULT 0,
    first_attempt_at INTEGER,
    sent_before INTEGER,
    lease_token TEXT,
    lease_until INTEGER,
    ended_at INTEGER,
    outcome TEXT,
    reason TEXT,
    code TEXT,
    history TEXT NOT NULL DEFAULT '[]',
    UNIQUE (id, listener)
  );
  CREATE INDEX hookproof_outbox_due ON hookproof_outbox (listener, visible_at, seq)
    WHERE ${IS_OPEN};
  CREATE INDEX hookproof_outbox_key ON hookproof_outbox (listener, ordering_key, seq)
    WHERE ordering_key IS NOT NULL AND turn IS NOT NULL;
  CREATE INDEX hookproof_outbox_leased ON hookproof_outbox (listener, ordering_key, lease_until)
    WHERE lease_until IS NOT NULL;
  CREATE INDEX hookproof_outbox_moved ON hookproof_outbox (listener, enqueued_at) WHERE ${IS_MOVED};
  CREATE INDEX hookproof_outbox_tried ON hookproof_outbox (listener, first_attempt_at)
    WHERE state = ${PENDING} AND first_attempt_at IS NOT NULL;
  CREATE INDEX hookproof_outbox_ended ON hookproof_outbox (state, ended_at, seq) WHERE ended_at IS NOT NULL;
  CREATE TABLE hookproof_outbox_bodies (seq INTEGER PRIMARY KEY, body BLOB NOT NULL);
  CREATE TABLE hookproof_outbox_counts (
    listener TEXT NOT NULL, state INTEGER NOT NULL, events INTEGER NOT NULL,
    PRIMARY KEY (listener, state)
  ) WITHOUT ROWID;`,
];

/**
 * Makes a connection fit for the outbox: WAL, every commit on disk before it is acknowledged, and tables of this
 * version.
 *
 * @throws {HookproofError} OUTBOX_NEWER, OUTBOX_UNAVAILABLE
 */
export function prepareOutboxFile(db: SqliteDatabase): void {
  db.exec("PRAGMA busy_timeout = 5000");
  if (pragma(db, "journal_mode") !== "wal") db.exec("PRAGMA journal_mode = WAL");
  db.exec("PRAGMA synchronous = FULL");
  // 16 MB of log: pages that change in many commits, as those of random ids do, go to the file once for all of them.
  db.exec("PRAGMA wal_autocheckpoint = 4000");
  if (pragma(db, "journal_mode") !== "wal" || !isDurable(db))
    throw new HookproofError(
      "OUTBOX_UNAVAILABLE",
      "The outbox needs a SQLite file on a local disk, with WAL and synchronous = FULL, which are not possible here.",
    );
  if (versionOf(db) !== STEPS.length) inTransaction(db, () => migrate(db));
  // From here on it is the store that waits, and not the whole process.
  db.exec("PRAGMA busy_timeout = 5");
}

/** Whether what the connection commits survives a power failure. */
export function isDurable(db: SqliteDatabase): boolean {
  return Number(pragma(db, "synchronous")) >= 2;
}

function migrate(db: SqliteDatabase): void {
  const version = versionOf(db);
  if (version > STEPS.length) {
    const words = `The file has version ${version}, and this one knows ${STEPS.length}.`;
    throw new HookproofError("OUTBOX_NEWER", `${messageOf("OUTBOX_NEWER")} ${words}`);
  }
  for (const step of STEPS.slice(version)) db.exec(step);
  // A table, and not PRAGMA user_version, which belongs to whoever else keeps tables in the file.
  db.exec(`CREATE TABLE IF NOT EXISTS hookproof_outbox_version (version INTEGER NOT NULL);
    DELETE FROM hookproof_outbox_version; INSERT INTO hookproof_outbox_version VALUES (${STEPS.length})`);
}

function versionOf(db: SqliteDatabase): number {
  const named = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'hookproof_outbox_version'";
  if (db.prepare(named).all().length === 0) return 0;
  const [row] = db.prepare("SELECT version FROM hookproof_outbox_version").all() as { version: number }[];
  return row?.version ?? 0;
}

function pragma(db: SqliteDatabase, name: "journal_mode" | "synchronous"): unknown {
  const [row] = db.prepare(`PRAGMA ${name}`).all() as Record<string, unknown>[];
  return row?.[name];
}
