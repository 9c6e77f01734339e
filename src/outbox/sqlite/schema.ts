// The tables of the outbox in SQLite.
import { type ErrorCode, HookproofError, messageOf } from "../../core/errors.js";
import { shown } from "../../core/shown.js";
import { inTransaction, preparedQueries, type SqliteDatabase } from "../../sqlite/database.js";
import type { ClaimedEvent } from "../outbox-store.js";
import type {
  DeadLetter,
  Delivery,
  DeliveryFailure,
  OutboxAttempt,
  OutboxEntry,
  OutboxEvent,
} from "../records.js";

/** States of an event in the table. */
export const PENDING = 0;
export const DELIVERED = 1;
export const DEAD = 2;
export const CANCELLED = 3;

const STATE_NAMES = ["pending", "delivered", "dead", "cancelled"] as const;

/** Pending events whose turn it is; the index of due events holds no others. */
export const IS_OPEN = `state = ${PENDING} AND turn = 1`;

/** Pending events that are not due from `ready_at` on. Of the others, the first one due is the oldest. */
export const IS_MOVED = `state = ${PENDING} AND (turn <> 1 OR visible_at <> ready_at)`;

/** Pending events of a paused or unknown listener that were put aside: a look for listeners with due events does not pass them. */
export const ASIDE = 2;
export const IS_ASIDE = `state = ${PENDING} AND turn = ${ASIDE}`;

/** Pending events without a key that are not due for a while (`LATER_MS`): neither a look nor a claim passes them. */
export const LATER = 3;
export const IS_LATER = `state = ${PENDING} AND turn = ${LATER}`;

/** Listeners whose events are put aside at a time. */
export const IS_AWAY = "(paused_at IS NOT NULL OR unknown_until > ?)";

/** Listeners of which nothing is claimed at a time. */
export const IS_HELD = "(paused_at IS NOT NULL OR rest_until > ?)";

/**
 * The steps from each version of the tables to the next one; a file of version n has had the first n. A step that was
 * published is never changed.
 *
 * - `turn` is 1 for an event whose turn it is, 2 for one whose listener is paused or unknown and that was put aside, 3 for one that is not due for a
 *   while, 0 for one behind an earlier event of its ordering key, and NULL for a finished one, so that a claim does not read events that have to wait.
 * - `ready_at` is when an event was due at first: its age counts from then.
 * - `visible_at` is when an event may be claimed: when it is due, or when its lease expires.
 * - `claimed_at` is when an event was last claimed, `rested_at` when a rest was last noted. The clock was last seen at `seen_at`; see clock.ts.
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
    WHERE ${IS_OPEN};
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
  const other = rows.find(({ sql }) => sql !== null && !isOwn(sql));
  if (other)
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
  if (version > STEPS.length) {
    const words = `The file has version ${version}, and this one knows ${STEPS.length}.`;
    throw new HookproofError("OUTBOX_NEWER", `${messageOf("OUTBOX_NEWER")} ${words}`);
  }
  for (const step of STEPS.slice(version)) db.exec(step);
  // In a table, because PRAGMA user_version belongs to the application whose file this is.
  db.exec(`CREATE TABLE IF NOT EXISTS hookproof_outbox_version (version INTEGER NOT NULL);
    DELETE FROM hookproof_outbox_version; INSERT INTO hookproof_outbox_version VALUES (${STEPS.length})`);
}

function versionOf(db: SqliteDatabase): number {
  const named = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'hookproof_outbox_version'";
  if (db.prepare(named).all().length === 0) return 0;
  const [row] = db.prepare("SELECT version FROM hookproof_outbox_version").all() as { version: number }[];
  return row?.version ?? 0;
}

/** An event's body: its own, or the one that it has together with others. */
export const BODY = `coalesce(
  (SELECT body FROM hookproof_outbox_bodies AS bodies WHERE bodies.seq = hookproof_outbox.seq),
  (SELECT body FROM hookproof_outbox_shared AS shared
    WHERE shared.id = hookproof_outbox.id AND shared.digest = hookproof_outbox.digest))`;

/** A row of the table of events, with its body if the query asks for it. */
export interface OutboxRow {
  seq: number;
  listener: string;
  id: string;
  digest: string;
  ordering_key: string | null;
  traceparent: string | null;
  encryption_key_id: string | null;
  enqueued_at: number;
  ready_at: number;
  state: number;
  turn: number | null;
  due_at: number;
  visible_at: number;
  attempts: number;
  attempts_before_redrive: number;
  first_attempt_at: number | null;
  sent_before: number | null;
  lease_token: string | null;
  lease_until: number | null;
  claimed_at: number | null;
  ended_at: number | null;
  outcome: Delivery["outcome"] | null;
  reason: DeliveryFailure["reason"] | null;
  code: ErrorCode | null;
  history: string;
  /** An ArrayBuffer from libsql, a kind of Uint8Array from other drivers. */
  body?: Uint8Array | ArrayBuffer | null;
}

/** The columns of a row that a claim returns. */
export type ClaimedRow = Omit<
  OutboxRow,
  | "ready_at"
  | "state"
  | "turn"
  | "visible_at"
  | "claimed_at"
  | "ended_at"
  | "outcome"
  | "reason"
  | "code"
  | "history"
>;

/** The lease of an event that was handed out, as it was claimed. */
export function heldLease(row: LeasedRow): Pick<ClaimedEvent, "lease" | "attempt"> {
  const { listener, id, lease_until: expiresAt, attempts: attempt } = row;
  return { lease: { listener, id, token: leaseToken(row), expiresAt }, attempt };
}

