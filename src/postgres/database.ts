// The one way to PostgreSQL: connections, transactions, limits and errors.
import { within } from "../core/clock.js";
import { databaseFailure, HookproofError } from "../core/errors.js";

/** Runs statements: a `Client` or `PoolClient` of `pg`, or the transaction of an ORM that has such a `query`. */
export interface PostgresClient {
  /** Runs one statement; the result is its rows, or has them as `rows`. */
  query(text: string, values?: unknown[]): Promise<unknown>;
}

/** The rows of a statement, or what a driver or an ORM gives with them. */
export type PostgresRows = readonly unknown[] | { readonly rows: readonly unknown[] };

/**
 * Runs one statement in a transaction of your ORM, and gives its rows. The text names `$1`, `$2` and so on once each and
 * in their order, and has no question mark, so that `text.replace(/\$\d+/g, "?")` is the same statement for an ORM that
 * wants those. The values are texts.
 *
 * @example
 * ```ts
 * import type { PostgresQuery } from "hookproof/outbox/postgres";
 *
 * declare const tx: { $queryRawUnsafe<Rows>(text: string, ...values: unknown[]): Promise<Rows> }; // Prisma's
 * const query: PostgresQuery = (text, values) => tx.$queryRawUnsafe<unknown[]>(text, ...values);
 * ```
 */
export type PostgresQuery = (text: string, values: string[]) => PromiseLike<PostgresRows>;

/** A transaction that is open: a client of `pg`, whatever has the `query` of one, or a function that runs a statement. */
export type PostgresTransaction = PostgresClient | PostgresQuery;

/** The part of a pool's client that the store uses. */
export interface PostgresPoolClient extends PostgresClient {
  /** Gives the client back to the pool; with an error or `true` the pool closes the connection. */
  release(error?: Error | boolean): void;
}

/**
 * The part of a `Pool` of `pg` that a store uses. It has to have a `connectionTimeoutMillis`: to give up on `connect()`
 * gives nothing back, so that in a network that swallows connections each attempt would keep a place of the pool for
 * ever. A store listens for the errors of the pool and of its connections, which would end the process otherwise; what
 * was asked rejects as well.
 */
export interface PostgresPool {
  /** Takes a client out of the pool, and connects if none is free. */
  connect(): Promise<PostgresPoolClient>;
  /** The options that the pool was made with. */
  readonly options?:
    | {
        /** The number of connections; 10 by default. */
        readonly max?: number | undefined;
        /** How long it may take to make a connection, or to be given one; above 0. */
        readonly connectionTimeoutMillis?: number | undefined;
      }
    | undefined;
}

/** How far a call has come: an error before `asked` has changed nothing. */
interface Progress {
  asked: boolean;
}

/** How long the answer of a doubtful connection, and a rollback, may take. */
const PROBE_MS = 1_000;

/** Right for reports alone: compiling takes seconds where a cost seems high, a bitmap reads what `LIMIT` would leave. */
const NO_REPORTS = ["SET LOCAL jit = off", "SET LOCAL enable_bitmapscan = off"];

/** How often work runs at most that deadlocks or serialization failures have stopped. */
const MAX_RUNS = 4;

/**
 * The store's access to PostgreSQL. Every call has a time limit, and a connection that does not answer in time is
 * closed: behind a firewall that has lost its state, it would never answer again.
 *
 * Nothing outlives a transaction: no prepared statements, no session locks, no settings. So the store works behind a
 * pooler that gives each transaction another connection.
 */
export class Database {
  readonly #pool: PostgresPool;
  readonly #limitMs: number;
  readonly #failure: typeof outboxFailure;
  /** What begins each transaction of its own, so that names mean what they should. */
  readonly #path: readonly string[];
  /** When each connection last answered. */
  readonly #heard = new WeakMap<PostgresPoolClient, number>();
  /** The start of the last call that was never answered. Connections that last answered earlier may be dead too. */
  #silentSince = Number.NEGATIVE_INFINITY;
  readonly #onLoss = new Set<() => void>();

