/**
 * The outbox in SQLite, through better-sqlite3, libsql, `node:sqlite` or `bun:sqlite`.
 *
 * @packageDocumentation
 */

export { type SqliteStoreOptions, sqliteStore } from "./store.js";