/** The columns of an event that say how it is leased. */
export interface LeasedRow {
  readonly seq: number;
  readonly listener: string;
  readonly id: string;
  readonly lease_token: string;
  readonly lease_until: number;
  readonly attempts: number;
}

/** The token of a lease names its row: to find that by the event's id, a page of a large index is read for each event. */
function leaseToken({ seq, lease_token: token }: Pick<ClaimedRow, "seq" | "lease_token">): string {
  return `${seq} ${token}`;
}

/** The parts of a token, to find its row with. Of a text that is no token they fit no row. */
export function partsOfToken(token: string): readonly [seq: number, token: string] {
  const [seq, ...rest] = token.split(" ");
  return [Number(seq) || 0, rest.join(" ")];
}

export function claimedEvent(row: ClaimedRow, now: number): ClaimedEvent {
  const { listener, id } = row;
  return {
    event: eventOf(row),
    lease: { listener, id, token: leaseToken(row), expiresAt: row.lease_until ?? now },
    attempt: row.attempts,
    attemptsBeforeRedrive: row.attempts_before_redrive,
    firstAttemptAt: row.first_attempt_at ?? now,
    sentBefore: row.sent_before === 1,
    enqueuedAt: row.enqueued_at,
    now,
  };
}

export function deadLetter(row: OutboxRow): DeadLetter {
  return {
    event: eventOf(row),
    reason: row.reason as DeliveryFailure["reason"],
    code: row.code as ErrorCode,
    failedAt: row.ended_at ?? 0,
    enqueuedAt: row.enqueued_at,
    ...firstAttempt(row),
    attempts: attemptsOf(row),
  };
}

/** The attempts of a row; another program may have written anything there. */
function attemptsOf({ history }: OutboxRow): OutboxAttempt[] {
  try {
    const attempts: unknown = JSON.parse(history);
    return Array.isArray(attempts) ? attempts.filter(isAttempt) : [];
  } catch {
    return [];
  }
}

function isAttempt(value: unknown): value is OutboxAttempt {
  if (typeof value !== "object" || value === null) return false;
  const { number, startedAt, durationMs, status = 0, code = "", answer = "" } = value as OutboxAttempt;
  return (
    [number, startedAt, durationMs, status].every((part) => typeof part === "number") &&
    [code, answer].every((part) => typeof part === "string")
  );
}

type HolderRow = Pick<OutboxRow, "id" | "state" | "enqueued_at" | "ended_at" | "lease_until">;

function stateAt({ state, lease_until }: HolderRow, now: number): OutboxEntry["state"] {
  return lease_until !== null && lease_until > now ? "in-flight" : (STATE_NAMES[state] ?? "pending");
}

/** Shows events of the table, with what they wait behind. */
export function showing(db: SqliteDatabase): (row: OutboxRow, now: number) => OutboxEntry {
  const columns = "id, state, enqueued_at, ended_at, lease_until";
  const ask = preparedQueries(db, {
    leased: `SELECT ${columns} FROM hookproof_outbox
      WHERE listener = ? AND ordering_key = ? AND lease_until > ? LIMIT 1`,
    before: `SELECT ${columns} FROM hookproof_outbox
      WHERE listener = ? AND ordering_key = ? AND turn IS NOT NULL AND seq < ? ORDER BY seq LIMIT 1`,
  });

  function holderOf(
    { listener, ordering_key: key, seq }: OutboxRow,
    now: number,
  ): OutboxEntry["waitsBehind"] {
    if (key === null) return undefined;
    const [holder = ask<HolderRow>("before", listener, key, seq)[0]] = ask<HolderRow>(
      "leased",
      listener,
      key,
      now,
    );
    if (!holder) return undefined;
    const state = stateAt(holder, now) as "pending" | "in-flight" | "dead";
    return { id: holder.id, state, since: (state === "dead" ? holder.ended_at : null) ?? holder.enqueued_at };
  }

  return (row, now) =>
    outboxEntry(row, now, stateAt(row, now) === "pending" ? holderOf(row, now) : undefined);
}

function outboxEntry(row: OutboxRow, now: number, waitsBehind: OutboxEntry["waitsBehind"]): OutboxEntry {
  const state = stateAt(row, now);
  return {
    listener: row.listener,
    id: row.id,
    state,
    enqueuedAt: row.enqueued_at,
    ...(row.ordering_key === null ? {} : { orderingKey: row.ordering_key }),
    ...(waitsBehind && { waitsBehind }),
    ...(state === "pending" ? { dueAt: row.visible_at } : {}),
    ...firstAttempt(row),
    ...(row.outcome === null ? {} : { outcome: row.outcome }),
    attempts: attemptsOf(row),
  };
}

function firstAttempt({ first_attempt_at }: Pick<OutboxRow, "first_attempt_at">): {
  firstAttemptAt?: number;
} {
  return first_attempt_at === null ? {} : { firstAttemptAt: first_attempt_at };
}

function eventOf(row: ClaimedRow): OutboxEvent {
  return {
    id: row.id,
    listener: row.listener,
    body: bytesOf(row.body ?? new Uint8Array()),
    digest: row.digest,
    ...(row.ordering_key === null ? {} : { orderingKey: row.ordering_key }),
    ...(row.traceparent === null ? {} : { traceparent: row.traceparent }),
    ...(row.encryption_key_id === null ? {} : { encryptionKeyId: row.encryption_key_id }),
  };
}

function bytesOf(body: Uint8Array | ArrayBuffer): Uint8Array {
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
}