  /**
   * @param limitMs how long a call may take
   * @param failure makes the error of a call from the driver's; by default those of an outbox
   * @param path the `search_path` of its transactions; by default that of the session, in which a role that may create
   *   functions and operators in one of its schemas can put some that fit better than PostgreSQL's own
   * @throws {TypeError} for a pool that waits for ever
   */
  constructor(pool: PostgresPool, limitMs: number, failure = outboxFailure, path?: string) {
    requirePool(pool);
    this.#pool = pool;
    this.#limitMs = limitMs;
    this.#failure = failure;
    this.#path = path === undefined ? [] : [`SET LOCAL search_path = ${path}`];
  }

  /** Runs one statement that changes nothing. Values are literals in the SQL. */
  read<Row>(statement: string): Promise<Row[]> {
    // After our own limit, so that what was given up ends in the server too, which does not look whether anybody waits.
    const timeout = `SET LOCAL statement_timeout = ${this.#limitMs + PROBE_MS}`;
    const begin = ["BEGIN ISOLATION LEVEL READ COMMITTED", ...this.#path, timeout, ...NO_REPORTS];
    return this.#look(begin, statement);
  }

  /** Runs one statement that changes nothing and reads no table from end to end. Values are literals in the SQL. */
  search<Row>(statement: string): Promise<Row[]> {
    return this.#look(this.#begin(), statement);
  }

  #look<Row>(begin: readonly string[], statement: string): Promise<Row[]> {
    const text = [...begin, statement, "COMMIT"].join(";\n");
    return this.#run(async (client) => {
      const results = (await client.query(text)) as unknown[];
      return rowsOf<Row>(results[begin.length]);
    });
  }

  /** Runs one statement outside a transaction, under the session's own `search_path`; see `limited`. */
  write<Row>(text: string, values?: unknown[]): Promise<Row[]> {
    return this.#run(async (client, progress) => {
      progress.asked = true;
      return rowsOf<Row>(await client.query(text, values));
    });
  }

  /** A value of a statement for `write`, from which on it waits for no lock for longer than a look may take. */
  limited(value: string): string {
    const ms = this.#limitMs + PROBE_MS;
    return `CASE WHEN pg_catalog.set_config('lock_timeout', '${ms}', true) IS NOT NULL THEN ${value} END`;
  }

  /**
   * Runs statements in one transaction and one round trip, so that no lock is held over the network. Values are
   * literals in the SQL. Resolves to the rows of each statement.
   */
  async script(statements: readonly string[]): Promise<unknown[][]> {
    const [rows = []] = await this.scripts([statements]);
    return rows;
  }

  /** Runs several transactions one after the other in one round trip. */
  scripts(transactions: readonly (readonly string[])[]): Promise<unknown[][][]> {
    const begin = this.#begin();
    const text = transactions
      .map((statements) => [...begin, ...statements, "COMMIT"].join(";\n"))
      .join(";\n");
    return this.#run(async (client, progress) => {
      progress.asked = true;
      let results = (await client.query(text)) as { rows: unknown[] }[];
      return transactions.map(({ length }) => {
        const rows = results.slice(begin.length, begin.length + length).map((result) => result.rows);
        results = results.slice(begin.length + length + 1);
        return rows;
      });
    });
  }

  /** Runs work in a transaction of its own; `limitMs` is for what takes longer than a call may. */
  transaction<Value>(work: (client: PostgresClient) => Promise<Value>, limitMs?: number): Promise<Value> {
    return this.#run(async (client, progress) => {
      await client.query(this.#begin(limitMs).join(";\n"));
      const value = await work(client);
      progress.asked = true;
      await client.query("COMMIT");
      return value;
    }, limitMs);
  }

  /** Calls this whenever a connection was lost: those on which nothing is asked may be dead too, and never say so. */
  onLoss(heard: () => void): () => void {
    this.#onLoss.add(heard);
    return () => this.#onLoss.delete(heard);
  }

  /** Takes a client out of the pool; the caller releases it. */
  connect(): Promise<PostgresPoolClient> {
    return this.#acquire(performance.now() + this.#limitMs);
  }

  /** Sets the isolation level, as the database's default may be another one. Every query has an index of its own. */
  #begin(ms = this.#limitMs): string[] {
    return [
      "BEGIN ISOLATION LEVEL READ COMMITTED",
      ...this.#path,
      `SET LOCAL statement_timeout = ${ms}`,
      "SET LOCAL enable_seqscan = off",
      ...NO_REPORTS,
      `SET LOCAL idle_in_transaction_session_timeout = ${this.#limitMs}`,
    ];
  }

  async #run<Value>(
    work: (client: PostgresPoolClient, progress: Progress) => Promise<Value>,
    limitMs = this.#limitMs,
  ): Promise<Value> {
    for (let run = 1; ; run++) {
      const progress = { asked: false };
      try {
        return await this.#once(work, progress, limitMs);
      } catch (error) {
        if (run < MAX_RUNS && isCollision(error)) continue;
        throw isOurs(error) ? error : this.#failure(error, progress.asked && !isServerError(error));
      }
    }
  }

  async #once<Value>(
    work: (client: PostgresPoolClient, progress: Progress) => Promise<Value>,
    progress: Progress,
    limitMs: number,
  ): Promise<Value> {
    const startedAt = performance.now();
    const client = await this.#acquire(startedAt + this.#limitMs);
    const askedAt = performance.now();
    try {
      const value = await withinTime(work(client, progress), startedAt + limitMs - performance.now());
      this.#heard.set(client, performance.now());
      client.release();
      return value;
    } catch (error) {
      if (error instanceof NoAnswer) this.#silentSince = Math.max(this.#silentSince, askedAt);
      await this.#giveBack(client, error);
      throw error;
    }
  }

  /** Gives a client back after an error: after an error of the server's it can be used again, otherwise it is closed. */
  async #giveBack(client: PostgresPoolClient, error: unknown): Promise<void> {
    try {
      if (!isServerError(error) && !isOurs(error)) throw error;
      await withinTime(client.query("ROLLBACK"), PROBE_MS);
      client.release();
    } catch {
      client.release(error instanceof Error ? error : true);
      for (const heard of this.#onLoss) heard();
    }
  }

  async #acquire(until: number): Promise<PostgresPoolClient> {
    for (;;) {
      const connecting = this.#pool.connect();
      const left = until - performance.now();
      const client = await within(connecting, left, () => noConnection(this.#pool, this.#limitMs)).catch(
        (error) => {
          connecting.then((late) => late.release()).catch(() => {}); // the caller has given up
          throw error;
        },
      );
      hearErrors(eventsOf(client));
      if (await this.#isAlive(client)) return client;
    }
  }

  /**
   * Whether a connection can be used. After a call without an answer, connections that last answered before it are
   * closed, and connections that this store has not used yet are tried.
   */
  async #isAlive(client: PostgresPoolClient): Promise<boolean> {
    const heard = this.#heard.get(client);
    if (this.#silentSince === Number.NEGATIVE_INFINITY || (heard ?? 0) > this.#silentSince) return true;
    try {
      if (heard !== undefined) throw new NoAnswer(0);
      await withinTime(client.query("SELECT 1"), PROBE_MS);
      this.#heard.set(client, performance.now());
      return true;
    } catch {
      client.release(true);
      return false;
    }
  }
}

