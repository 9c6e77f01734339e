import { chmodSync, mkdirSync } from "node:fs";
import { chmod, open, rename } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import type { Io } from "./io.js";

/** The user's data folder: history, sessions of local listeners, and keys. */
export function dataFolder({ env }: Io): string {
  if (env.HOOKPROOF_HOME) return env.HOOKPROOF_HOME;
  if (env.XDG_DATA_HOME) return join(env.XDG_DATA_HOME, "hookproof");
  if (process.platform === "win32" && env.LOCALAPPDATA) return join(env.LOCALAPPDATA, "hookproof");
  return join(env.HOME || homedir(), ".local", "share", "hookproof");
}

/** Creates a folder that only its owner can enter. */
export function privateFolder(path: string): string {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  chmodSync(path, 0o700);
  return path;
}

/** Writes a file that only its owner can read, beside the old one and then in its place. */
export async function writePrivateFile(path: string, content: string): Promise<void> {
  privateFolder(dirname(path));
  const temporary = `${path}.${process.pid}.tmp`;
  const handle = await open(temporary, "w", 0o600);
  try {
    await handle.writeFile(content);
  } finally {
    await handle.close();
  }
  await chmod(temporary, 0o600);
  await rename(temporary, path);
}
