import { HookproofError } from "../errors.js";
import { inTransaction, type SqliteDatabase } from "./sqlite-database.js";
import { storeFailure } from "./store-failure.js";

const ASKED_AGAIN_MS = 5;

/** What a group does with what cannot be done. */
export interface GroupCommitOptions {
  /** Makes the error that everything is rejected with when the transaction fails. */
  failure?: ((error: unknown) => HookproofError) | undefined;
  /** How long it waits, without blocking the process, while another connection is writing. */
  patienceMs?: number | undefined;
}

/** Runs what it is given with what else is asked for at the moment. */
export type GroupCommit = <Value>(work: () => Value) => Promise<Value>;

interface Job {
  work(): unknown;
  resolve(value: never): void;
  reject(error: unknown): void;
}

/**
 * Runs what is asked for within one turn of the event loop in one transaction, as writing a transaction to the
 * file costs far more than the queries in it. If the transaction fails, everything in it is rejected.
 *
 * What throws a `HookproofError` has changed nothing, and concerns nobody else.
 */
export function groupCommit(
  db: SqliteDatabase,
  { failure = storeFailure, patienceMs = 0 }: GroupCommitOptions = {},
): GroupCommit {
  let waiting: Job[] = [];
  let busySince: number | undefined;

  function runAll(): void {
    const jobs = waiting;
    waiting = [];
    try {
      const settle = inTransaction(db, () => jobs.map(attempt));
      busySince = undefined;
      for (const tell of settle) tell();
    } catch (error) {
      if (isBusy(error) && staysPatient()) {
        waiting = jobs;
        setTimeout(runAll, ASKED_AGAIN_MS);
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

/** A job's outcome, to be told once it is on disk. */
function attempt({ work, resolve, reject }: Job): () => void {
  try {
    const value = work() as never;
    return () => resolve(value);
  } catch (error) {
    if (error instanceof HookproofError) return () => reject(error);
    throw error;
  }
}

/** Whether another connection was writing; the drivers' codes differ, SQLite's own words do not. */
function isBusy(error: unknown): boolean {
  return error instanceof Error && error.message.includes("database is locked");
}