/** The events of a `pg` client; other clients may have none. */
interface ClientEvents {
  /** The server's process id, as it was given at the connection's start. */
  readonly processID?: number | null;
  on?(event: "error" | "end", listener: () => void): unknown;
  on?(event: "notification", listener: (message: { readonly payload?: string }) => void): unknown;
}

const ignore = () => {};

/** The connections that are listened to; those of a pool are used again and again. */
const listenedTo = new WeakSet<object>();

/**
 * Listens for errors, as one that nobody listens for ends the process; what is being asked rejects as well.
 *
 * @returns whether it was not done before
 */
function hearErrors(emitter: object): boolean {
  if (listenedTo.has(emitter)) return false;
  listenedTo.add(emitter);
  (emitter as ClientEvents).on?.("error", ignore);
  return true;
}

function requirePool(pool: PostgresPool): void {
  if (typeof pool?.connect !== "function") throw new TypeError("pool must be a Pool of pg");
  if (pool.options && !(Number(pool.options.connectionTimeoutMillis) > 0))
    throw new TypeError(
      "pool must have a time limit: new Pool({ connectionTimeoutMillis: 5_000, ... }). Without it, a network that swallows connections keeps the pool's places for ever",
    );
  hearPool(pool);
}

/** Those of connections that the application uses as well, and of any that are made later. */
function hearPool(pool: object): void {
  const { on } = pool as { on?(event: string, listener: (client: ClientEvents) => void): unknown };
  if (hearErrors(pool)) on?.call(pool, "connect", hearErrors);
}

