// Refuses files that others can read, and links beside a database.
import { lstatSync, realpathSync, statSync } from "node:fs";

/** A file with secrets in it that other users of the machine can read. */
class FileModeError extends Error {
  override readonly name = "FileModeError";
  readonly code = "FILE_MODE_TOO_WIDE";
  readonly file: string;

  constructor(file: string) {
    super(`${file} can be read by others.`);
    this.file = file;
  }
}

/**
 * Refuses files that others can read; one that is not there is none of them.
 *
 * @throws {FileModeError}
 */
export function requirePrivate(...files: string[]): void {
  if (process.platform === "win32") return;
  for (const file of files) {
    const stats = statSync(file, { throwIfNoEntry: false });
    if (stats?.isFile() && (stats.mode & 0o077) !== 0) throw new FileModeError(file);
  }
}

/** A link in the place of a file that belongs to a database: SQLite would write to its end, and empty it. */
export class FileLinkError extends Error {
  override readonly name = "FileLinkError";
  readonly code = "FILE_IS_LINK";
  readonly file: string;

  constructor(file: string) {
    super(`${file} is a link, and its end would be written to.`);
    this.file = file;
  }
}

/** What SQLite makes beside a file. */
const OF_SQLITE = ["-wal", "-shm", "-journal"];

/**
 * Refuses links beside a database: at the names of SQLite's own files, and at `files` with theirs. The database itself may
 * be one, as its name was given.
 *
 * @throws {FileLinkError}
 */
export function refuseLinksBeside(database: string, files: readonly string[] = []): void {
  const endings = ["", ...files].flatMap((end) => [
    ...(end === "" ? [] : [end]),
    ...OF_SQLITE.map((own) => end + own),
  ]);
  for (const path of new Set([database, realPath(database)]))
    for (const end of endings)
      if (lstatSync(path + end, { throwIfNoEntry: false })?.isSymbolicLink())
        throw new FileLinkError(path + end);
}

/** SQLite's own files lie beside the end of a link. */
function realPath(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}
