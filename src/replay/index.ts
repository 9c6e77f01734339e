/**
 * Replay stores for receivers on several machines, or that restart: event ids in SQLite, PostgreSQL or Redis.
 *
 * @packageDocumentation
 */

export {
  type PostgresReplayStore,
  type PostgresReplayStoreOptions,
  postgresReplayStore,
} from "./node/postgres-replay-store.js";
export {
  type RedisClient,
  type RedisReplayStoreOptions,
  redisReplayStore,
} from "./node/redis-replay-store.js";
export {
  type SqliteReplayStore,
  type SqliteReplayStoreOptions,
  sqliteReplayStore,
} from "./node/sqlite-replay-store.js";