/** Why a pool gave no connection in time. */
function noConnection(pool: PostgresPool, limitMs: number): Error {
  const { totalCount, idleCount } = pool as { totalCount?: unknown; idleCount?: unknown };
  const { max = 10 } = pool.options ?? {};
  const isFull = totalCount === max && idleCount === 0;
  const why = isFull ? `: all ${max} are in use, or being made` : "";
  return new Error(`The pool gave no connection within ${limitMs} ms${why}`);
}

export function eventsOf(client: PostgresPoolClient): ClientEvents {
  return client as ClientEvents;
}

/** The rows of one statement. */
export function rowsOf<Row>(result: unknown): Row[] {
  return (result as { rows: Row[] }).rows;
}

/** A text as an SQL literal, for both values of `standard_conforming_strings`. */
export function literal(text: string): string {
  const quoted = `'${text.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
  return text.includes("\\") ? ` E${quoted}` : quoted;
}

/** A value as a JSON literal. */
export function jsonLiteral(value: unknown): string {
  return `${literal(JSON.stringify(value))}::json`;
}

/** Whether the server has refused a statement. After any other error the statement may have run. */
function isServerError(error: unknown): boolean {
  const state = sqlState(error);
  return state !== undefined && !/^(?:08|57P|XX|40003)/.test(state);
}

function isOurs(error: unknown): error is Error {
  return error instanceof HookproofError || error instanceof TypeError;
}

function outboxFailure(error: unknown, isUnknown: boolean): Error {
  return databaseFailure(isUnknown ? "OUTBOX_OUTCOME_UNKNOWN" : "OUTBOX_UNAVAILABLE", error);
}

class NoAnswer extends Error {
  constructor(ms: number) {
    super(`PostgreSQL did not answer within ${Math.round(ms)} ms`);
  }
}

/** Awaits an answer of the server for at most `ms`. */
function withinTime<Value>(work: Promise<Value>, ms: number): Promise<Value> {
  return within(work, ms, () => new NoAnswer(ms));
}

/** The SQLSTATE of a right that the role lacks. */
export const FORBIDDEN = "42501";

/** How many objects of an error are looked at. */
const MAX_PARTS = 50;

/** The SQLSTATE of an error of the server; an ORM may have wrapped it, each under a name of its own. */
export function sqlState(error: unknown): string | undefined {
  const parts = new Set([error]);
  for (const part of parts) {
    if (typeof part !== "object" || part === null) continue;
    const { code, severity } = part as { code?: unknown; severity?: unknown };
    if (typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) && severity !== undefined) return code;
    for (const { value } of Object.values(Object.getOwnPropertyDescriptors(part)))
      if (typeof value === "object" && parts.size < MAX_PARTS) parts.add(value);
  }
  return undefined;
}

/** Whether it is a deadlock or a serialization failure: the same work may succeed if it runs again. */
export function isCollision(error: unknown): boolean {
  const state = sqlState(error);
  return state === "40001" || state === "40P01";
}
