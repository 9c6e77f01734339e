import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqlite } from "hookproof/node";
import { betterSqlite3 } from "../kit/better-sqlite3.js";

export type Database = ReturnType<typeof openSqlite>;

let folder: string | undefined;

/** A folder in memory, where there is one, that goes with the process. */
export function ownFolder(): string {
  if (folder !== undefined) return folder;
  const made = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "hookproof-simulation-"));
  process.once("exit", () => rmSync(made, { recursive: true, force: true }));
  folder = made;
  return made;
}

export function openFile(file: string): Database {
  const Better = betterSqlite3();
  return Better ? (new Better(file) as unknown as Database) : openSqlite(file, { driver: "libsql" });
}
