import { chmodSync, mkdirSync, type Stats, statSync } from "node:fs";
import { chmod, open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { CliError, EXIT } from "./failure.js";
import type { Io } from "./io.js";

/** The user's data folder: history, sessions of local listeners, secrets and keys. */
export function dataFolder(io: Io): string {
  const { env } = io;
  if (env.HOOKPROOF_HOME) return env.HOOKPROOF_HOME;
  if (env.XDG_DATA_HOME) return join(env.XDG_DATA_HOME, "hookproof");
  if (process.platform === "win32" && env.LOCALAPPDATA) return join(env.LOCALAPPDATA, "hookproof");
  return join(homeFolder(io), ".local", "share", "hookproof");
}

/** The folder of the user's own configuration; beside the data where HOOKPROOF_HOME names one place for all. */
export function configFolder(io: Io): string {
  const { env } = io;
  if (env.HOOKPROOF_HOME) return env.HOOKPROOF_HOME;
  if (env.XDG_CONFIG_HOME) return join(env.XDG_CONFIG_HOME, "hookproof");
  if (process.platform === "win32" && env.APPDATA) return join(env.APPDATA, "hookproof");
  return join(homeFolder(io), ".config", "hookproof");
}

function homeFolder({ env }: Io): string {
  const home = env.HOME ?? systemHome();
  if (home && isAbsolute(home)) return home;
  throw new CliError(EXIT.setup, "HOME_MISSING", "There is no home folder for configuration and data.", {
    hint: "Set HOME, or HOOKPROOF_HOME to a folder of its own.",
  });
}

function systemHome(): string | undefined {
  try {
    return homedir();
  } catch {
    return undefined;
  }
}

/** Creates a folder that only its owner can enter. */
export function privateFolder(path: string): string {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    chmodSync(path, 0o700);
    return path;
  } catch (error) {
    throw unwritable(path, error);
  }
}

/** Writes a file that only its owner can read: first beside the old file, then renamed to it. */
export async function writePrivateFile(path: string, content: string): Promise<void> {
  privateFolder(dirname(path));
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    const handle = await open(temporary, "w", 0o600);
    try {
      await handle.writeFile(content);
    } finally {
      await handle.close();
    }
    await chmod(temporary, 0o600);
    await rename(temporary, path);
  } catch (error) {
    throw unwritable(path, error);
  }
}

function unwritable(path: string, error: unknown): CliError {
  const { code } = error as NodeJS.ErrnoException;
  return new CliError(EXIT.setup, "FOLDER_UNWRITABLE", `${path} cannot be written (${code ?? "unknown"}).`, {
    hint: "Set HOOKPROOF_HOME to a folder that you may write to.",
  });
}

/** Refuses a file with a secret that other users can read or replace. */
export function requirePrivate(path: string): void {
  const stats = requireOwned(path);
  if (process.platform === "win32" || !stats.isFile() || (stats.mode & 0o077) === 0) return;
  throw new CliError(EXIT.setup, "FILE_MODE_TOO_WIDE", `${path} can be read by others.`, {
    hint: `chmod 600 ${path}`,
  });
}

/** Refuses a file or folder of another user: its owner can replace the content, whatever the mode. Root is trusted. */
export function requireOwned(path: string): Stats {
  let stats: Stats;
  try {
    stats = statSync(path);
  } catch {
    throw new CliError(EXIT.setup, "FILE_UNREADABLE", `${path} cannot be read.`);
  }
  const isKept = stats.isFile() || stats.isDirectory(); // a pipe, such as <(pass show secret), is not checked
  if (process.platform === "win32" || !isKept || stats.uid === 0 || stats.uid === process.getuid?.())
    return stats;
  throw new CliError(
    EXIT.setup,
    "FILE_OWNER_OTHER",
    `${path} belongs to another user (uid ${stats.uid}), who can replace its content.`,
    { hint: "Make your own copy, or a new secret. Use chown only after reading the file." },
  );
}

/** The bytes of a file, or a refusal that names the file. */
export async function readBytes(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch {
    throw new CliError(EXIT.setup, "FILE_UNREADABLE", `${path} cannot be read.`);
  }
}

/** The text of a file, or a refusal that names the file. */
export async function readTextFile(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch {
    throw new CliError(EXIT.setup, "FILE_UNREADABLE", `${path} cannot be read.`);
  }
}

/** Writes a file that only its owner can read, at a path that the user chose; the folder is not changed. */
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
