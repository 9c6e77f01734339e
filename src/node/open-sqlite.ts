import { closeSync, openSync } from "node:fs";
import { createRequire } from "node:module";
import type { OpenSqliteDatabase } from "./sqlite-outbox-schema.js";

/** SQLite as a runtime has it built in, or as a package brings it. */
export type SqliteDriver = "node:sqlite" | "bun:sqlite" | "better-sqlite3" | "libsql";

/** Options of `openSqlite`. */
export interface OpenSqliteOptions {
  /** The runtime's own by default, and `libsql` where it has none. */
  driver?: SqliteDriver | undefined;
  /** The `import.meta.url` of the module whose packages are looked through; hookproof's own by default. */
  from?: string | undefined;
}

type Constructor = new (file: string) => OpenSqliteDatabase;

/**
 * Opens a SQLite file with a driver by its name. A file that is new is for its owner only.
 *
 * @example
 * ```ts
 * import { openSqlite, sqliteStore } from "hookproof/node";
 *
 * const store = sqliteStore({ open: () => openSqlite("app.db", { from: import.meta.url }) });
 * ```
 */
export function openSqlite(
  file: string,
  { driver = builtIn() ?? "libsql", from = import.meta.url }: OpenSqliteOptions = {},
): OpenSqliteDatabase {
  const Database = constructorOf(driver, createRequire(from));
  if (file !== ":memory:") createPrivately(file);
  return new Database(file);
}

/**
 * Makes the file where there is none. One that is there must not even be opened: closing it again would drop the
 * locks of every other connection of this process, and another process could then take the log away under them.
 */
function createPrivately(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

function builtIn(): SqliteDriver | undefined {
  if (process.versions.bun) return "bun:sqlite";
  return process.getBuiltinModule?.("node:sqlite") ? "node:sqlite" : undefined;
}

/** The driver as the caller's module would load it; the library itself brings none. */
function constructorOf(driver: SqliteDriver, load: NodeJS.Require): Constructor {
  switch (driver) {
    case "node:sqlite":
      return (load(driver) as { DatabaseSync: Constructor }).DatabaseSync;
    case "bun:sqlite":
      return (load(driver) as { Database: Constructor }).Database;
    case "better-sqlite3":
      checkBetterSqlite3(load);
      return load(driver) as Constructor;
    case "libsql":
      return load(driver) as Constructor;
    default:
      throw new TypeError('driver must be "node:sqlite", "bun:sqlite", "better-sqlite3" or "libsql"');
  }
}

/** Version 13 takes the whole process down on Node 20 when it opens a file. */
function checkBetterSqlite3(load: NodeJS.Require): void {
  const { version } = load("better-sqlite3/package.json") as { version: string };
  if (Number.parseInt(version, 10) < 13 || Number.parseInt(process.versions.node, 10) >= 22) return;
  throw new TypeError(
    `better-sqlite3 ${version} crashes on Node ${process.versions.node}: install better-sqlite3@12.9.0, or run Node 22 or newer`,
  );
}
