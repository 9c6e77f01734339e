/**
 * An outbox: events are stored in your database with the change that caused them, and delivered from there.
 *
 * @packageDocumentation
 */

export { createOutbox, type Outbox } from "./outbox.js";
export type { OutboxOptions } from "./outbox-options.js";

// What goes in

export type { CancelFilter } from "./control.js";
export {
  type EnqueuedEvent,
  type FanOutMessage,
  type OutboxMessage,
  OutcomeUnknownError,
  type PreparedEvent,
} from "./enqueue.js";
export type { OutboxListenerOptions } from "./listener.js";
export type { ListenerCache, ListenerLookup } from "./listeners.js";

// The engine for tests; those in databases have entries of their own

export { memoryStore } from "./memory/store.js";

// Encryption of stored bodies

export { aesGcmEncryption, type BodyEncryption } from "./body-encryption.js";

// What the names above are made of

export type { BreakerPolicy } from "./breaker.js";
export type { Rate } from "./rate.js";
export type {
  DeadLetter,
  DeadLetterFilter,
  ListenerError,
  ListenerPause,
  ListenerStats,
  OutboxAttempt,
  OutboxEntry,
  RedriveOptions,
  RedriveResult,
} from "./records.js";
export type { Retention } from "./upkeep.js";
