// A replay store in SQLite.
import { randomUUID } from "node:crypto";
import { type Clock, systemClock } from "../../core/clock.js";
import { checkOptions, checkWholeNumber, type OptionNames } from "../../core/options.js";
import { EVENT_ID_RETENTION_MS } from "../../core/protocol.js";
import {
  groupCommit,
  type OpenSqliteDatabase,
  preparedQueries,
  type SqliteDatabase,
} from "../../sqlite/database.js";
import {
  CLEANUP_ROWS,
  cleanupSchedule,
  quotedIndex,
  quotedTable,
  REPLAY_TABLE,
  RESERVATION_MS,
  type ReplayStore,
  type Reservation,
  type ReserveResult,
  reservationLost,
  storeFailure,
} from "../replay-store.js";

/** Options of `sqliteReplayStore`. */
export interface SqliteReplayStoreOptions {
  /** Your own connection, which stays yours. With it, id and work can be committed in one transaction. */
  db?: SqliteDatabase | undefined;
  /** Instead of `db`: opens a connection for the store alone, which `close` closes. */
  open?: (() => OpenSqliteDatabase) | undefined;
  /** The table's name; `hookproof_event_ids` by default. */
  table?: string | undefined;
  /** How long a reservation holds if it is neither committed nor released; 60,000 ms by default. */
  reservationMs?: number | undefined;
  /** The machine's clock by default. */
  clock?: Clock | undefined;
}

const NAMES: OptionNames<SqliteReplayStoreOptions> = {
  db: 1,
  open: 1,
  table: "string",
  reservationMs: "number",
  clock: ".now",
};

/** A replay store in a SQLite file. */
export interface SqliteReplayStore extends ReplayStore {
  /**
   * `commit` for a `run` that keeps its work in the same database. Call it inside a transaction on the same connection
   * (`db`): then id and work are committed together, or neither is.
   *
   * @throws {HookproofError} RESERVATION_LOST, which rolls the transaction back; REPLAY_STORE_UNAVAILABLE
   */
  commitSync(reservation: Reservation): void;
  /** Closes the connection that `open` gave; a `db` of yours stays open. */
  close(): void;
}

/**
 * A replay store in a SQLite file, for one machine with any number of processes. It creates its table where that does
 * not exist. Ids are kept for 7 days (specification 8) and removed afterwards, at most 500 a call.
 *
 * A connection that `open` gives is set to WAL, to `synchronous = FULL` and to a busy timeout of 5 s. Set all three on a
 * `db` of yours (`PRAGMA journal_mode = WAL`, `PRAGMA synchronous = FULL`, `PRAGMA busy_timeout = 5000`): without
 * FULL a power failure can forget ids whose events have run.
 *
 * Calls of the same moment share one transaction. Keep your own transactions on `db` synchronous: into one that is
 * open over an `await`, ids of other requests would come.
 *
 * Its methods reject with a `HookproofError` REPLAY_STORE_UNAVAILABLE when the database fails.
 *
 * @throws {HookproofError} REPLAY_STORE_UNAVAILABLE if the file cannot be opened or written
 * @example
 * ```ts
 * import { generateSecret } from "hookproof"; // stands for your listener's own secret
 * import Database from "better-sqlite3";
 * import { sqliteReplayStore } from "hookproof/replay";
 * import { createReceiver } from "hookproof/receiver";
 *
 * const db = new Database("events.db");
 * db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
 * db.exec("CREATE TABLE IF NOT EXISTS jobs (event_id TEXT PRIMARY KEY, body BLOB NOT NULL)");
 * const replayStore = sqliteReplayStore({ db });
 *
 * const receiver = createReceiver({
 *   listener: { id: "lst_1", baseUrl: "https://tenant.example.com", auth: { method: "hmac", secret: generateSecret() } },
 *   replayStore,
 * });
 * const insertJob = db.prepare("INSERT INTO jobs (event_id, body) VALUES (?, ?)");
 * const handler = (request: Request) =>
 *   receiver.handle(request, async (event, reservation) => {
 *     db.transaction(() => {
 *       insertJob.run(event.id, event.body);
 *       replayStore.commitSync(reservation);
 *     })();
 *   });
 * ```
 */
