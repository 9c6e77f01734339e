// The tables of the outbox in SQLite.
import { HookproofError, messageOf } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { inTransaction, type SqliteDatabase } from "../../sqlite/database.js";

/** What the column `state` says of an event: that it has not ended, or how. */
export const PENDING = 0;
export const DELIVERED = 1;
export const DEAD = 2;
export const CANCELLED = 3;

/** What the column `turn` says of a pending event; see `STATES`. */
export const PARKED = 0;
export const WAITING = 1;
export const ASIDE = 2;
export const LATER = 3;

/** Events that may be claimed once they are due, those under way among them; the index of due events holds no others. */
export const IS_WAITING = `state = ${PENDING} AND turn = ${WAITING}`;
export const IS_PARKED = `turn = ${PARKED} AND state = ${PENDING}`;
export const IS_ASIDE = `state = ${PENDING} AND turn = ${ASIDE}`;
export const IS_LATER = `state = ${PENDING} AND turn = ${LATER}`;

/** Pending events that are not due from `ready_at` on. Of the others, the first one due is the oldest. */
export const IS_MOVED = `state = ${PENDING} AND (turn <> ${WAITING} OR visible_at <> ready_at)`;

/** Listeners whose events are put aside at a time. */
export const IS_AWAY = "(paused_at IS NOT NULL OR unknown_until > ?)";

/** Listeners of which nothing is claimed at a time. */
export const IS_HELD = "(paused_at IS NOT NULL OR rest_until > ?)";

/**
 * The steps from each version of the tables to the next one; a file of version n has had the first n. A step that was
 * published is never changed.
 *
 * - `state` and `turn` are the state of an event, as the table of `STATES` has it. A lease that ends is a time and not
 *   a change. A dead letter that blocks its key keeps its turn, so that the index of keys finds it.
 * - `ready_at` is when an event was due at first: its age counts from then.
 * - `visible_at` is when an event may be claimed: when it is due, or when its lease expires.
 * - `claimed_at` is when an event was last claimed or rescheduled, `rested_at` when a rest was last noted. The clock was last seen at `seen_at`; see clock.ts.
 * - `sent_before` says whether there was an attempt before the current one, so that `release` can restore that.
 * - Bodies have a table of their own, because the other columns change several times. A body that several events have,
 *   one for each of several listeners, is in the table of shared ones.
 * - The counts are kept in code, with each change of a state (changes.ts); cancelled events are in none.
 * - Only listeners that are or were paused, unknown, resting, changed or claimed from at a rate have a row in the table of
 *   listeners. `pace` is the time of `allowedBy`; `has_aside` is 1 while events may be put aside.
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
    ready_at INTEGER NOT NULL,
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
    WHERE ${IS_WAITING};
  CREATE INDEX hookproof_outbox_key ON hookproof_outbox (listener, ordering_key, seq)
    WHERE ordering_key IS NOT NULL AND turn IS NOT NULL;
  CREATE INDEX hookproof_outbox_leased ON hookproof_outbox (listener, ordering_key, lease_until)
    WHERE lease_until IS NOT NULL;
  CREATE INDEX hookproof_outbox_aside ON hookproof_outbox (listener, ready_at) WHERE ${IS_ASIDE};
  CREATE INDEX hookproof_outbox_later ON hookproof_outbox (listener, visible_at, seq) WHERE ${IS_LATER};
  CREATE INDEX hookproof_outbox_ripe ON hookproof_outbox (visible_at) WHERE ${IS_LATER};
  CREATE INDEX hookproof_outbox_moved ON hookproof_outbox (listener, ready_at) WHERE ${IS_MOVED};
  CREATE INDEX hookproof_outbox_tried ON hookproof_outbox (listener, first_attempt_at)
    WHERE state = ${PENDING} AND first_attempt_at IS NOT NULL;
  CREATE INDEX hookproof_outbox_ended ON hookproof_outbox (state, ended_at, seq) WHERE ended_at IS NOT NULL;
  CREATE TABLE hookproof_outbox_bodies (seq INTEGER PRIMARY KEY, body BLOB NOT NULL);
  CREATE TABLE hookproof_outbox_shared (
    id TEXT NOT NULL, digest TEXT NOT NULL, body BLOB NOT NULL, stored_at INTEGER NOT NULL, check_at INTEGER NOT NULL,
    PRIMARY KEY (id, digest)
  );
  CREATE INDEX hookproof_outbox_check ON hookproof_outbox_shared (check_at);
  CREATE TABLE hookproof_outbox_counts (
    listener TEXT NOT NULL, state INTEGER NOT NULL, events INTEGER NOT NULL,
    PRIMARY KEY (listener, state)
  ) WITHOUT ROWID;
  CREATE TABLE hookproof_outbox_listeners (
    listener TEXT PRIMARY KEY, paused_at INTEGER, pause_reason TEXT, rest_until INTEGER NOT NULL DEFAULT 0,
    changed_at INTEGER NOT NULL DEFAULT 0, pace REAL NOT NULL DEFAULT 0, has_aside INTEGER NOT NULL DEFAULT 0,
    unknown_since INTEGER, unknown_until INTEGER NOT NULL DEFAULT 0
  ) WITHOUT ROWID;
  CREATE INDEX hookproof_outbox_resting ON hookproof_outbox_listeners (rest_until)
    WHERE paused_at IS NULL AND has_aside = 0;
  CREATE INDEX hookproof_outbox_returning ON hookproof_outbox_listeners (listener)
    WHERE has_aside = 1 AND paused_at IS NULL AND unknown_since IS NULL;
  CREATE INDEX hookproof_outbox_unknown ON hookproof_outbox_listeners (unknown_until)
    WHERE unknown_since IS NOT NULL AND paused_at IS NULL;`,
  `ALTER TABLE hookproof_outbox ADD COLUMN claimed_at INTEGER;
  ALTER TABLE hookproof_outbox_listeners ADD COLUMN rested_at INTEGER;
  CREATE TABLE hookproof_outbox_clock (seen_at INTEGER NOT NULL);`,
  `CREATE TABLE hookproof_outbox_workers (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, started_at INTEGER NOT NULL, seen_at INTEGER NOT NULL
  ) WITHOUT ROWID;`,
  `CREATE INDEX hookproof_outbox_dead ON hookproof_outbox (listener, ended_at, seq)
    WHERE state = ${DEAD} AND ended_at IS NOT NULL;`,
];

/** Statements without white space, which SQLite keeps as they were written. */
const bare = (sql: string): string => sql.replace(/\s/g, "");

