import { HookproofError } from "../errors.js";
import type { SqliteDatabase } from "./sqlite-replay-store.js";
import { storeFailure } from "./store-failure.js";

interface Job {
  work(): unknown;
  resolve(value: never): void;
  reject(error: unknown): void;
}

/**
 * Runs what is asked for within one turn of the event loop in one transaction, as writing a transaction to the
 * file costs far more than the queries in it. If the transaction fails, everything in it is rejected.
 */
export function groupCommit(db: SqliteDatabase): <Value>(work: () => Value) => Promise<Value> {
  let waiting: Job[] = [];

  function runAll(): void {
    const jobs = waiting;
    waiting = [];
    try {
      const settle = jobs.length === 1 ? jobs.map(attempt) : inTransaction(db, () => jobs.map(attempt));
      for (const tell of settle) tell();
    } catch (error) {
      for (const { reject } of jobs) reject(storeFailure(error));
    }
  }

  return (work) =>
    new Promise((resolve, reject) => {
      if (waiting.push({ work, resolve, reject }) === 1) setImmediate(runAll);
    });
}

/** A job's outcome, to be told once it is on disk. A lost reservation changed nothing and concerns nobody else. */
function attempt({ work, resolve, reject }: Job): () => void {
  try {
    const value = work() as never;
    return () => resolve(value);
  } catch (error) {
    if (error instanceof HookproofError && error.code === "RESERVATION_LOST") return () => reject(error);
    throw error;
  }
}

function inTransaction<Value>(db: SqliteDatabase, work: () => Value): Value {
  db.exec("BEGIN IMMEDIATE");
  try {
    const value = work();
    db.exec("COMMIT");
    return value;
  } catch (error) {
    try {
      db.exec("ROLLBACK");
    } catch {
      // SQLite rolls back by itself after some errors; the first error is the one to tell.
    }
    throw error;
  }
}
