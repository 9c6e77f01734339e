import { memoryReplayStore, type ReplayStore } from "hookproof/receiver";
import { postgresReplayStore, redisReplayStore, sqliteReplayStore } from "hookproof/replay";
import { Redis } from "ioredis";
import LibSql from "libsql";
import { betterSqlite3 } from "./better-sqlite3.js";
import { testPool } from "./postgres.js";

/** Where the ids of a store are; plain text, so that a process can be told of it. */
export interface StorePlace {
  readonly kind: "memory" | "better-sqlite3" | "libsql" | "postgres" | "redis";
  /** The file, or the server's URL. */
  readonly where?: string;
  /** The schema, or the prefix of the keys. */
  readonly space?: string;
}

/** A database that is slow because the machine is busy with other tests has not failed. */
export const TIMEOUT_MS = 30_000;

/** Opens the store at a place, as every process that shares it does. */
export function openReplayStore(
  { kind, where = "", space = "" }: StorePlace,
  reservationMs?: number,
): ReplayStore {
  if (kind === "memory") return memoryReplayStore({ reservationMs });
  if (kind === "redis") {
    return redisReplayStore({
      client: new Redis(where),
      keyPrefix: space,
      reservationMs,
      timeoutMs: TIMEOUT_MS,
    });
  }
  if (kind === "postgres") {
    const pool = testPool({
      connectionString: where,
      options: `-c search_path=${space}`,
    });
    return postgresReplayStore({ pool, reservationMs, timeoutMs: TIMEOUT_MS });
  }
  return sqliteReplayStore({ db: openSqlite(kind, where), reservationMs });
}

/** Opens a SQLite file for several processes. */
function openSqlite(kind: "better-sqlite3" | "libsql", file: string) {
  const Driver =
    kind === "libsql" ? (LibSql as unknown as ReturnType<typeof betterSqlite3>) : betterSqlite3();
  if (!Driver) throw new Error(`${kind} is not installed`);
  const db = new Driver(file);
  db.exec("PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL");
  return db;
}
