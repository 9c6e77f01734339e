// One way to all drivers of SQLite.

import { accessSync, closeSync, constants, openSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, resolve } from "node:path";
import { HookproofError } from "../core/errors.js";
import { fileFailure } from "../core/file-failures.js";
import { checkOptions } from "../core/options.js";

/** A synchronous SQLite connection as `better-sqlite3`, `libsql`, `node:sqlite` and `bun:sqlite` have it. */
export interface SqliteDatabase {
  /** Runs statements that return no rows. */
  exec(sql: string): unknown;
  /** Compiles one statement, to be run any number of times. */
  prepare(sql: string): SqliteStatement;
}

/** A connection that a store has opened through `open` and closes itself. */
export interface OpenSqliteDatabase extends SqliteDatabase {
  close(): unknown;
}

/**
 * A prepared statement of a `SqliteDatabase`. It takes a `SqliteValue` for each `?`, in order. `null` is missing in
 * its types and given all the same, because the types of better-sqlite3 do not have it before TypeScript 6.
 */
export interface SqliteStatement {
  /** Runs the statement and returns its rows as objects. */
  all(...values: Bound[]): unknown[];
  /** Runs the statement without reading rows. */
  run(...values: Bound[]): { readonly lastInsertRowid: number | bigint };
}

/** A value for a `?`. */
export type SqliteValue = string | number | null | Uint8Array;

type Bound = Exclude<SqliteValue, null>;

/** Runs a query by its name. */
export type Queries<Name extends string> = <Row>(name: Name, ...values: SqliteValue[]) => Row[];

/** Runs a change by its name. */
export type Changes<Name extends string> = (name: Name, ...values: SqliteValue[]) => number;

/** Prepares each query when it is first run, because its tables may not exist before. */
export function preparedQueries<Name extends string>(
  db: SqliteDatabase,
  queries: Readonly<Record<Name, string>>,
): Queries<Name> {
  const statementOf = preparedStatements(db, queries);
  return <Row>(name: Name, ...values: SqliteValue[]) =>
    statementOf(name).all(...(values as Bound[])) as Row[];
}

/** As `preparedQueries`, for changes that return no rows, which are cheaper. It returns the number of an inserted row. */
export function preparedChanges<Name extends string>(
  db: SqliteDatabase,
  changes: Readonly<Record<Name, string>>,
): Changes<Name> {
  const statementOf = preparedStatements(db, changes);
  return (name, ...values) => Number(statementOf(name).run(...(values as Bound[])).lastInsertRowid);
}

function preparedStatements<Name extends string>(
  db: SqliteDatabase,
  sql: Readonly<Record<Name, string>>,
): (name: Name) => SqliteStatement {
  const prepared = new Map<Name, SqliteStatement>();
  return (name) => {
    const statement = prepared.get(name) ?? db.prepare(sql[name]);
    prepared.set(name, statement);
    return statement;
  };
}

/** Runs `work` in a transaction that has the write lock from its start. */
export function inTransaction<Value>(db: SqliteDatabase, work: () => Value): Value {
  db.exec("BEGIN IMMEDIATE");
  try {
    const value = work();
    db.exec("COMMIT");
    return value;
  } catch (error) {
    rollBack(db, "ROLLBACK");
    throw error;
  }
}

/** Runs `work` so that it changes all or nothing: inside the transaction that is open, or in one of its own. */
export function inSavepoint<Value>(db: SqliteDatabase, work: () => Value): Value {
  db.exec("SAVEPOINT hookproof");
  try {
    const value = work();
    db.exec("RELEASE hookproof");
    return value;
  } catch (error) {
    rollBack(db, "ROLLBACK TO hookproof; RELEASE hookproof");
    throw error;
  }
}

function rollBack(db: SqliteDatabase, sql: string): void {
  try {
    db.exec(sql);
  } catch {
    // After some errors SQLite has rolled back already. The caller gets the first error.
  }
}

/** A SQLite driver: one that a runtime has built in, or a package. */
export type SqliteDriver = "node:sqlite" | "bun:sqlite" | "better-sqlite3" | "libsql";

/** Options of `openSqlite`. */
export interface OpenSqliteOptions {
  /** The runtime's own driver by default, and `libsql` where it has none. */
  driver?: SqliteDriver | undefined;
  /** The `import.meta.url` of the module from which a package is loaded; that of hookproof by default. */
  from?: string | undefined;
}

type Constructor = new (file: string) => OpenSqliteDatabase;

/**
 * Opens a SQLite file with a driver by its name. Only its owner can read a file that it creates. The text is always a
 * path: what a driver would take for an address is a file of that name. A file that cannot be opened is an error with the
 * reason, and the system's `code` where there is one.
 *
 * @example
 * ```ts
 * import { openSqlite } from "hookproof/node";
 * import { sqliteStore } from "hookproof/outbox/sqlite";
 *
 * const store = sqliteStore({ open: () => openSqlite("app.db", { from: import.meta.url }) });
 * ```
 */
export function openSqlite(file: string, options: OpenSqliteOptions = {}): OpenSqliteDatabase {
  checkOptions("openSqlite", options, { driver: "string", from: "string" });
  const { driver = builtIn() ?? "libsql", from = import.meta.url } = options;
  if (typeof file !== "string" || file === "" || file.includes("\0"))
    throw new TypeError("file must be the name of a file, or :memory:");
  const Database = constructorOf(driver, createRequire(from));
  if (file === ":memory:") return new Database(file);
  // A driver takes some names for addresses (http:, libsql:, file:), and never one that begins at the root.
  const path = resolve(file);
  try {
    createPrivately(path);
    return new Database(path);
  } catch (error) {
    throw unopened(file, path, error);
  }
}

