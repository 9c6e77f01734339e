// A replay store in PostgreSQL.
import { randomUUID } from "node:crypto";
import { checkOptions, checkWholeNumber, type OptionNames } from "../../core/options.js";
import { EVENT_ID_RETENTION_MS } from "../../core/protocol.js";
import { Database, type PostgresClient, type PostgresPool, rowsOf } from "../../postgres/database.js";
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
  storeFailure,
  withinMs,
} from "../replay-store.js";
import { together } from "./together.js";

/** Options of `postgresReplayStore`. */
export interface PostgresReplayStoreOptions {
  /** A `Pool` of `pg` with a `connectionTimeoutMillis`; ending it is the caller's. */
  pool: PostgresPool;
  /**
   * The table's name, or `schema.name`; `hookproof_event_ids` by default. Give it with its schema where other roles may
   * create tables in one that the session looks into, as everybody may in `public` before PostgreSQL 15.
   */
  table?: string | undefined;
  /** How long a reservation holds if it is neither committed nor released; 60,000 ms by default. */
  reservationMs?: number | undefined;
  /** A call that takes longer rejects; 2,000 ms by default. */
  timeoutMs?: number | undefined;
}

const NAMES: OptionNames<PostgresReplayStoreOptions> = {
  pool: 1,
  table: "string",
  reservationMs: "number",
  timeoutMs: "number",
};

/** A replay store in PostgreSQL. */
export interface PostgresReplayStore extends ReplayStore {
  /**
   * As in every store. With the client of an open transaction, id and work are committed together, or neither is.
   * Where it rejects with RESERVATION_LOST, roll back. Make it the last call before `COMMIT`.
   */
  commit(reservation: Reservation, transaction?: PostgresClient): Promise<void>;
}

/**
 * A replay store in PostgreSQL 12 or later, for any number of machines. It uses the database's clock, so the machines'
 * clocks need not agree. It creates its table at the first call, where the table does not exist. Ids are kept for 7
 * days (specification 8) and removed afterwards, at most 500 a call. Calls of the same moment share one statement.
 *
 * Its methods reject with a `HookproofError` REPLAY_STORE_UNAVAILABLE when the database fails or is late.
 *
 * @throws {TypeError | RangeError} for options that cannot work
 *
 * @example
 * ```ts
 * import { generateSecret } from "hookproof"; // stands for your listener's own secret
 * import { postgresReplayStore } from "hookproof/replay";
 * import { createReceiver } from "hookproof/receiver";
 * import pg from "pg";
 *
 * const pool = new pg.Pool({ connectionString: "postgres://localhost/app", connectionTimeoutMillis: 2_000 });
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
 *       await client.query("ROLLBACK").catch(() => {});
 *       throw error;
 *     } finally {
 *       client.release();
 *     }
 *   });
 * ```
 */
export function postgresReplayStore(options: PostgresReplayStoreOptions): PostgresReplayStore {
  checkOptions("postgresReplayStore", options, NAMES);
  const { pool, table = REPLAY_TABLE, reservationMs = RESERVATION_MS, timeoutMs = 2_000 } = options;
  checkWholeNumber("reservationMs", reservationMs);
  checkWholeNumber("timeoutMs", timeoutMs);
  return new PostgresIds(pool, table, reservationMs, timeoutMs);
}

/** Its functions are its own and bound, because callers spread a store into one that does some of it otherwise. */
class PostgresIds implements PostgresReplayStore {
  readonly #database: Database;
  readonly #name: string;
  readonly #table: string;
  readonly #sql: ReturnType<typeof queriesOn>;
  readonly #reservationMs: number;
  readonly #timeoutMs: number;
  readonly #cleanup = cleanupSchedule();
  #prepared: Promise<void> | undefined;

  constructor(pool: PostgresPool, name: string, reservationMs: number, timeoutMs: number) {
    // A connection is closed later than its caller gives up: until then a late answer is taken back.
    this.#database = new Database(pool, LATE_TIMES * timeoutMs, storeFailure);
    this.#name = name;
    this.#table = quotedTable(name);
    this.#sql = queriesOn(this.#table, this.#database);
    this.#reservationMs = reservationMs;
    this.#timeoutMs = timeoutMs;
  }

