/**
 * Replay stores for receivers on several machines, or that restart: event ids in SQLite, PostgreSQL or Redis.
 *
 * @packageDocumentation
 */

export {
  type PostgresQueryable,
  type PostgresReplayStore,
  type PostgresReplayStoreOptions,
  postgresReplayStore,
} from "./postgres-replay-store.js";
export { type RedisClient, type RedisReplayStoreOptions, redisReplayStore } from "./redis-replay-store.js";
export {
  type SqliteReplayStore,
  type SqliteReplayStoreOptions,
  sqliteReplayStore,
} from "./sqlite-replay-store.js";
