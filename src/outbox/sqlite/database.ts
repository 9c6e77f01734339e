// Opens an outbox's SQLite file, watches it and wakes workers.
import { statSync } from "node:fs";
import { HookproofError, messageOf } from "../../core/errors.js";
import { type OpenSqliteDatabase, preparedQueries, type SqliteDatabase } from "../../sqlite/database.js";
import { makeTables } from "./schema.js";

/**
 * Opens the store's own connection: WAL, every commit on disk before it is acknowledged, and tables of this version.
 *
 * @throws {HookproofError} OUTBOX_NEWER, OUTBOX_UNAVAILABLE
 */
export function openOutboxFile(open: () => OpenSqliteDatabase): OpenSqliteDatabase {
  return withCodes(() => {
    const db = open();
    try {
      prepareOutboxFile(db);
      return db;
    } catch (error) {
      db?.close?.();
      throw error;
    }
  });
}

function prepareOutboxFile(db: SqliteDatabase): void {
  db.exec("PRAGMA busy_timeout = 5000");
  if (pragma(db, "journal_mode") !== "wal") db.exec("PRAGMA journal_mode = WAL");
  db.exec("PRAGMA synchronous = FULL");
  // A log of 16 MB: random ids change the same pages in many commits, and each page goes to the file once for all.
  db.exec("PRAGMA wal_autocheckpoint = 4000");
  if (pragma(db, "journal_mode") !== "wal" || !isDurable(db))
    throw new HookproofError(
      "OUTBOX_UNAVAILABLE",
      "The outbox needs a SQLite file on a local disk, with WAL and synchronous = FULL, which are not possible here.",
    );
  makeTables(db);
  // From here on the store waits for locks itself, so that the process is not blocked.
  db.exec("PRAGMA busy_timeout = 5");
}

/** Whether commits of this connection survive a power failure. */
export function isDurable(db: SqliteDatabase): boolean {
  return Number(pragma(db, "synchronous")) >= 2;
}

function pragma(db: SqliteDatabase, name: "journal_mode" | "synchronous"): unknown {
  const [row] = db.prepare(`PRAGMA ${name}`).all() as Record<string, unknown>[];
  return row?.[name];
}

/**
 * Returns a check that throws OUTBOX_UNAVAILABLE if the file of an open connection, or its log, was deleted or replaced.
 * SQLite goes on with the old file, which nobody can find any more, so what it stores would be lost with this process.
 *
 * While a connection is open its log stays where it is: only the last one to close removes it.
 */
export function fileCheck(db: SqliteDatabase): () => void {
  const files = db.prepare("PRAGMA database_list").all() as { name: string; file: string | null }[];
  const file = files.find(({ name }) => name === "main")?.file;
  if (!file) return () => {};
  // The log is made by the first read; where a driver keeps it elsewhere, there is none to look at.
  db.prepare("SELECT count(*) FROM sqlite_master").all();
  const watched = [file, `${file}-wal`].map((name) => ({ name, opened: identityOf(name) }));
  const present = watched.filter(({ name, opened }) => name === file || opened !== undefined);
  return () => {
    for (const { name, opened } of present) {
      const now = identityOf(name);
      if (now !== undefined && now === opened) continue;
      const words = `The file was ${now === undefined ? "deleted" : "replaced"} while it was open: ${name}`;
      throw new HookproofError("OUTBOX_UNAVAILABLE", `${messageOf("OUTBOX_UNAVAILABLE")} ${words}`);
    }
  };
}

/** Device and inode of a file; `undefined` if there is none. */
function identityOf(file: string): string | undefined {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false });
  return found && `${found.dev} ${found.ino}`;
}

/** The store's error for an error of SQLite, whose messages name tables and files and no values. */
export function unavailable(error: unknown): HookproofError {
  if (error instanceof HookproofError) return error;
  const words = error instanceof Error ? error.message : String(error);
  return new HookproofError("OUTBOX_UNAVAILABLE", `${messageOf("OUTBOX_UNAVAILABLE")} SQLite: ${words}`, {
    cause: error,
  });
}

/** Runs work with SQLite, and gives its errors their code. */
export function withCodes<Value>(work: () => Value): Value {
  try {
    return work();
  } catch (error) {
    throw unavailable(error);
  }
}

/** Wakes the dispatcher for new work: at once for work of this process, soon for commits of other connections. */
interface Waker {
  subscribe(wake: () => void): () => void;
  /** Wakes after this turn of the event loop, when a synchronous transaction of the caller has ended. */
  wakeSoon(): void;
  stop(): void;
}

/**
 * @param pollMs how often it asks whether another connection has written, which takes a few microseconds
 * @param checkFile throws if the file was deleted or replaced
 */
export function createWaker(
  db: SqliteDatabase,
  { pollMs, checkFile }: { pollMs: number; checkFile: () => void },
): Waker {
  const ask = preparedQueries(db, { version: "PRAGMA data_version" });
  const wakes = new Set<() => void>();
  let seen: number | undefined;
  let isDue = false;
  let timer: ReturnType<typeof setInterval> | undefined;

  /** `undefined` if it cannot be read. The dispatcher, once awake, meets the same error and reports it. */
  function versionNow(): number | undefined {
    try {
      checkFile();
      return ask<{ data_version: number }>("version")[0]?.data_version;
    } catch {
      return undefined;
    }
  }

  const wakeAll = () => {
    isDue = false;
    for (const wake of wakes) wake();
  };
  const look = () => {
    const version = versionNow();
    if (version !== undefined && version === seen) return;
    seen = version;
    wakeAll();
  };
  const stop = () => {
    clearInterval(timer);
    timer = undefined;
  };

  return {
    subscribe(wake) {
      wakes.add(wake);
      timer ??= setInterval(look, pollMs);
      timer.unref?.();
      return () => {
        wakes.delete(wake);
        if (wakes.size === 0) stop();
      };
    },
    wakeSoon() {
      if (isDue || wakes.size === 0) return;
      isDue = true;
      setImmediate(wakeAll);
    },
    stop,
  };
}
