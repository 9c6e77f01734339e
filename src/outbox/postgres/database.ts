import { HookproofError } from "../../errors.js";
import { databaseFailure } from "../../primitives/database-call.js";

/** What runs a statement: a `Client` or `PoolClient` of `pg`, or what an ORM's transaction is wrapped in. */
export interface PostgresClient {
  query(text: string, values?: unknown[]): Promise<unknown>;
}

/** A client of a pool, as far as it is used here. */
export interface PostgresPoolClient extends PostgresClient {
  /** Gives it back; with an error the pool closes the connection. */
  release(error?: Error | boolean): void;
}

/** A `Pool` of `pg`, as far as it is used here. */
export interface PostgresPool {
  connect(): Promise<PostgresPoolClient>;
  readonly options?: { readonly max?: number | undefined } | undefined;
}

/** How far a call has come: what went wrong before `asked` has changed nothing. */
interface Progress {
  asked: boolean;
}

/** How long a connection that may be dead has to answer, and an aborted transaction to be rolled back. */
const PROBE_MS = 1_000;

/** How often work is run that other transactions were in the way of. */
const MAX_RUNS = 4;

/**
 * The store's way to PostgreSQL. Every call has a time limit, and a connection that does not answer in time is
 * closed: behind a firewall that has forgotten it, it would never answer again.
 *
 * No transaction holds more than the pool's client gives: no prepared statements, no session locks, no settings
 * that outlive it. So it works behind a pooler that hands out connections for single transactions.
 */
export class Database {
  readonly #pool: PostgresPool;
  readonly #limitMs: number;
  /** When each connection has last answered. */
  readonly #heard = new WeakMap<PostgresPoolClient, number>();
  /** When something was asked that was never answered: older connections may be dead as well. */
  #silentSince = Number.NEGATIVE_INFINITY;

  constructor(pool: PostgresPool, limitMs: number) {
    this.#pool = pool;
    this.#limitMs = limitMs;
  }

  /** Runs one statement that changes nothing. */
  read<Row>(text: string, values?: unknown[]): Promise<Row[]> {
    return this.#run(async (client) => rowsOf<Row>(await client.query(text, values)));
  }

  /** Runs one statement by itself. */
  write<Row>(text: string, values?: unknown[]): Promise<Row[]> {
    return this.#run(async (client, progress) => {
      progress.asked = true;
      return rowsOf<Row>(await client.query(text, values));
    });
  }

  /**
   * Runs statements in one transaction and one round trip, so that no lock waits for the network. Their values are
   * literals. Gives the rows of each statement.
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

  /** Runs work in a transaction of its own. */
  transaction<Value>(work: (client: PostgresClient) => Promise<Value>): Promise<Value> {
    return this.#run(async (client, progress) => {
      await client.query(this.#begin().join(";\n"));
      const value = await work(client);
      progress.asked = true;
      await client.query("COMMIT");
      return value;
    });
  }

  /** A client of the pool for as long as the caller wants it; the caller releases it. */
  connect(): Promise<PostgresPoolClient> {
    return this.#acquire(performance.now() + this.#limitMs);
  }

  /**
   * The level is said here, as the database's own default may be another one. Every question has its index, which is
   * to be taken however small the table seems; what that makes dear on paper is not to be compiled.
   */
  #begin(): string[] {
    const ms = this.#limitMs;
    return [
      "BEGIN ISOLATION LEVEL READ COMMITTED",
      `SET LOCAL statement_timeout = ${ms}`,
      "SET LOCAL enable_seqscan = off",
      "SET LOCAL enable_bitmapscan = off",
      "SET LOCAL jit = off",
      `SET LOCAL idle_in_transaction_session_timeout = ${ms}`,
    ];
  }

  async #run<Value>(
    work: (client: PostgresPoolClient, progress: Progress) => Promise<Value>,
  ): Promise<Value> {
    for (let run = 1; ; run++) {
      const progress = { asked: false };
      try {
        return await this.#once(work, progress);
      } catch (error) {
        if (run < MAX_RUNS && isCollision(error)) continue;
        throw failure(error, progress.asked);
      }
    }
  }

  async #once<Value>(
    work: (client: PostgresPoolClient, progress: Progress) => Promise<Value>,
    progress: Progress,
  ): Promise<Value> {
    const until = performance.now() + this.#limitMs;
    const client = await this.#acquire(until);
    const askedAt = performance.now();
    const ignore = () => {}; // whoever waits for the answer is told
    const events = eventsOf(client);
    events.on?.("error", ignore);
    try {
      const value = await withinTime(work(client, progress), until - performance.now());
      this.#heard.set(client, performance.now());
      client.release();
      return value;
    } catch (error) {
      if (error instanceof NoAnswer) this.#silentSince = Math.max(this.#silentSince, askedAt);
      await this.#giveBack(client, error);
      throw error;
    } finally {
      events.removeListener?.("error", ignore);
    }
  }

  /** Gives a client back after a failure: the server's word leaves it fit for others, anything else does not. */
  async #giveBack(client: PostgresPoolClient, error: unknown): Promise<void> {
    try {
      if (!isServersWord(error) && !isOurs(error)) throw error;
      await withinTime(client.query("ROLLBACK"), PROBE_MS);
      client.release();
    } catch {
      client.release(error instanceof Error ? error : true);
    }
  }

  async #acquire(until: number): Promise<PostgresPoolClient> {
    for (;;) {
      const connecting = this.#pool.connect();
      const client = await withinTime(connecting, until - performance.now()).catch((error) => {
        connecting.then((late) => late.release()).catch(() => {}); // nobody waits for it any more
        throw error;
      });
      if (await this.#isAlive(client)) return client;
    }
  }

  /** After an answer that never came: a connection that is no younger is not trusted, and one that others had is asked. */
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

