// A history in a SQLite file.
import { statSync } from "node:fs";
import { type OpenSqliteDatabase, openSqlite } from "hookproof/node";
import { InspectorError } from "../page/inspector-error.js";
import { hasOtherThanTables } from "../storage/only-tables.js";
import { FileLinkError, refuseLinksBeside } from "../storage/private-file.js";
import type { Entry } from "./entry.js";
import { entryLine, parsedJson, readEntryLine } from "./entry-line.js";
import type { Journal } from "./history.js";

/** Marks a SQLite file as an inspector's history: "hkpi". */
const APPLICATION_ID = 0x686b7069;
const VERSION = 1;

/**
 * A history in a SQLite file, which is created for its owner only.
 *
 * @throws {InspectorError} HISTORY_UNREADABLE, HISTORY_INVALID, HISTORY_NEWER, FILE_IS_LINK
 */
export async function openJournal(file: string, onProblem: (message: string) => void): Promise<Journal> {
  const database = await open(file);
  const insert = database.prepare(
    `INSERT INTO requests (n, entry) VALUES
       (max(?, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'requests'), 0) + 1), ?)
     RETURNING n`,
  );
  const update = database.prepare("UPDATE requests SET entry = ? WHERE n = ?");
  const remove = database.prepare("DELETE FROM requests WHERE n <= ?");
  const written = (entry: Entry) => JSON.stringify(entryLine(entry, entry.target));
  let isBroken = false;

  /** A full disk must not take the listener down: it goes on without its file. */
  function attempt<Value>(write: () => Value): Value | undefined {
    if (isBroken) return undefined;
    try {
      return write();
    } catch (error) {
      isBroken = true;
      const said = JSON.stringify((error as Error).message);
      onProblem(`${file} cannot be written: SQLite says ${said}. Requests are kept in memory only.`);
      return undefined;
    }
  }

  return {
    load(limit) {
      const rows = database.prepare("SELECT n, entry FROM requests ORDER BY n DESC LIMIT ?").all(limit);
      return (rows as { n: number; entry: string }[]).reverse().flatMap(({ n, entry }) => {
        const read = readEntryLine(parsedJson(entry));
        return read ? { ...read, row: { ...read.row, n } } : [];
      });
    },
    add: (entry) => attempt(() => (insert.all(entry.row.n, written(entry))[0] as { n: number }).n),
    replace: (entry) => void attempt(() => update.all(written(entry), entry.row.n)),
    drop: (upTo) => void attempt(() => remove.all(upTo)),
    close: () => void database.close(),
  };
}

async function open(file: string): Promise<OpenSqliteDatabase> {
  let database: OpenSqliteDatabase | undefined;
  try {
    refuseLinksBeside(file);
    requireFile(file);
    database = openSqlite(file, { from: import.meta.url });
    database.exec("PRAGMA busy_timeout = 5000");
    prepare(database, file);
    return database;
  } catch (error) {
    database?.close();
    if (error instanceof InspectorError) throw error;
    if (error instanceof FileLinkError) throw new InspectorError(503, error.code, error.message);
    const { message } = error as Error;
    if (/not a database|malformed/i.test(message))
      throw new InspectorError(503, "HISTORY_INVALID", `${file} is not a history of the inspector.`);
    throw new InspectorError(503, "HISTORY_UNREADABLE", `${file} cannot be used: ${whyNot(file, message)}.`, {
      cause: error,
    });
  }
}

/** Refuses a device or a pipe before a driver writes to it, and next to it. */
function requireFile(file: string): void {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats && !stats.isFile() && !stats.isDirectory())
    throw new InspectorError(503, "HISTORY_UNREADABLE", `${file} cannot be used: it is no file.`);
}

/** Drivers say "unable to open" of a folder; what they say of a file that is open is quoted. */
function whyNot(file: string, message: string): string {
  try {
    if (statSync(file).isDirectory()) return "it is a folder";
  } catch {
    return "no file can be made there";
  }
  const opening = `${file} cannot be opened: `;
  return message.startsWith(opening)
    ? message.slice(opening.length)
    : `SQLite says ${JSON.stringify(message)}`;
}

function prepare(database: OpenSqliteDatabase, file: string): void {
  const pragma = (name: string) =>
    Object.values((database.prepare(`PRAGMA ${name}`).all()[0] ?? {}) as Record<string, unknown>)[0];
  const [application, version] = [pragma("application_id"), pragma("user_version")];
  const isEmpty = database.prepare("SELECT name FROM sqlite_master LIMIT 1").all().length === 0;
  if ((!isEmpty && application !== APPLICATION_ID) || hasOtherThanTables(database))
    throw new InspectorError(503, "HISTORY_INVALID", `${file} is not a history of the inspector.`);
  if (Number(version) > VERSION)
    throw new InspectorError(503, "HISTORY_NEWER", `${file} was written by a newer version.`);
  // FULL would wait for the disk at every request; what a power failure may take are the last of them.
  database.exec(
    `PRAGMA journal_mode = WAL;
     PRAGMA synchronous = NORMAL;
     PRAGMA application_id = ${APPLICATION_ID};
     PRAGMA user_version = ${VERSION};
     CREATE TABLE IF NOT EXISTS requests (n INTEGER PRIMARY KEY AUTOINCREMENT, entry TEXT NOT NULL);`,
  );
}
