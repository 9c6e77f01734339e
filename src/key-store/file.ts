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
import { HookproofError } from "../errors.js";
import type { JWK, KeyLife } from "../jwks/key-record.js";
import { lifeCycleFault } from "../jwks/life-cycle.js";
import { DEFAULT_MAX_AGE_SECONDS } from "../jwks/rotation.js";
import { isAlgorithm } from "../jwt/key.js";
import { isSealedKey, type SealedKey } from "./sealed-key.js";
import { isStorableKid } from "./storable-kid.js";

/** A key as it stands in the file; of a removed key only names and times are left. */
export interface StoredKey extends KeyLife {
  readonly publicJwk?: JWK;
  readonly privateJwk?: JWK;
  /** Under the store's passphrase. */
  readonly sealedPrivateKey?: SealedKey;
}

/** What the file holds. */
export interface StoredKeys {
  /** How long the host lets receivers keep the set; a rotation in any process waits for it. */
  readonly maxAgeSeconds: number;
  readonly keys: readonly StoredKey[];
}

const VERSION = 1;
const FILE = "keys.json";
const TEMPORARY = /^keys\.json\.[0-9a-f]+\.tmp$/;
/** Windows has no modes and does not let folders be synced. */
const IS_POSIX = process.platform !== "win32";

/** The one file of a key store. */
export interface KeyStoreFile {
  /** Changes whenever the file does; reading costs more than asking for it. */
  signature(): string;
  read(): StoredKeys;
  /** Written beside and renamed over, so that a crash leaves the old file or the new one; only while `isHeld`. */
  write(stored: StoredKeys, isHeld: () => boolean): Promise<void>;
  makeFolder(): Promise<void>;
}

export function keyStoreFile(dir: string): KeyStoreFile {
  const path = join(dir, FILE);
  return {
    signature: () => naming(path, () => signatureOf(path)),
    read: () => naming(path, () => parse(readPrivately(dir, path), path)),
    makeFolder: () =>
      naming(dir, async () => {
        await mkdir(dir, { recursive: true, mode: 0o700 });
        refuseExposed(dir, statSync(dir), "700");
      }),
    write: (stored, isHeld) => naming(path, () => replace(dir, path, stored, isHeld)),
  };
}

/** Synchronous on purpose: a few microseconds, where a thread pool would take longer than the answer it is for. */
function signatureOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found ? `${found.ino} ${found.size} ${found.mtimeMs} ${found.ctimeMs}` : "none";
}

function readPrivately(dir: string, path: string): string | undefined {
  const folder = statSync(dir, { throwIfNoEntry: false });
  if (!folder) return undefined;
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

/** Whoever owns a folder or a file can replace what is in it, whatever its mode: only this user and root may. */
function refuseExposed(path: string, { mode, uid }: Stats, wanted: string): void {
  if (!IS_POSIX) return;
  if (uid !== 0 && uid !== process.getuid?.())
    throw new HookproofError(
      "KEY_STORE_EXPOSED",
      `${path} belongs to another user (uid ${uid}), who can replace the keys; use a folder of your own.`,
    );
  if ((mode & 0o077) === 0) return;
  throw new HookproofError("KEY_STORE_EXPOSED", `Others can use ${path}; run: chmod ${wanted} ${path}`);
}

function parse(text: string | undefined, path: string): StoredKeys {
  if (text === undefined) return { maxAgeSeconds: DEFAULT_MAX_AGE_SECONDS, keys: [] };
  let stored: { version?: unknown; maxAgeSeconds?: unknown; keys?: unknown } | null;
  try {
    stored = JSON.parse(text);
  } catch {
    throw invalid(path, "is not JSON: it is damaged or half-written");
  }
  const version = stored?.version;
  if (typeof version === "number" && version > VERSION) {
    throw new HookproofError(
      "KEY_STORE_NEWER",
      `${path} is of version ${version}, and this one reads version ${VERSION}; nothing was changed.`,
    );
  }
  if (version !== VERSION || !Array.isArray(stored?.keys)) throw invalid(path, "is not a key store");
  const { maxAgeSeconds = DEFAULT_MAX_AGE_SECONDS } = stored;
  if (!Number.isSafeInteger(maxAgeSeconds) || (maxAgeSeconds as number) < 0)
    throw invalid(path, "has no valid maxAgeSeconds");
  const keys: readonly unknown[] = stored.keys;
  const bad = keys.findIndex((key) => !isStoredKey(key));
  if (bad >= 0) throw invalid(path, `has a key, number ${bad + 1}, that is not one`);
  const fault = lifeCycleFault(keys as StoredKey[]);
  if (fault) throw invalid(path, `has ${fault}`);
  return { maxAgeSeconds: maxAgeSeconds as number, keys: keys as StoredKey[] };
}

function isStoredKey(value: unknown): value is StoredKey {
  if (!isObject(value)) return false;
  const { kid, alg, createdAt, signsAt, retiresAt, removesAt } = value;
  const isNamed = isStorableKid(kid) && isAlgorithm(alg);
  const isTimed =
    Number.isFinite(createdAt) &&
    [signsAt, retiresAt, removesAt].every((time) => time === undefined || Number.isFinite(time));
  const { publicJwk, privateJwk, sealedPrivateKey } = value;
  const hasKey = isObject(publicJwk) && (isObject(privateJwk) || isSealedKey(sealedPrivateKey));
  const isErased = publicJwk === undefined && privateJwk === undefined && sealedPrivateKey === undefined;
  return isNamed && isTimed && (hasKey || (isErased && removesAt !== undefined));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

async function replace(dir: string, path: string, stored: StoredKeys, isHeld: () => boolean): Promise<void> {
  // Under the lock nobody else writes: whatever lies here was left by a process that died, with keys in it.
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

/** Does file work under a name: whatever the system refuses becomes one code, and names the file. */
export function naming<Result>(path: string, work: () => Result): Result {
  const unreadable = (cause: unknown) => {
    if (cause instanceof HookproofError || !(cause instanceof Error && "syscall" in cause)) return cause;
    const reason = "code" in cause ? cause.code : cause.name;
    return new HookproofError(
      "KEY_STORE_UNREADABLE",
      `${path} cannot be used (${reason}); nothing was changed.`,
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

function invalid(path: string, reason: string): HookproofError {
  return new HookproofError("KEY_STORE_INVALID", `${path} ${reason}; nothing was changed.`);
}
