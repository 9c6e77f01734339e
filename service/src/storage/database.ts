// Opens the service's SQLite file with its tables, for typed queries.
import { statSync } from "node:fs";
import { openSqlite, type SqliteDatabase, type SqliteStatement } from "hookproof/node";
import { migrate, refuseOther } from "./migrate.js";
import { refuseLinksBeside, requirePrivate } from "./private-file.js";

/** A value of a row. */
type SqlValue = string | number | null | Uint8Array;

/** A prepared statement: every kind of statement answers with its rows. */
export interface Statement extends SqliteStatement {
  all(...values: SqlValue[]): unknown[];
}

/** An open database, whose tables are there. */
export interface Database extends SqliteDatabase {
  prepare(sql: string): Statement;
  /** Does it all or nothing. `work` is synchronous, and starts no transaction of its own. */
  transaction<Result>(work: () => Result): Result;
  /** Reads as of one moment, while others write. `work` is synchronous, and writes nothing. */
  reading<Result>(work: () => Result): Result;
  close(): void;
}

type Driver = Pick<Database, "exec" | "prepare" | "close">;

/**
 * Opens a SQLite file, made with mode 0600 if it is not there, and brings its tables up to date.
 * `:memory:`, the default, is gone when it is closed.
 *
 * What was committed survives a crash of the process and of the machine (WAL, synchronous FULL).
 *
 * @throws {Error} for a folder, a file that is no database, or one of a later version; FileModeError for one others can read;
 *   FileLinkError for a link next to it
 */
export async function openDatabase(file = ":memory:"): Promise<Database> {
  if (file !== ":memory:") {
    refuseLinksBeside(file, [".running", ".objects"]);
    // Keys, secrets of listeners and hashes of clients' secrets are in it; its log holds what it holds.
    requirePrivate(file, `${file}-wal`, `${file}-shm`);
  }
  const unusable = (error: unknown) => {
    const reason = (error as Error).message.replace(`${file} cannot be opened: `, "");
    return new Error(`${file} cannot be opened as the service's database: ${reason}`, { cause: error });
  };
  const found = statSync(file, { throwIfNoEntry: false });
  if (found?.isDirectory()) throw unusable(new Error("it is a folder"));
  // A driver would write to a device or a pipe, and make its own files next to it.
  if (found && !found.isFile()) throw unusable(new Error("it is no file"));
  const driver = opened(file, unusable);
  const within = <Result>(begin: string, work: () => Result): Result => {
    driver.exec(begin);
    try {
      const result = work();
      driver.exec("COMMIT");
      return result;
    } catch (error) {
      driver.exec("ROLLBACK");
      throw error;
    }
  };
  const db: Database = {
    exec: (sql) => driver.exec(sql),
    prepare: (sql) => checked(driver.prepare(sql)),
    transaction: (work) => within("BEGIN IMMEDIATE", work),
    reading: (work) => within("BEGIN", work),
    close() {
      // What is in the log goes into the file, which is then whole by itself.
      driver.prepare("PRAGMA wal_checkpoint(TRUNCATE)").all();
      driver.close();
    },
  };
  try {
    db.exec("PRAGMA busy_timeout = 5000");
    refuseOther(db);
    db.prepare("PRAGMA journal_mode = WAL").all();
    db.exec("PRAGMA synchronous = FULL");
    db.exec("PRAGMA foreign_keys = ON");
    migrate(db);
  } catch (error) {
    driver.close();
    throw unusable(error);
  }
  return db;
}

/** The driver's connection; an error of it is one of the service's database. */
function opened(file: string, unusable: (error: unknown) => Error): Driver {
  try {
    return openSqlite(file, { from: import.meta.url }) as Driver;
  } catch (error) {
    throw unusable(error);
  }
}

/** `libsql` ends the whole process where a value is an object; a wrong one is an error like any other. */
function checked(statement: Statement): Statement {
  const bindable = <Value extends SqlValue>(values: readonly Value[]): readonly Value[] => {
    for (const value of values) {
      const isBindable =
        value === null ||
        typeof value === "string" ||
        typeof value === "number" ||
        value instanceof Uint8Array;
      if (!isBindable) throw new TypeError(`a value of the type ${typeof value} cannot be stored`);
    }
    return values;
  };
  return {
    all: (...values) => statement.all(...bindable(values)),
    run: (...values) => statement.run(...bindable(values)),
  };
}

/** The first row, typed by the caller who wrote the query. */
export function first<Result>(rows: unknown[]): Result | undefined {
  return rows[0] as Result | undefined;
}
