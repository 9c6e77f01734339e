// The one file of a key store.
import { randomBytes } from "node:crypto";
import {
  closeSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  type Stats,
  statSync,
} from "node:fs";
import { mkdir, open, rename } from "node:fs/promises";
import { join } from "node:path";
import { HookproofError } from "../core/errors.js";
import { fileFailure } from "../core/file-failures.js";
import { parseStoredKeys, type StoredKeys, VERSION } from "./stored-key.js";

const FILE = "keys.json";
const TEMPORARY = /^keys\.json\.[0-9a-f]+\.tmp$/;
/** Windows has no file modes and cannot sync folders. */
const IS_POSIX = process.platform !== "win32";

export interface KeyStoreFile {
  /** A text that changes with every change of the file; cheaper than reading the file. */
  signature(): string;
  /** The content; an empty store if there is no file. */
  read(): StoredKeys;
  /**
   * Writes a temporary file and renames it, so that a crash leaves either the old or the new content. Fails with
   * KEY_STORE_BUSY if the lock was lost meanwhile.
   */
  write(stored: StoredKeys, isHeld: () => boolean): Promise<void>;
  /** Makes the folder (0700), and refuses one that others can use. */
  makeFolder(): Promise<void>;
}

/** The file of the key store in a folder. */
export function keyStoreFile(dir: string): KeyStoreFile {
  const path = join(dir, FILE);
  return {
    signature: () => withPath(path, () => signatureOf(path)),
    read: () => withPath(path, () => parseStoredKeys(readPrivately(dir, path), path)),
    makeFolder: () =>
      withPath(dir, async () => {
        await mkdir(dir, { recursive: true, mode: 0o700 });
        refuseExposed(dir, statSync(dir), "700");
      }),
    write: (stored, isHeld) => withPath(path, () => replace(dir, path, stored, isHeld)),
  };
}

/** Synchronous, as it takes microseconds: a call through the thread pool takes longer than serving the key set. */
function signatureOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found ? `${found.ino} ${found.size} ${found.mtimeMs} ${found.ctimeMs}` : "none";
}

function readPrivately(dir: string, path: string): string | undefined {
  const folder = statSync(dir, { throwIfNoEntry: false });
  if (!folder) return undefined;
  if (!folder.isDirectory()) throw notFolder();
  refuseExposed(dir, folder, "700");
  let handle: number;
  try {
    handle = openSync(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  try {
    refuseExposed(path, fstatSync(handle), "600");
    return readFileSync(handle, "utf8");
  } finally {
    closeSync(handle);
  }
}

/**
 * The owner of a folder or a file can replace its content whatever its mode, so only this user and root may own it.
 */
function refuseExposed(path: string, { mode, uid }: Stats, wanted: string): void {
  if (!IS_POSIX) return;
  if (uid !== 0 && uid !== process.getuid?.())
    throw new HookproofError(
      "KEY_STORE_EXPOSED",
      `${path} belongs to another user (uid ${uid}), who can replace the keys; use a folder of your own.`,
    );
  if ((mode & 0o077) === 0) return;
  throw new HookproofError(
    "KEY_STORE_EXPOSED",
    `Others can use ${path}; run: chmod ${wanted} ${shellWord(path)}`,
  );
}

/** A path as one word of a shell: a cloned folder's names are its author's. */
function shellWord(path: string): string {
  return /^[\w@%+=:,./][\w@%+=:,./-]*$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

async function replace(dir: string, path: string, stored: StoredKeys, isHeld: () => boolean): Promise<void> {
  // No other process writes while this one holds the lock: these files, which contain keys, are of crashed processes.
  for (const name of readdirSync(dir)) if (TEMPORARY.test(name)) rmSync(join(dir, name), { force: true });
  const temporary = `${path}.${randomBytes(8).toString("hex")}.tmp`;
  const handle = await open(temporary, "wx", 0o600);
  try {
    await handle.writeFile(`${JSON.stringify({ version: VERSION, ...stored }, null, 2)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  if (!isHeld()) {
    rmSync(temporary, { force: true });
    throw new HookproofError(
      "KEY_STORE_BUSY",
      `The lock on ${dir} was lost, as this process stood still for too long; nothing was changed.`,
    );
  }
  await rename(temporary, path);
  if (IS_POSIX) await syncFolder(dir);
}

async function syncFolder(dir: string): Promise<void> {
  const handle = await open(dir, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** As the system says it of a file in the place of a folder; a `chmod` would not help. */
function notFolder(): Error {
  return Object.assign(new Error("not a folder"), { syscall: "open", code: "ENOTDIR" });
}

/** Does work with files; an error of the system becomes KEY_STORE_UNREADABLE with the path. */
export function withPath<Result>(path: string, work: () => Result): Result {
  const unreadable = (cause: unknown) => {
    if (cause instanceof HookproofError || !(cause instanceof Error && "syscall" in cause)) return cause;
    return new HookproofError(
      "KEY_STORE_UNREADABLE",
      `${path} cannot be used: ${fileFailure(cause)}. Nothing was changed.`,
      { cause },
    );
  };
  try {
    const result = work();
    if (!(result instanceof Promise)) return result;
    return result.catch((error: unknown) => {
      throw unreadable(error);
    }) as Result;
  } catch (error) {
    throw unreadable(error);
  }
}