/** What makes each table and index. */
const OWN: ReadonlySet<string> = new Set(
  [...STEPS, "CREATE TABLE hookproof_outbox_version (version INTEGER NOT NULL)"].flatMap(
    (step) => step.match(/CREATE (?:TABLE|INDEX) [^;]+/g)?.map(bare) ?? [],
  ),
);

/** The columns that steps add, which SQLite writes into the words of their table. */
const ADDED: readonly string[] = [...STEPS.join("\n").matchAll(/ADD COLUMN ([^;]+)/g)].map(
  ([, column = ""]) => `,${bare(column)}`,
);

const isOwn = (sql: string): boolean =>
  OWN.has(ADDED.reduce((left, column) => left.replace(column, ""), bare(sql)));

/**
 * Refuses a file in which something else stands under our names: a view, a trigger, or a table with words of its own, by
 * which a file of somebody else's could run without end, or do more than keep events.
 *
 * @throws {HookproofError} OUTBOX_UNAVAILABLE
 */
function requireOwnTables(db: SqliteDatabase): void {
  const named = `SELECT type, name, sql FROM sqlite_master
    WHERE lower(name) LIKE 'hookproof_outbox%' OR lower(tbl_name) LIKE 'hookproof_outbox%'`;
  const rows = db.prepare(named).all() as { type: string; name: string; sql: string | null }[];
  // Without words of their own are the indexes that SQLite makes for a table's own constraints.
  const others = rows.filter(({ sql }) => sql !== null && !isOwn(sql));
  const [other] = others;
  if (!other) return;
  // It may be a table of a newer version, which the table of versions tells, if that one is ours.
  if (!others.some(({ name }) => name.toLowerCase() === "hookproof_outbox_version"))
    requireKnown(versionOf(db));
  throw new HookproofError(
    "OUTBOX_UNAVAILABLE",
    `The file's ${other.type} ${shown(other.name)} is not one that an outbox makes. If the file is your own, drop this ${other.type} and keep the file.`,
  );
}

/**
 * Makes the tables, or brings them up to date.
 *
 * @throws {HookproofError} OUTBOX_NEWER, OUTBOX_UNAVAILABLE
 */
export function makeTables(db: SqliteDatabase): void {
  requireOwnTables(db);
  if (versionOf(db) !== STEPS.length) inTransaction(db, () => migrate(db));
}

function migrate(db: SqliteDatabase): void {
  const version = versionOf(db);
  requireKnown(version);
  for (const step of STEPS.slice(version)) db.exec(step);
  // In a table, because PRAGMA user_version belongs to the application whose file this is.
  db.exec(`CREATE TABLE IF NOT EXISTS hookproof_outbox_version (version INTEGER NOT NULL);
    DELETE FROM hookproof_outbox_version; INSERT INTO hookproof_outbox_version VALUES (${STEPS.length})`);
}

function requireKnown(version: number): void {
  if (version <= STEPS.length) return;
  const words = `The file has version ${version}, and this one knows ${STEPS.length}.`;
  throw new HookproofError("OUTBOX_NEWER", `${messageOf("OUTBOX_NEWER")} ${words}`);
}

function versionOf(db: SqliteDatabase): number {
  const named = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'hookproof_outbox_version'";
  if (db.prepare(named).all().length === 0) return 0;
  const [row] = db.prepare("SELECT version FROM hookproof_outbox_version").all() as { version: number }[];
  return row?.version ?? 0;
}
