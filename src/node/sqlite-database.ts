/** A synchronous SQLite connection as `better-sqlite3`, `libsql`, `node:sqlite` and `bun:sqlite` have it. */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): SqliteStatement;
}

/**
 * A prepared statement of a `SqliteDatabase`, with a `SqliteValue` for each `?` in order. Its type has no null, which
 * is handed over as well: the types of better-sqlite3 know of none before TypeScript 6.
 */
export interface SqliteStatement {
  all(...values: Bound[]): unknown[];
  run(...values: Bound[]): { readonly lastInsertRowid: number | bigint };
}

/** What a `?` may stand for. */
export type SqliteValue = string | number | null | Uint8Array;

type Bound = Exclude<SqliteValue, null>;

/** Prepares each query when it is first asked, as the tables may not be there before. */
export function preparedQueries<Name extends string>(
  db: SqliteDatabase,
  queries: Readonly<Record<Name, string>>,
): <Row>(name: Name, ...values: SqliteValue[]) => Row[] {
  const statementOf = preparedStatements(db, queries);
  return <Row>(name: Name, ...values: SqliteValue[]) =>
    statementOf(name).all(...(values as Bound[])) as Row[];
}

/** The same for changes that return nothing, which cost less; an insert gives the row's number. */
export function preparedChanges<Name extends string>(
  db: SqliteDatabase,
  changes: Readonly<Record<Name, string>>,
): (name: Name, ...values: SqliteValue[]) => number {
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

/** Runs `work` in a transaction that may write from its start on. */
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

/** Runs `work` so that all or nothing of it stays: inside the transaction that is open, or in one of its own. */
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
    // SQLite rolls back by itself after some errors; the first error is the one to tell.
  }
}
