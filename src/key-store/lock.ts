// Lets one process at a time work in a folder.
import { createHash, randomBytes } from "node:crypto";
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { HookproofError } from "../core/errors.js";

const NAME = /^lock-([0-9a-f]{8})-([0-9]+)-([0-9a-f]{16})$/;
/** The work under a lock takes milliseconds, so the holder of an older lock file has crashed. */
const DEAD_AFTER_MS = 10_000;
const GIVE_UP_AFTER_MS = 15_000;

const host = createHash("sha256").update(hostname()).digest("hex").slice(0, 8);
/** The lock files of this process; another one with the same process id is of an earlier process. */
const own = new Set<string>();

/**
 * Does work while no other process works in the same folder. Each process creates a lock file of its own and then
 * looks for others: of two, at least the later one sees the other. A crashed holder is recognised by its process id,
 * or by the age of its file if it ran on another host. Every lock file has its own name, so deleting an abandoned one
 * can never delete a lock that is held.
 *
 * @throws {HookproofError} KEY_STORE_BUSY after 15 seconds
 */
export async function withFolderLock<Result>(
  dir: string,
  work: (isHeld: () => boolean) => Promise<Result>,
): Promise<Result> {
  const file = await acquire(dir);
  try {
    return await work(() => existsSync(file));
  } finally {
    release(file);
  }
}

async function acquire(dir: string): Promise<string> {
  const start = performance.now();
  for (;;) {
    const token = randomBytes(8).toString("hex");
    const name = `lock-${host}-${process.pid}-${token}`;
    const file = join(dir, name);
    if (!isTaken(dir, name)) {
      own.add(name);
      writeFileSync(file, "", { flag: "wx", mode: 0o600 });
      if (!isTaken(dir, name)) return file;
      release(file, name);
    }
    if (performance.now() - start > GIVE_UP_AFTER_MS) {
      throw new HookproofError(
        "KEY_STORE_BUSY",
        `The key store ${dir} has been locked for ${GIVE_UP_AFTER_MS / 1000} s.`,
      );
    }
    await delay(2 + Math.random() * 20);
  }
}

function release(file: string, name = file.slice(file.lastIndexOf("lock-"))): void {
  own.delete(name);
  rmSync(file, { force: true });
}

/** Whether another process holds or wants the lock. Deletes the lock files of crashed ones. */
function isTaken(dir: string, ownName: string): boolean {
  const others = readdirSync(dir).filter((name) => name !== ownName && NAME.test(name));
  const alive = others.filter((name) => isAlive(join(dir, name), name));
  for (const name of others) if (!alive.includes(name)) rmSync(join(dir, name), { force: true });
  return alive.length > 0;
}

function isAlive(file: string, name: string): boolean {
  const written = statSync(file, { throwIfNoEntry: false })?.mtimeMs;
  if (written === undefined) return false;
  const [, holderHost, pid] = NAME.exec(name) ?? [];
  if (Math.abs(Date.now() - written) > DEAD_AFTER_MS) return false;
  if (holderHost !== host) return true;
  return Number(pid) === process.pid ? own.has(name) : isRunning(Number(pid));
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it runs, as another user.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