  readonly reserve: PostgresReplayStore["reserve"] = async (listenerId, eventId) => {
    await this.#prepare();
    const now = performance.now();
    if (this.#cleanup.isDue(now)) {
      this.#cleanup.done(now, 0); // the calls of the same moment go on without it
      const removed = await withinMs(this.#timeoutMs, () => this.#database.write(this.#sql.cleanup));
      this.#cleanup.done(now, removed.length);
    }
    const reservation = { listenerId, eventId, token: randomUUID() };
    // A reservation that nobody was told of is released, or the id would be in flight though nobody works on it.
    const { reserved, processed } = await withinMs(
      this.#timeoutMs,
      () => this.#reserveTogether(reservation),
      () => this.#releaseTogether(reservation),
    );
    if (reserved) return { state: "reserved", reservation };
    return { state: processed ? "processed" : "in-flight" };
  };

  readonly commit: PostgresReplayStore["commit"] = async (reservation, transaction) => {
    const isCommitted = await withinMs(this.#timeoutMs, () =>
      transaction ? this.#commitIn(transaction, reservation) : this.#commitTogether(reservation),
    );
    if (!isCommitted) throw reservationLost();
  };

  readonly release: PostgresReplayStore["release"] = async (reservation) => {
    await withinMs(this.#timeoutMs, () => this.#releaseTogether(reservation));
  };

  readonly #reserveTogether = together(rowOf, async (calls: readonly Reservation[]) => {
    const values = [...columnsOf(calls), this.#reservationMs];
    return this.#database.write<{ reserved: boolean; processed: boolean | null }>(this.#sql.reserve, values);
  });

  readonly #commitTogether = together(rowOf, async (calls: readonly Reservation[]) => {
    const values = [...columnsOf(calls), EVENT_ID_RETENTION_MS];
    const rows = await this.#database.write<{ token: string }>(this.#sql.commit, values);
    const committed = new Set(rows.map(({ token }) => token));
    return calls.map(({ token }) => committed.has(token));
  });

  readonly #releaseTogether = together(rowOf, async (calls: readonly Reservation[]) => {
    await this.#database.write(this.#sql.release, columnsOf(calls));
    return [];
  });

  async #commitIn(transaction: PostgresClient, reservation: Reservation): Promise<boolean> {
    const values = [...columnsOf([reservation]), EVENT_ID_RETENTION_MS];
    return rowsOf(await transaction.query(this.#sql.commitIn, values)).length > 0;
  }

  #prepare(): Promise<void> {
    this.#prepared ??= withinMs(this.#timeoutMs, () => this.#createTable()).catch((error) => {
      this.#prepared = undefined;
      throw error;
    });
    return this.#prepared;
  }

  async #createTable(): Promise<void> {
    // PostgreSQL refuses CREATE TABLE IF NOT EXISTS to a role that may not create tables, even where the table exists.
    const [found] = await this.#database.write<{ exists: boolean }>(
      "SELECT pg_catalog.to_regclass($1::text) IS NOT NULL AS exists",
      [this.#table],
    );
    if (found?.exists) return;
    // Two processes that create one table at once would collide in the catalogue.
    const lock = `SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtext('hookproof ${this.#name}'::text)::bigint)`;
    await this.#database.script([lock, this.#sql.create, this.#sql.index(quotedIndex(this.#name))]);
  }
}

/** For so many times of a call's limit its connection is kept. */
const LATE_TIMES = 5;

/** Which row a call is about. PostgreSQL would refuse a text with a NUL, and every other call of its statement. */
function rowOf({ listenerId, eventId }: Reservation): string {
  const row = `${listenerId}\n${eventId}`;
  if (row.includes("\0")) throw new TypeError("an id must not hold a NUL");
  return row;
}

/** The reservations as the three arrays that the statements take. */
const columnsOf = (calls: readonly Reservation[]): string[][] => [
  calls.map(({ listenerId }) => listenerId),
  calls.map(({ eventId }) => eventId),
  calls.map(({ token }) => token),
];

// The table may be one of the session's search_path, in which another role may have put functions and operators: so
// functions are named with their schema, and the types on both sides of an operator are those that PostgreSQL's own has.
const NOW = "pg_catalog.clock_timestamp()";
const LATER = `${NOW} + $4::float8 * interval '1 millisecond'`;
const given = (first = "$1::text[]") => `SELECT * FROM unnest(${first}, $2::text[], $3::text[])
  WITH ORDINALITY AS given (listener_id, event_id, token, ordinality)`;

function queriesOn(table: string, database: Database) {
  const own = given(database.limited("$1::text[]"));
  const commit = (
    from: string,
  ) => `INSERT INTO ${table} AS ids (listener_id, event_id, token, processed, expires_at)
      SELECT listener_id, event_id, token, true, ${LATER} FROM (${from}) AS given ORDER BY listener_id, event_id
      ON CONFLICT (listener_id, event_id) DO UPDATE
        SET token = excluded.token, processed = true, expires_at = excluded.expires_at
        WHERE ids.token = excluded.token OR ids.expires_at <= ${NOW}
      RETURNING token`;
  return {
    create: `CREATE TABLE IF NOT EXISTS ${table} (
      listener_id text NOT NULL, event_id text NOT NULL, token text NOT NULL,
      processed boolean NOT NULL, expires_at timestamptz NOT NULL,
      PRIMARY KEY (listener_id, event_id))`,
    index: (name: string) => `CREATE INDEX IF NOT EXISTS ${name} ON ${table} (expires_at)`,
    // A known id is read from the snapshot first: INSERT alone would wait for an open transaction that has the row.
    // Rows are written in the order of their keys, so that statements of two processes never wait for each other.
    reserve: `WITH given AS MATERIALIZED (${own}), known AS (
        SELECT g.ordinality, ids.processed FROM given g JOIN ${table} ids USING (listener_id, event_id)
        WHERE ids.expires_at > ${NOW}
      ), taken AS (
        INSERT INTO ${table} AS ids (listener_id, event_id, token, processed, expires_at)
        SELECT listener_id, event_id, token, false, ${LATER} FROM given
        WHERE ordinality NOT IN (SELECT ordinality FROM known) ORDER BY listener_id, event_id
        ON CONFLICT (listener_id, event_id) DO UPDATE
          SET token = excluded.token, processed = false, expires_at = excluded.expires_at
          WHERE ids.expires_at <= ${NOW}
        RETURNING token
      )
      SELECT taken.token IS NOT NULL AS reserved, known.processed
      FROM given LEFT JOIN taken USING (token) LEFT JOIN known USING (ordinality) ORDER BY ordinality`,
    commit: commit(own),
    /** In the caller's transaction, whose limits are its own. */
    commitIn: commit(given()),
    release: `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
        SELECT ids.ctid FROM (${own}) AS given JOIN ${table} ids USING (listener_id, event_id, token)
        WHERE NOT ids.processed ORDER BY ids.listener_id, ids.event_id FOR UPDATE OF ids))`,
    // A subquery, as no index serves a function that is called for each row; the order, so that no plan reads all rows.
    cleanup: `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM ${table} WHERE expires_at <= (SELECT ${NOW}) ORDER BY expires_at
        LIMIT ${CLEANUP_ROWS} FOR UPDATE SKIP LOCKED)) RETURNING 1`,
  };
}