/** The events of a client; what is no client of `pg` itself may have none. */
export interface ClientEvents {
  /** The server process that it was told it talks to. */
  readonly processID?: number | null;
  on?(event: "error" | "end", listener: () => void): unknown;
  on?(event: "notification", listener: (message: { readonly payload?: string }) => void): unknown;
  removeListener?(event: "error", listener: () => void): unknown;
}

export function eventsOf(client: PostgresPoolClient): ClientEvents {
  return client as ClientEvents;
}

/** The rows of one statement. */
export function rowsOf<Row>(result: unknown): Row[] {
  return (result as { rows: Row[] }).rows;
}

/** A text as SQL has it, whatever `standard_conforming_strings` says. */
export function literal(text: string): string {
  const quoted = `'${text.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
  return text.includes("\\") ? ` E${quoted}` : quoted;
}

/** A value as a JSON literal. */
export function jsonLiteral(value: unknown): string {
  return `${literal(JSON.stringify(value))}::json`;
}

/** The SQLSTATE of a server's error; an ORM may have wrapped it. */
function sqlState(error: unknown): string | undefined {
  const { code, severity, cause } = Object(error) as { code?: unknown; severity?: unknown; cause?: unknown };
  if (typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) && severity !== undefined) return code;
  return cause === undefined ? undefined : sqlState(cause);
}

/** Whether another transaction was in the way, so that the same work may succeed if it is run again. */
export function isCollision(error: unknown): boolean {
  const state = sqlState(error);
  return state === "40001" || state === "40P01";
}

/** Whether the server has refused a statement; after other errors it may have done as it was told. */
function isServersWord(error: unknown): boolean {
  const state = sqlState(error);
  return state !== undefined && !/^(?:08|57P|XX|40003)/.test(state);
}

function isOurs(error: unknown): error is Error {
  return error instanceof HookproofError || error instanceof TypeError;
}

function failure(error: unknown, asked: boolean): Error {
  if (isOurs(error)) return error;
  const isUnknown = asked && !isServersWord(error);
  return databaseFailure(isUnknown ? "OUTBOX_OUTCOME_UNKNOWN" : "OUTBOX_UNAVAILABLE", error);
}

class NoAnswer extends Error {
  constructor(ms: number) {
    super(`PostgreSQL did not answer within ${Math.round(ms)} ms`);
  }
}

/** What a promise gives, if it does so in time. */
async function withinTime<Value>(work: Promise<Value>, ms: number): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new NoAnswer(ms)), Math.max(0, ms));
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
    work.catch(() => {}); // an answer after the limit is nobody's
  }
}
