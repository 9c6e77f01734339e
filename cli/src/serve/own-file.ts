// Files that only this program writes, read in folders where somebody else may have put a link.
import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { CliError, EXIT } from "../failure.js";
import {
  isLink,
  isMountedSecret,
  requireMode,
  requireOwned,
  requireOwner,
  unreadable,
} from "../files/files.js";
import { wordOf } from "../shell-word.js";

/**
 * The text of a file that only this program writes: no link and no pipe, in a folder where nobody else can put another
 * one in its place. It is looked at and read through one handle, so that nothing changes in between.
 */
export function readOwnFile(path: string): string {
  const folder = dirname(path);
  const { mode } = requireOwned(folder);
  if (process.platform !== "win32" && (mode & 0o022) !== 0)
    throw new CliError(EXIT.setup, "FILE_MODE_TOO_WIDE", `Others can write in ${folder}.`, {
      hint: `Look at what is in it, then: chmod 700 ${wordOf(folder)}`,
    });
  return readLoneFile(path);
}

/**
 * The text of a file that only this program writes, in a folder that others may use, such as one next to a database: no
 * link, neither symbolic nor hard, and no pipe. It is looked at and read through one handle.
 */
export function readLoneFile(path: string): string {
  let handle: number | undefined;
  try {
    if (isLink(path)) throw linked(path);
    const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
    handle = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const names = 1 + countUnfinished(path);
    const stats = fstatSync(handle);
    if (!stats.isFile()) throw new Error("not a file");
    if (stats.nlink > names) throw linked(path);
    requireOwner(path, stats);
    if (!isMountedSecret(path, stats)) requireMode(path, stats);
    return readFileSync(handle, "utf8");
  } catch (error) {
    throw error instanceof CliError ? error : unreadable(path, error);
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}

function linked(path: string): CliError {
  return new CliError(EXIT.setup, "FILE_IS_LINK", `${path} is a link, and its end would be read.`, {
    hint: "Look at who put it there, and remove it.",
  });
}

/** How many names a file still has from being made: first under a name that cannot be guessed, then linked to its own. */
function countUnfinished(path: string): number {
  const [folder, start, { ino }] = [dirname(path), `${basename(path)}.`, lstatSync(path)];
  const names = readdirSync(folder).filter((name) => name.startsWith(start) && name.endsWith(".tmp"));
  return names.filter((name) => lstatSync(join(folder, name), { throwIfNoEntry: false })?.ino === ino).length;
}
