import { type Stats, statSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { CliError, EXIT } from "./failure.js";

/** Refuses a file with a secret in it that others can read or replace. */
export function requirePrivate(path: string): void {
  const stats = requireOwned(path);
  if (process.platform === "win32" || !stats.isFile() || (stats.mode & 0o077) === 0) return;
  throw new CliError(EXIT.setup, "FILE_MODE_TOO_WIDE", `${path} can be read by others.`, {
    hint: `chmod 600 ${path}`,
  });
}

/** Whoever owns a file or folder decides what is in it, whatever its mode: only this user and root may. */
export function requireOwned(path: string): Stats {
  let stats: Stats;
  try {
    stats = statSync(path);
  } catch {
    throw new CliError(EXIT.setup, "FILE_UNREADABLE", `${path} cannot be read.`);
  }
  const isKept = stats.isFile() || stats.isDirectory(); // a pipe, as of <(pass show secret), is whose it is
  if (process.platform === "win32" || !isKept || stats.uid === 0 || stats.uid === process.getuid?.())
    return stats;
  throw new CliError(
    EXIT.setup,
    "FILE_OWNER_OTHER",
    `${path} belongs to another user (uid ${stats.uid}), who can replace what is in it.`,
    { hint: "Make a copy of your own, or a new secret; chown only what you have looked at." },
  );
}

/** A text file, or a refusal that says which one. */
export async function readTextFile(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch {
    throw new CliError(EXIT.setup, "FILE_UNREADABLE", `${path} cannot be read.`);
  }
}

/** Writes a file for its owner only where the user wants it; its folder stays as it is. */
export async function writeOwnFile(path: string, content: string): Promise<void> {
  try {
    // An old file would keep its mode.
    await rm(path, { force: true });
    await writeFile(path, content, { mode: 0o600, flag: "wx" });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new CliError(EXIT.setup, "FILE_UNWRITABLE", `${path} cannot be written (${code ?? "unknown"}).`);
  }
}
