export { aesGcmEncryption, type BodyEncryption } from "./body-encryption.js";
export type { BreakerPolicy } from "./breaker.js";
export {
  type EnqueuedEvent,
  type OutboxMessage,
  OutcomeUnknownError,
  type PreparedEvent,
} from "./enqueue.js";
export { memoryStore } from "./memory-store.js";
export {
  createOutbox,
  type Outbox,
  type OutboxListenerStats,
  type OutboxOptions,
  type OutboxRedriveOptions,
} from "./outbox.js";
export type { OutboxListenerOptions } from "./outbox-listener.js";
export type {
  Burial,
  ClaimedEvent,
  ClaimRequest,
  ClaimShare,
  Completion,
  DeadLetter,
  DeadLetterFilter,
  DropOptions,
  ExpiredEvent,
  Lease,
  ListenerStats,
  OutboxAttempt,
  OutboxEntry,
  OutboxEvent,
  OutboxStore,
  RedriveOptions,
  RedriveResult,
} from "./outbox-store.js";
export type { PostgresClient, PostgresPool, PostgresPoolClient } from "./postgres/database.js";
export { type PostgresStoreOptions, postgresStore } from "./postgres/store.js";
export type { Rate } from "./rate-bucket.js";
export type { Retention } from "./upkeep.js";