export function sqliteReplayStore(options: SqliteReplayStoreOptions): SqliteReplayStore {
  checkOptions("sqliteReplayStore", options, NAMES);
  const {
    db: given,
    open,
    table: name = REPLAY_TABLE,
    reservationMs = RESERVATION_MS,
    clock = systemClock,
  } = options;
  if ((given === undefined) === (open === undefined)) throw new TypeError("give either db or open");
  checkWholeNumber("reservationMs", reservationMs);
  const table = quotedTable(name);
  if (given && (typeof given.prepare !== "function" || typeof given.exec !== "function"))
    throw new TypeError("db must be a SQLite connection with exec() and prepare()");
  const own = open && withCodes(open);
  const db = own ?? (given as SqliteDatabase);
  withCodes(() => {
    try {
      own?.exec("PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
      createTable(db, name);
    } catch (error) {
      own?.close();
      throw error;
    }
  });
  const cleanup = cleanupSchedule();
  const group = groupCommit(db, { failure: storeFailure });
  const ask = preparedQueries(db, {
    reserve: `INSERT INTO ${table} AS ids (listener_id, event_id, token, processed, expires_at)
      VALUES (?, ?, ?, 0, ?)
      ON CONFLICT (listener_id, event_id) DO UPDATE
        SET token = excluded.token, processed = 0, expires_at = excluded.expires_at
        WHERE ids.expires_at <= ?
      RETURNING token`,
    look: `SELECT processed FROM ${table} WHERE listener_id = ? AND event_id = ?`,
    commit: `INSERT INTO ${table} AS ids (listener_id, event_id, token, processed, expires_at)
      VALUES (?, ?, ?, 1, ?)
      ON CONFLICT (listener_id, event_id) DO UPDATE
        SET token = excluded.token, processed = 1, expires_at = excluded.expires_at
        WHERE ids.token = excluded.token OR ids.expires_at <= ?
      RETURNING token`,
    release: `DELETE FROM ${table} WHERE listener_id = ? AND event_id = ? AND token = ? AND processed = 0
      RETURNING token`,
    cleanup: `DELETE FROM ${table} WHERE rowid IN
      (SELECT rowid FROM ${table} WHERE expires_at <= ? LIMIT ${CLEANUP_ROWS}) RETURNING 1`,
  });

  const commitSync = ({ listenerId, eventId, token }: Reservation): void =>
    withCodes(() => {
      const now = clock.now();
      const [row] = ask("commit", listenerId, eventId, token, now + EVENT_ID_RETENTION_MS, now);
      if (!row) throw reservationLost();
    });

  return {
    commitSync,
    reserve: (listenerId, eventId) =>
      group((): ReserveResult => {
        const now = clock.now();
        if (cleanup.isDue(now)) cleanup.done(now, ask("cleanup", now).length);
        const token = randomUUID();
        const [taken] = ask("reserve", listenerId, eventId, token, now + reservationMs, now);
        if (taken) return { state: "reserved", reservation: { listenerId, eventId, token } };
        const [held] = ask<{ processed: number }>("look", listenerId, eventId);
        return { state: held?.processed === 1 ? "processed" : "in-flight" };
      }),
    commit: (reservation) => group(() => commitSync(reservation)),
    release: ({ listenerId, eventId, token }) => group(() => void ask("release", listenerId, eventId, token)),
    close: () => void own?.close(),
  };
}

function createTable(db: SqliteDatabase, name: string): void {
  const table = quotedTable(name);
  db.exec(`CREATE TABLE IF NOT EXISTS ${table} (
    listener_id TEXT NOT NULL, event_id TEXT NOT NULL, token TEXT NOT NULL,
    processed INTEGER NOT NULL, expires_at INTEGER NOT NULL,
    PRIMARY KEY (listener_id, event_id))`);
  db.exec(`CREATE INDEX IF NOT EXISTS ${quotedIndex(name)} ON ${table} (expires_at)`);
}

/** Runs work on the database; what it throws becomes the store's own error. */
function withCodes<Value>(work: () => Value): Value {
  try {
    return work();
  } catch (error) {
    throw storeFailure(error);
  }
}
