// Refuses files that others can read, and links next to a database; reads the small ones that are only ours.
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";

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

  constructor(file: string, use: "read" | "written to" = "written to") {
    super(`${file} is a link, and its end would be ${use}.`);
    this.file = file;
  }
}

/** A file next to a database that another user owns, who can replace what is in it. */
class FileOwnerError extends Error {
  override readonly name = "FileOwnerError";
  readonly code = "FILE_OWNER_OTHER";
  readonly file: string;

  constructor(file: string, uid: number) {
    super(`${file} belongs to another user (uid ${uid}), who can replace its content.`);
    this.file = file;
  }
}

/**
 * The text of a small file that only this program writes, next to a database; undefined where there is none. It is looked
 * at and read through one handle, so that nothing changes in between.
 *
 * @throws {FileLinkError | FileOwnerError | FileModeError} unless it is a file of this user or of root, for its owner only,
 *   with no other name
 */
export function readOwnFile(file: string): string | undefined {
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (!found) return undefined;
  if (found.isSymbolicLink()) throw new FileLinkError(file, "read");
  const handle = openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const names = 1 + countUnfinished(file, found.ino);
    const stats = fstatSync(handle);
    const { mode, nlink, uid } = stats;
    if (!stats.isFile()) throw Object.assign(new Error(`${file} is no file.`), { code: "ENXIO" });
    if (nlink > names) throw new FileLinkError(file, "read");
    if (process.platform !== "win32") {
      if (uid !== 0 && uid !== process.getuid?.()) throw new FileOwnerError(file, uid);
      if ((mode & 0o077) !== 0) throw new FileModeError(file);
    }
    return readFileSync(handle, "utf8");
  } finally {
    closeSync(handle);
  }
}

/** How many names a file still has from being made: first under a name that cannot be guessed, then linked to its own. */
function countUnfinished(file: string, ino: number): number {
  const [folder, start] = [dirname(file), `${basename(file)}.`];
  const names = readdirSync(folder).filter((name) => name.startsWith(start) && name.endsWith(".tmp"));
  return names.filter((name) => lstatSync(join(folder, name), { throwIfNoEntry: false })?.ino === ino).length;
}

/** What SQLite makes next to a file. */
const OF_SQLITE = ["-wal", "-shm", "-journal"];

/**
 * Refuses links next to a database, symbolic and hard: at the names of SQLite's own files, and at `files` with theirs. The database itself may
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
    for (const end of endings) if (isLink(path + end)) throw new FileLinkError(path + end);
}

/** Whether a path is a link to something else, or another name of a file that has one elsewhere. */
function isLink(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats !== undefined && (stats.isSymbolicLink() || (stats.isFile() && stats.nlink > 1));
}

/** SQLite's own files lie next to the end of a link. */
function realPath(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}
