import { randomUUID } from "node:crypto";
import { checkWholeNumber } from "../core/options.js";
import { EVENT_ID_RETENTION_MS } from "../core/protocol.js";
import {
  CLEANUP_ROWS,
  cleanupSchedule,
  quotedIndex,
  quotedTable,
  REPLAY_TABLE,
  RESERVATION_MS,
  type ReplayStore,
  type Reservation,
  reservationLost,
  withinMs,
} from "./replay-store.js";

/** The method of a `Pool`, `PoolClient` or `Client` of `pg` that the store uses. */
export interface PostgresQueryable {
  /** Runs a statement, with a value for each `$1`, `$2` and so on. */
  query(sql: string, values?: unknown[]): Promise<{ rows: unknown[]; rowCount: number | null }>;
}

/** Options of `postgresReplayStore`. */
export interface PostgresReplayStoreOptions {
  /** A `Pool` of `pg`; ending it is the caller's. */
  pool: PostgresQueryable;
  /** The table's name, or `schema.name`; `hookproof_event_ids` by default. */
  table?: string | undefined;
  /** How long a reservation holds if it is neither committed nor released; 60,000 ms by default. */
  reservationMs?: number | undefined;
  /** A call that takes longer rejects; 2,000 ms by default. */
  timeoutMs?: number | undefined;
}

/** A replay store in PostgreSQL. */
export interface PostgresReplayStore extends ReplayStore {
  /**
   * As in every store. With the client of an open transaction, id and work are committed together, or neither is.
   * Where it rejects with RESERVATION_LOST, roll back. Make it the last call before `COMMIT`.
   */
  commit(reservation: Reservation, transaction?: PostgresQueryable): Promise<void>;
}

/**
 * A replay store in PostgreSQL 12 or later, for any number of machines. It uses the database's clock, so the machines'
 * clocks need not agree. It creates its table at the first call, where the table does not exist. Ids are kept for 7
 * days (specification 8) and removed afterwards, at most 500 a call.
 *
 * Its methods reject with a `HookproofError` REPLAY_STORE_UNAVAILABLE when the database fails or is late.
 *
 * @example
 * ```ts
 * import { generateSecret } from "hookproof"; // stands for your listener's own secret
 * import { postgresReplayStore } from "hookproof/replay";
 * import { createReceiver } from "hookproof/receiver";
 * import pg from "pg";
 *
 * const pool = new pg.Pool({ connectionString: "postgres://localhost/app" });
 * const replayStore = postgresReplayStore({ pool });
 *
 * const receiver = createReceiver({
 *   listener: { id: "lst_1", baseUrl: "https://tenant.example.com", auth: { method: "hmac", secret: generateSecret() } },
 *   replayStore,
 * });
 * const handler = (request: Request) =>
 *   receiver.handle(request, async (event, reservation) => {
 *     const client = await pool.connect();
 *     try {
 *       await client.query("BEGIN");
 *       await client.query("INSERT INTO jobs (event_id, body) VALUES ($1, $2)", [event.id, event.body]);
 *       await replayStore.commit(reservation, client);
 *       await client.query("COMMIT");
 *     } catch (error) {
 *       await client.query("ROLLBACK");
 *       throw error;
 *     } finally {
 *       client.release();
 *     }
 *   });
 * ```
 */
