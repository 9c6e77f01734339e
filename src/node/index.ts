export { type KeyStore, openKeyStore } from "./key-store.js";
export {
  type PostgresQueryable,
  type PostgresReplayStore,
  type PostgresReplayStoreOptions,
  postgresReplayStore,
} from "./postgres-replay-store.js";
export { type RedisClient, type RedisReplayStoreOptions, redisReplayStore } from "./redis-replay-store.js";
export {
  type SqliteDatabase,
  type SqliteReplayStore,
  type SqliteReplayStoreOptions,
  type SqliteStatement,
  sqliteReplayStore,
} from "./sqlite-replay-store.js";
export { toNodeHandler } from "./to-node-handler.js";
export { receivedRequest, sendAnswer, toNodeListener } from "./to-node-listener.js";
