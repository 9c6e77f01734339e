export { guardedLookup, type Resolve } from "../http/guarded-lookup-node.js";
export { diagnosticsChannelObserver } from "./diagnostics-channel-observer.js";
export { toJwksListener } from "./jwks-listener.js";
export type { KeyMaterial } from "./key-material.js";
export { type KeyStatus, type KeyStore, type KeyStoreOptions, openKeyStore } from "./key-store.js";
export { nodeTransport } from "./node-transport.js";
export { type OpenSqliteOptions, openSqlite, type SqliteDriver } from "./open-sqlite.js";
export {
  type OtelContext,
  type OtelMeter,
  type OtelSpan,
  type OtelTracer,
  otelObserver,
} from "./otel-observer.js";
export {
  type PostgresQueryable,
  type PostgresReplayStore,
  type PostgresReplayStoreOptions,
  postgresReplayStore,
} from "./postgres-replay-store.js";
export { type RedisClient, type RedisReplayStoreOptions, redisReplayStore } from "./redis-replay-store.js";
export type { SqliteDatabase, SqliteStatement, SqliteValue } from "./sqlite-database.js";
export type { OpenSqliteDatabase } from "./sqlite-outbox-schema.js";
export {
  type SqliteReplayStore,
  type SqliteReplayStoreOptions,
  sqliteReplayStore,
} from "./sqlite-replay-store.js";
export { type SqliteStoreOptions, sqliteStore } from "./sqlite-store.js";
export { toNodeHandler } from "./to-node-handler.js";
export { receivedRequest, sendAnswer, toNodeListener } from "./to-node-listener.js";
export { type UndiciDispatcher, undiciTransport } from "./undici-transport.js";