export function postgresReplayStore({
  pool,
  table: name = REPLAY_TABLE,
  reservationMs = RESERVATION_MS,
  timeoutMs = 2_000,
}: PostgresReplayStoreOptions): PostgresReplayStore {
  if (typeof pool?.query !== "function")
    throw new TypeError("pool must have the query() of pg's Pool or Client");
  checkWholeNumber("reservationMs", reservationMs);
  checkWholeNumber("timeoutMs", timeoutMs);
  const table = quotedTable(name);
  const sql = queriesOn(table);
  const cleanup = cleanupSchedule();

  let prepared: Promise<void> | undefined;

  function prepare(): Promise<void> {
    prepared ??= withinMs(timeoutMs, createTable).catch((error) => {
      prepared = undefined;
      throw error;
    });
    return prepared;
  }

  async function createTable(): Promise<void> {
    // PostgreSQL refuses CREATE TABLE IF NOT EXISTS to a role that may not create tables, even where the table exists.
    const { rows } = await pool.query("SELECT to_regclass($1) IS NOT NULL AS exists", [table]);
    if ((rows as { exists?: boolean }[])[0]?.exists) return;
    // Two processes that create one table at once would collide in the catalogue. The lock lasts as long as the
    // implicit transaction around these statements.
    const lock = `SELECT pg_advisory_xact_lock(hashtext('hookproof ${name}'))`;
    await pool.query(`${lock}; ${sql.create}; ${sql.index(quotedIndex(name))}`);
  }

  return {
    async reserve(listenerId, eventId) {
      await prepare();
      const now = performance.now();
      if (cleanup.isDue(now)) {
        const { rowCount } = await withinMs(timeoutMs, () => pool.query(sql.cleanup));
        cleanup.done(now, rowCount ?? 0);
      }
      const token = randomUUID();
      const values = [listenerId, eventId, token, reservationMs];
      // A reservation that comes too late is released, or the id would be in flight though nobody works on it.
      const { rows } = await withinMs(
        timeoutMs,
        () => pool.query(sql.reserve, values),
        () => pool.query(sql.release, values.slice(0, 3)),
      );
      const [{ reserved, processed }] = rows as [{ reserved: boolean; processed: boolean | null }];
      if (reserved) return { state: "reserved", reservation: { listenerId, eventId, token } };
      return { state: processed ? "processed" : "in-flight" };
    },
    async commit({ listenerId, eventId, token }, transaction = pool) {
      const values = [listenerId, eventId, token, EVENT_ID_RETENTION_MS];
      const { rowCount } = await withinMs(timeoutMs, () => transaction.query(sql.commit, values));
      if (rowCount === 0) throw reservationLost();
    },
    async release({ listenerId, eventId, token }) {
      await withinMs(timeoutMs, () => pool.query(sql.release, [listenerId, eventId, token]));
    },
  };
}

const NOW = "clock_timestamp()";
const LATER = `${NOW} + $4 * interval '1 millisecond'`;

function queriesOn(table: string) {
  return {
    create: `CREATE TABLE IF NOT EXISTS ${table} (
      listener_id text NOT NULL, event_id text NOT NULL, token text NOT NULL,
      processed boolean NOT NULL, expires_at timestamptz NOT NULL,
      PRIMARY KEY (listener_id, event_id))`,
    index: (name: string) => `CREATE INDEX IF NOT EXISTS ${name} ON ${table} (expires_at)`,
    // A known id is read from the snapshot first: INSERT alone would wait for an open transaction that has the row.
    reserve: `WITH known AS (
        SELECT processed FROM ${table} WHERE listener_id = $1 AND event_id = $2 AND expires_at > ${NOW}
      ), taken AS (
        INSERT INTO ${table} AS ids (listener_id, event_id, token, processed, expires_at)
        SELECT $1, $2, $3, false, ${LATER} WHERE NOT EXISTS (SELECT FROM known)
        ON CONFLICT (listener_id, event_id) DO UPDATE
          SET token = excluded.token, processed = false, expires_at = excluded.expires_at
          WHERE ids.expires_at <= ${NOW}
        RETURNING token
      )
      SELECT EXISTS (SELECT FROM taken) AS reserved, (SELECT processed FROM known) AS processed`,
    commit: `INSERT INTO ${table} AS ids (listener_id, event_id, token, processed, expires_at)
      VALUES ($1, $2, $3, true, ${LATER})
      ON CONFLICT (listener_id, event_id) DO UPDATE
        SET token = excluded.token, processed = true, expires_at = excluded.expires_at
        WHERE ids.token = excluded.token OR ids.expires_at <= ${NOW}`,
    release: `DELETE FROM ${table} WHERE listener_id = $1 AND event_id = $2 AND token = $3 AND NOT processed`,
    cleanup: `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM ${table} WHERE expires_at <= ${NOW} LIMIT ${CLEANUP_ROWS} FOR UPDATE SKIP LOCKED))`,
  };
}
