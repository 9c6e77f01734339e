import { databaseFailure } from "../primitives/database-call.js";

/** Runs SQL, as pg-boss's `db` option does; pg-boss's `fromDrizzle` and `fromKysely` make one of a transaction. */
export interface SqlRunner {
  executeSql(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
}

/** A `Client` or `PoolClient` of `pg`, inside a transaction that its owner began. */
export interface PgClient {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
}

/** The caller's transaction: a client of `pg`, or what pg-boss's adapter makes of an ORM's transaction. */
export type PgBossTransaction = PgClient | SqlRunner;

/** pg-boss's own connection, as far as it is used here. */
export interface BossDatabase extends SqlRunner {
  beginTransaction?(): Promise<{ db: SqlRunner; commit(): Promise<void>; rollback(): Promise<void> }>;
  listen?(
    channel: string,
    onNotification: (payload: string) => void,
    onReconnect: () => void,
  ): Promise<{ close(): Promise<void> }>;
}

/** A job somebody fetched: pg-boss leaves it alone if it has been fetched again since. */
export interface FetchedJob {
  readonly id: string;
  readonly retryCount: number;
}

/** A started `PgBoss`, as far as it is used here. */
export interface Boss {
  getDb(): BossDatabase;
  createQueue(name: string, options?: Readonly<Record<string, unknown>>): Promise<void>;
  insert(
    name: string,
    jobs: { id: string; data: object; startAfter?: string }[],
    options: { db: SqlRunner; returnId: boolean },
  ): Promise<string[] | null>;
  fetch(
    name: string,
    options: { db: SqlRunner; batchSize: number },
  ): Promise<readonly (FetchedJob & { readonly data: object })[]>;
  complete(name: string, jobs: FetchedJob[], data: null, options: { db: SqlRunner }): Promise<unknown>;
  fail(name: string, jobs: FetchedJob[], data: null, options: { db: SqlRunner }): Promise<unknown>;
  findJobs(name: string, options: { id: string }): Promise<readonly { readonly state: string }[]>;
}

/** The caller's transaction as pg-boss wants it. */
export function sqlRunner(tx: PgBossTransaction): SqlRunner {
  if ("executeSql" in tx && typeof tx.executeSql === "function") return tx;
  if ("query" in tx && typeof tx.query === "function")
    return { executeSql: (text, values) => tx.query(text, values) };
  throw new TypeError(
    "tx must be a client of pg, or what pg-boss's fromDrizzle, fromKysely or the like make",
  );
}

/** Runs a statement whose parameters are texts, the first of them JSON: every driver and ORM passes those on alike. */
export async function rowsOf<Row>(
  db: SqlRunner,
  text: string,
  input: unknown,
  ...more: readonly string[]
): Promise<Row[]> {
  const { rows } = await db.executeSql(text, [JSON.stringify(input), ...more]);
  return rows as Row[];
}

/** What the store rejects with when the database fails; a wrong call stays what it is. */
export function outboxFailure(error: unknown): Error {
  return error instanceof TypeError ? error : databaseFailure("OUTBOX_UNAVAILABLE", error);
}

/** Runs work in a transaction on one of pg-boss's own connections, and again if another one was in its way. */
export async function inTransaction<Value>(
  database: BossDatabase,
  work: (db: SqlRunner) => Promise<Value>,
): Promise<Value> {
  return rerun(async () => {
    if (!database.beginTransaction)
      throw new TypeError("boss must have a connection with beginTransaction(), as pg-boss's own has");
    const transaction = await database.beginTransaction();
    try {
      const value = await work(transaction.db);
      await transaction.commit();
      return value;
    } catch (error) {
      await transaction.rollback();
      throw error;
    }
  });
}

/**
 * Runs again what another transaction was in the way of: a claim has a job before its event, a worker that is late
 * has the event before its job, and of two that wait for each other PostgreSQL ends one.
 */
export async function rerun<Value>(work: () => Promise<Value>): Promise<Value> {
  for (let run = 1; ; run++)
    try {
      return await work();
    } catch (error) {
      if (run === MAX_RUNS || !COLLISIONS.includes((error as { code?: unknown } | undefined)?.code))
        throw error;
    }
}

const MAX_RUNS = 4;

/** A deadlock, and what a database that serialises its transactions says instead. */
const COLLISIONS: readonly unknown[] = ["40P01", "40001"];
