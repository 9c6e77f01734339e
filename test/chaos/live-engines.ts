import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqlite, type SqliteDriver } from "hookproof/node";
import { postgresStore } from "hookproof/outbox/postgres";
import { sqliteStore } from "hookproof/outbox/sqlite";
import type { OutboxStore } from "hookproof/outbox/store";
import { betterSqlite3 } from "../kit/better-sqlite3.js";
import { emptyDatabase, testPool } from "../kit/postgres.js";

/** A store that worker processes share, by the machine's clock. */
export interface LiveEngine {
  /** Its entry in outbox-engines.mjs. */
  readonly name: string;
  /** What that entry is called with; plain text. */
  readonly place: Readonly<Record<string, string>>;
  readonly store: OutboxStore;
  /** Cuts the workers off for a moment: their connections are ended, or the file is locked. */
  cut(): Promise<void>;
  /** Whether a process that is stopped now would hold up the others, as it has locked what they need. */
  isHeldUp(): boolean;
  stop(): Promise<void>;
}

export async function liveSqlite(): Promise<LiveEngine> {
  const folder = mkdtempSync(join(tmpdir(), "hookproof-chaos-live-"));
  const driver: SqliteDriver = betterSqlite3() ? "better-sqlite3" : "libsql";
  const from = new URL("../native/package.json", import.meta.url).href;
  const place = { file: join(folder, "app.db"), driver, from };
  const open = () => openSqlite(place.file, { driver, from });
  const [locker, looker] = [open(), open()];
  looker.exec("PRAGMA busy_timeout = 0");
  const store = sqliteStore({ open });
  await store.now(); // makes the tables
  return {
    name: "sqlite",
    place,
    store,
    async cut() {
      try {
        locker.exec("PRAGMA busy_timeout = 200; BEGIN IMMEDIATE");
      } catch {
        return; // on a busy machine somebody else always was first
      }
      await new Promise((resolve) => setTimeout(resolve, 300));
      locker.exec("ROLLBACK");
    },
    isHeldUp() {
      try {
        looker.exec("BEGIN IMMEDIATE; ROLLBACK");
        return false;
      } catch {
        return true;
      }
    },
    async stop() {
      await store.close();
      locker.close();
      looker.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** A database of its own on the server. */
export async function livePostgres(server: string, name: string): Promise<LiveEngine> {
  const url = await emptyDatabase(server, name);
  const pool = testPool({ connectionString: url });
  const store = postgresStore({ pool });
  await store.now();
  return {
    name: "postgres",
    place: { url },
    store,
    async cut() {
      await pool.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE backend_type = 'client backend' AND datname = current_database() AND application_name = 'worker'`,
      );
    },
    isHeldUp: () => false,
    async stop() {
      await store.close();
      await pool.end();
    },
  };
}