/** An error of its own for a file that cannot be opened: a driver says no more than that it was unable to. */
function unopened(file: string, path: string, cause: unknown): Error {
  const reason = whyNot(path, cause);
  const { code } = Object(reason ?? cause) as { code?: unknown };
  const words = reason ? fileFailure(reason) : cause instanceof Error ? cause.message : String(cause);
  return Object.assign(
    new Error(`${file} cannot be opened: ${words}`, { cause }),
    code === undefined ? {} : { code },
  );
}

/** What the system says of a file that was not opened; undefined where it says nothing. */
function whyNot(path: string, error: unknown): object | undefined {
  if (error instanceof Error && "syscall" in error) return error;
  try {
    const found = statSync(path);
    if (found.isDirectory()) return { code: "EISDIR" };
    if (!found.isFile()) return { code: "ENXIO" };
    accessSync(path, constants.R_OK | constants.W_OK);
    accessSync(dirname(path), constants.W_OK); // where the log is made
    return undefined;
  } catch (seen) {
    return Object(seen) as object;
  }
}

/**
 * Creates the file where there is none. A file that exists must not be opened here: closing it again would drop the
 * locks of all other connections of this process, and another process could then delete the log while they use it.
 */
function createPrivately(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

function builtIn(): SqliteDriver | undefined {
  if (process.versions.bun) return "bun:sqlite";
  return process.getBuiltinModule?.("node:sqlite") ? "node:sqlite" : undefined;
}

/** Loads the driver as the caller's module would; the library itself depends on none. */
function constructorOf(driver: SqliteDriver, load: NodeJS.Require): Constructor {
  switch (driver) {
    case "node:sqlite":
      return (load(driver) as { DatabaseSync: Constructor }).DatabaseSync;
    case "bun:sqlite":
      return (load(driver) as { Database: Constructor }).Database;
    case "better-sqlite3":
      checkBetterSqlite3(load);
      return load(driver) as Constructor;
    case "libsql":
      return load(driver) as Constructor;
    default:
      throw new TypeError('driver must be "node:sqlite", "bun:sqlite", "better-sqlite3" or "libsql"');
  }
}

/** Version 13 crashes the process on Node 20 when it opens a file. */
function checkBetterSqlite3(load: NodeJS.Require): void {
  const { version } = load("better-sqlite3/package.json") as { version: string };
  if (Number.parseInt(version, 10) < 13 || Number.parseInt(process.versions.node, 10) >= 22) return;
  throw new TypeError(
    `better-sqlite3 ${version} crashes on Node ${process.versions.node}: install better-sqlite3@12.9.0, or run Node 22 or newer`,
  );
}

const RETRY_MS = 5;

/** Options of `groupCommit`. */
interface GroupCommitOptions {
  /** Makes the error with which all calls reject when their transaction fails. */
  failure: (error: unknown) => HookproofError;
  /** How long it retries, without blocking the process, while another connection is writing; not at all by default. */
  patienceMs?: number | undefined;
}

/** Queues `work` for the next shared transaction, and resolves with what it returned once that is committed. */
export type GroupCommit = <Value>(work: () => Value) => Promise<Value>;

interface QueuedWork {
  work(): unknown;
  resolve(value: never): void;
  reject(error: unknown): void;
}

/**
 * Runs all calls of one turn of the event loop in one transaction, because writing a transaction to the file costs far
 * more than the queries in it. If the transaction fails, all of its calls reject.
 *
 * Work that throws a `HookproofError` must have changed nothing: then only its own call rejects.
 */
export function groupCommit(
  db: SqliteDatabase,
  { failure, patienceMs = 0 }: GroupCommitOptions,
): GroupCommit {
  let waiting: QueuedWork[] = [];
  let busySince: number | undefined;

  function runAll(): void {
    const jobs = waiting;
    waiting = [];
    try {
      const settle = inTransaction(db, () => jobs.map(attempt));
      busySince = undefined;
      for (const settleOne of settle) settleOne();
    } catch (error) {
      if (isBusy(error) && staysPatient()) {
        waiting = jobs;
        setTimeout(runAll, RETRY_MS);
        return;
      }
      busySince = undefined;
      for (const { reject } of jobs) reject(failure(error));
    }
  }

  function staysPatient(): boolean {
    busySince ??= performance.now();
    return performance.now() - busySince < patienceMs;
  }

  return (work) =>
    new Promise((resolve, reject) => {
      if (waiting.push({ work, resolve, reject }) === 1) setImmediate(runAll);
    });
}

/** Runs a job; what it returns settles the job's promise after the commit. */
function attempt({ work, resolve, reject }: QueuedWork): () => void {
  try {
    const value = work() as never;
    return () => resolve(value);
  } catch (error) {
    if (error instanceof HookproofError) return () => reject(error);
    throw error;
  }
}

/** Whether another connection was writing. The drivers have different codes, but all have SQLite's message. */
function isBusy(error: unknown): boolean {
  return error instanceof Error && error.message.includes("database is locked");
}
