import { join } from "node:path";
import { openSqlite, type SqliteDriver } from "hookproof/node";
import { sqliteStore } from "hookproof/outbox/sqlite";
import { betterSqlite3 } from "../kit/better-sqlite3.js";
import type { SmallDisk } from "../kit/small-disk.js";
import type { ChaosEngine } from "./outbox-chaos.js";

const pass = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** An outbox in a file of this folder. It is cut off by whoever locks the file, or by a disk that is full. */
export function sqliteEngine(
  folder: string,
  disk?: SmallDisk,
): { readonly engine: ChaosEngine; close(): void } {
  const driver: SqliteDriver = betterSqlite3() ? "better-sqlite3" : "libsql";
  const from = new URL("../native/package.json", import.meta.url).href;
  const place = { file: join(folder, "app.db"), driver, from };
  const open = () => openSqlite(place.file, { driver, from });
  const locker = open();
  const engine: ChaosEngine = {
    name: "sqlite",
    place,
    speed: 20,
    leaseMs: 4_500,
    open: async (clock) => sqliteStore({ open, clock }),
    async cutStore() {
      locker.exec("PRAGMA busy_timeout = 5000");
      if (disk) {
        // Commits would go on in the room that the write-ahead log has already.
        locker.exec("PRAGMA wal_checkpoint(TRUNCATE)");
        disk.fill();
        await pass(900);
        disk.free();
      } else {
        locker.exec("BEGIN IMMEDIATE");
        await pass(900);
        locker.exec("ROLLBACK");
      }
    },
    isHeldUp() {
      try {
        locker.exec("PRAGMA busy_timeout = 0; BEGIN IMMEDIATE; ROLLBACK");
        return false;
      } catch {
        return true;
      }
    },
  };
  return { engine, close: () => void locker.close() };
}
