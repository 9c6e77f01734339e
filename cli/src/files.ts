import { chmodSync, mkdirSync } from "node:fs";
import { chmod, open, rename } from "node:fs/promises";
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

/** Writes a file that only its owner can read, beside the old one and then in its place. */
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
