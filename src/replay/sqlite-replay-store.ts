import { randomUUID } from "node:crypto";
import { type Clock, systemClock } from "../primitives/clock.js";
import { EVENT_ID_RETENTION_MS } from "../protocol/limits.js";
import {
  RESERVATION_MS,
  type ReplayStore,
  type Reservation,
  type ReserveResult,
} from "../receiver/replay-store.js";
import { CLEANUP_ROWS, cleanupSchedule, quotedIndex, quotedTable, REPLAY_TABLE } from "./replay-table.js";
import { preparedQueries, type SqliteDatabase } from "./sqlite-database.js";
import { groupCommit } from "./sqlite-group-commit.js";
import { checkMs, reservationLost, storeFailure } from "./store-failure.js";

/** Options of `sqliteReplayStore`. */
export interface SqliteReplayStoreOptions {
  /** The table's name; `hookproof_event_ids` by default. */
  table?: string | undefined;
  /** How long a reservation holds if it is neither committed nor released; 60,000 ms by default. */
  reservationMs?: number | undefined;
  clock?: Clock | undefined;
}

/** A replay store in a SQLite file. */
export interface SqliteReplayStore extends ReplayStore {
  /** Creates the table if it is not there yet. Call it once at the start; calling it again changes nothing. */
  createTable(): void;
  /**
   * `commit` for a `run` that keeps its work in the same database: called inside a transaction on the same
   * connection, id and work are committed together, or neither is.
   *
   * @throws {HookproofError} RESERVATION_LOST, which rolls the transaction back; REPLAY_STORE_UNAVAILABLE
   */
  commitSync(reservation: Reservation): void;
}

/**
 * A replay store in a SQLite file, for one machine with any number of processes. Give each process a
 * connection with a busy timeout (`better-sqlite3` has one of 5 s; elsewhere `PRAGMA busy_timeout = 5000`),
 * and the file `PRAGMA journal_mode = WAL`. Ids are kept for 7 days (specification 8) and removed afterwards, a
 * bounded number a call.
 *
 * What is asked for at the same moment shares one transaction. Keep your own transactions on the connection
 * synchronous: one that is held open over an `await` would take other requests' ids into it.
 *
 * Its methods reject with a `HookproofError` REPLAY_STORE_UNAVAILABLE when the database fails.
 *
 * @example
 * ```ts
 * import { generateSecret } from "hookproof"; // stands for your listener's own secret
 * import Database from "better-sqlite3";
 * import { sqliteReplayStore } from "hookproof/node";
 * import { createReceiver } from "hookproof/receiver";
 *
 * const db = new Database("events.db");
 * db.pragma("journal_mode = WAL");
 * db.exec("CREATE TABLE IF NOT EXISTS jobs (event_id TEXT PRIMARY KEY, body BLOB NOT NULL)");
 * const replayStore = sqliteReplayStore(db);
 * replayStore.createTable();
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
export function sqliteReplayStore(
  db: SqliteDatabase,
  {
    table: name = REPLAY_TABLE,
    reservationMs = RESERVATION_MS,
    clock = systemClock,
  }: SqliteReplayStoreOptions = {},
): SqliteReplayStore {
  if (typeof db?.prepare !== "function" || typeof db.exec !== "function")
    throw new TypeError("db must be a SQLite connection with exec() and prepare()");
  checkMs("reservationMs", reservationMs);
  const table = quotedTable(name);
  const cleanup = cleanupSchedule();
  const group = groupCommit(db);
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

  const commitSync = ({ listenerId, eventId, token }: Reservation): void => {
    try {
      const now = clock.now();
      const [row] = ask("commit", listenerId, eventId, token, now + EVENT_ID_RETENTION_MS, now);
      if (!row) throw reservationLost();
    } catch (error) {
      throw storeFailure(error);
    }
  };

  return {
    createTable() {
      db.exec(`CREATE TABLE IF NOT EXISTS ${table} (
        listener_id TEXT NOT NULL, event_id TEXT NOT NULL, token TEXT NOT NULL,
        processed INTEGER NOT NULL, expires_at INTEGER NOT NULL,
        PRIMARY KEY (listener_id, event_id))`);
      db.exec(`CREATE INDEX IF NOT EXISTS ${quotedIndex(name)} ON ${table} (expires_at)`);
    },
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
  };
}
