/**
 * The outbox in SQLite, through better-sqlite3, libsql, `node:sqlite` or `bun:sqlite`.
 *
 * @packageDocumentation
 */

export { type SqliteStoreOptions, sqliteStore } from "./store.js";

// The parts of a driver that it uses

export type {
  OpenSqliteDatabase,
  SqliteDatabase,
  SqliteStatement,
  SqliteValue,
} from "../../sqlite/database.js";
