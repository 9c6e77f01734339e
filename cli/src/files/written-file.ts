// Writes files at paths that the user chose, and never in the place of what is no file.
import { randomUUID } from "node:crypto";
import { closeSync, constants, lstatSync, openSync, rmSync, type Stats, statSync } from "node:fs";
import { link, rename, rm, writeFile } from "node:fs/promises";
import { CliError, EXIT } from "../failure.js";
import { isLink, unwritable } from "./files.js";

/**
 * Writes a file that only its owner can read, whole or not at all: a program that waits for the file reads it as soon as
 * it is there. A file of this user is replaced, and so is a link, whose end stays; the folder is not changed.
 */
export async function writeOwnFile(path: string, content: string): Promise<void> {
  requireReplaceable(path);
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    await writeFile(temporary, content, { mode: 0o600, flag: "wx" });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {}); // the path may lead nowhere
    throw unwritable(path, error);
  }
}

/** Refuses what a new file must not stand in for: a folder, a device, a pipe, a link to one, another user's file. */
function requireReplaceable(path: string): void {
  const found = seen(() => lstatSync(path, { throwIfNoEntry: false }));
  if (found === undefined) return;
  const end = found.isSymbolicLink() ? seen(() => statSync(path, { throwIfNoEntry: false })) : found;
  if (end?.isDirectory()) throw notWritten(path, "it is a folder");
  if (end !== undefined && !end.isFile()) throw notWritten(path, "it is no file");
  // Root could replace it, in a folder such as /tmp without a word.
  if (process.platform !== "win32" && found.uid !== process.getuid?.())
    throw notWritten(path, `it belongs to another user (uid ${found.uid})`);
}

/** What the system says of a path; a path that leads nowhere is refused where it is written. */
function seen(look: () => Stats | undefined): Stats | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}

function notWritten(path: string, reason: string): CliError {
  return new CliError(EXIT.setup, "FILE_UNWRITABLE", `${path} cannot be written: ${reason}.`, {
    hint: "Name another file.",
  });
}

/**
 * Writes a file that only its owner can read where there is none yet, at one stroke. What is there already, a link
 * included, is somebody's: it is refused and stays.
 */
export async function createOwnFile(path: string, content: string): Promise<void> {
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    await writeFile(temporary, content, { mode: 0o600, flag: "wx" });
    await link(temporary, path);
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === "EEXIST"
      ? new CliError(EXIT.setup, "FILE_UNWRITABLE", `${path} is there already.`, {
          hint: "Look at what it holds, and remove it or name another file.",
        })
      : unwritable(path, error);
  } finally {
    await rm(temporary, { force: true }).catch(() => {}); // the path may lead nowhere
  }
}

/**
 * Opens a file that anybody may read, to be written from its start. A link to a file is refused, as its end would be
 * emptied. A device and a pipe that somebody reads, such as /dev/stdout and >(gzip), are written to as they are.
 */
export function openOutput(path: string): number {
  const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  let probe: number | undefined;
  try {
    const end = statSync(path, { throwIfNoEntry: false });
    if (end === undefined || end.isFile()) {
      if (isLink(path)) throw linked(path);
      return openSync(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW);
    }
    // A pipe that nobody reads would be waited for without end.
    if (end.isFIFO()) probe = openSync(path, O_WRONLY | O_NONBLOCK);
    return openSync(path, O_WRONLY);
  } catch (error) {
    if (error instanceof CliError) throw error;
    const isUnread = (error as NodeJS.ErrnoException).code === "ENXIO" && isPipe(path);
    throw isUnread ? notWritten(path, "it is a pipe, and nobody reads it") : unwritable(path, error);
  } finally {
    if (probe !== undefined) closeSync(probe);
  }
}

function isPipe(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFIFO() === true;
}

function linked(path: string): CliError {
  return new CliError(EXIT.setup, "FILE_IS_LINK", `${path} is a link, and its end would be written to.`, {
    hint: "Look at where it leads, and name the file itself or another one.",
  });
}

/** What a file and its content keep. */
const SAME = ["ino", "dev", "birthtimeMs", "mtimeMs"] as const;

/**
 * The function that removes a file which this program has just made, and nothing that somebody has put in its place
 * since: neither another file, nor one of another folder that its path leads to now.
 */
export function removalOf(path: string): () => void {
  const made = lstatSync(path);
  return () => {
    const found = lstatSync(path, { throwIfNoEntry: false });
    // The number of a file that is gone is given to another one.
    const isSame = SAME.every((name) => found?.[name] === made[name]);
    if (isSame) rmSync(path, { force: true });
  };
}
