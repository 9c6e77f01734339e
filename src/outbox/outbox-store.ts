/**
 * The types for a store of your own: what the outbox asks of a store, and what a store returns.
 *
 * @packageDocumentation
 */

import type { ErrorCode } from "../core/errors.js";
import type { AttemptRecord } from "../sender/deliver.js";
import type { Rate } from "./limits.js";
import type { StoreControl } from "./store-control.js";

export type { CancelResult, DueListener, DueListeners, EventFilter, StoreControl } from "./store-control.js";

/** An event as a store keeps it: checked, and with its bytes fixed. */
export interface OutboxEvent {
  /** UUID v4, lower case. Id and `listener` together identify the event. */
  readonly id: string;
  /** The listener's name, as `enqueue` was given it. */
  readonly listener: string;
  /** The bytes to send, or the encrypted form of them if the outbox has encryption. */
  readonly body: Uint8Array;
  /** SHA-256 of the bytes to send, base64url. A repeated event has the same digest; another event does not. */
  readonly digest: string;
  /**
   * Events of one key and listener are claimed in the order in which they were enqueued, one at a time: none while
   * another one is leased or an earlier one is unfinished.
   */
  readonly orderingKey?: string | undefined;
  /**
   * The event is not due before this time, milliseconds since the epoch; absent: due at once. Later events of its
   * ordering key wait for it. Only a store with `control` gets such events.
   */
  readonly deliverAt?: number | undefined;
  /** The W3C `traceparent` that was current when the event was enqueued. */
  readonly traceparent?: string | undefined;
  /** The id of the key that encrypted `body`; absent if the body is not encrypted. */
  readonly encryptionKeyId?: string | undefined;
}

/** The right to deliver one event until `expiresAt`. A later claim of the same event makes the lease stale. */
export interface Lease {
  /** The event's listener. */
  readonly listener: string;
  /** The event's id. */
  readonly id: string;
  /** Different for each claim of the event. */
  readonly token: string;
  /** Milliseconds since the epoch, by the store's clock. */
  readonly expiresAt: number;
}

/** How much a claim may take for one listener. */
export interface ClaimShare {
  /** Events at most, 1 or more. */
  readonly most: number;
  /** Milliseconds after its first attempt in which an event may be tried; a claim skips events that are past it. */
  readonly windowMs: number;
  /** Leased events of the listener at most, those of all workers counted; only a store with `control` keeps to it. */
  readonly concurrency?: number | undefined;
  /** How often all workers together may claim an event of the listener; only a store with `control` keeps to it. */
  readonly rate?: Rate | undefined;
}

/** What a worker wants to claim. */
export interface ClaimRequest {
  /** Events at most, of all listeners. */
  readonly limit: number;
  /** How long each lease lasts, in milliseconds. */
  readonly leaseMs: number;
  /**
   * The listeners whose events may be claimed: those that `control.due` gave, or all listeners if they are few or the
   * store has no `control`. The dispatcher changes their order from claim to claim, so that each listener has its turn
   * even where `limit` is small.
   */
  readonly listeners: ReadonlyMap<string, ClaimShare>;
}

/** A claimed event, with the attempt that the store counted for it. */
export interface ClaimedEvent {
  /** The event, with its body. */
  readonly event: OutboxEvent;
  /** The lease under which it was claimed. */
  readonly lease: Lease;
  /** The number of the attempt that may start now: 1 for the first. Attempts before a redrive are included. */
  readonly attempt: number;
  /** Attempts made before the last redrive. The retry policy does not count them. */
  readonly attemptsBeforeRedrive: number;
  /** When the first attempt under this id was claimed, by the store's clock; equal to `now` if it is this one. */
  readonly firstAttemptAt: number;
  /** Whether an earlier attempt under this id was claimed and not released: that attempt may have arrived. */
  readonly sentBefore: boolean;
  /** When the event was enqueued, by the store's clock. */
  readonly enqueuedAt: number;
  /** The store's clock at the claim. */
  readonly now: number;
}

/** An attempt as the event's history keeps it. */
export interface OutboxAttempt extends AttemptRecord {
  /** The start of the receiver's answer as one line of at most 200 characters. */
  readonly answer?: string;
}

/** A delivery that succeeded. */
export interface Delivery {
  /** The lease under which the event was delivered. */
  readonly lease: Lease;
  /** `duplicate`: the receiver answered 409 to the first attempt, so another sender used this event id before. */
  readonly outcome: "delivered" | "duplicate";
  /** The attempt that delivered it. */
  readonly attempt: OutboxAttempt;
}

/** Why an event is a dead letter. */
export interface DeliveryFailure {
  /**
   * `refused`: the receiver refused it for good; `attempts`: the retry policy allows no more attempts; `window`: its
   * window has closed; `unsendable`: its stored body cannot be read.
   */
  readonly reason: "refused" | "attempts" | "window" | "unsendable";
  /** The error code of the last attempt, or of what prevented one. */
  readonly code: ErrorCode;
  /** The last attempt, if one was made under this lease. */
  readonly attempt?: OutboxAttempt | undefined;
  /** Whether later events of its ordering key wait until it is redriven or removed. */
  readonly blocksKey: boolean;
}

/** An event that could not be delivered. */
export interface DeadLetter {
  /** The event; its body is as it is stored. */
  readonly event: OutboxEvent;
  /** Why it is a dead letter; see `DeliveryFailure`. */
  readonly reason: DeliveryFailure["reason"];
  /** The error code that goes with the reason. */
  readonly code: ErrorCode;
  /** When it became a dead letter, by the store's clock. */
  readonly failedAt: number;
  /** When it was enqueued, by the store's clock. */
  readonly enqueuedAt: number;
  /** When its first attempt was claimed, by the store's clock; absent if there was none. */
  readonly firstAttemptAt?: number | undefined;
  /** All its attempts, the oldest first. */
  readonly attempts: readonly OutboxAttempt[];
}

/** An event that `expire` made a dead letter. */
export interface ExpiredEvent {
  /** The event's listener. */
  readonly listener: string;
  /** The event's id. */
  readonly id: string;
  /** When it was enqueued, by the store's clock. */
  readonly enqueuedAt: number;
  /** How many attempts were counted. */
  readonly attempts: number;
}

/** Selects dead letters. A letter must match every field that is given. */
export interface DeadLetterFilter {
  /** Only letters of this listener. */
  readonly listener?: string | undefined;
  /** Only events with one of these ids. */
  readonly ids?: readonly string[] | undefined;
  /** Only letters with this reason. */
  readonly reason?: DeliveryFailure["reason"] | undefined;
  /** Only letters with this error code. */
  readonly code?: ErrorCode | undefined;
  /** Only letters that failed before this time: milliseconds since the epoch, by the store's clock. */
  readonly before?: number | undefined;
}

/** How `redrive` makes dead letters pending again. */
export interface RedriveOptions {
  /** Counts, and changes nothing; `false` by default. */
  readonly dryRun?: boolean | undefined;
  /** The place of an event that has an ordering key: after all waiting events (`end`, the default), or where it was. */
  readonly place?: "end" | "kept" | undefined;
  /**
   * Gives each event a new id, which is needed past the window, as receivers have forgotten the old one. If an
   * earlier attempt arrived without an answer, the automation runs twice. `false` by default.
   */
  readonly newIds?: boolean | undefined;
  /** Dead letters at most, the oldest first; all of them by default. */
  readonly limit?: number | undefined;
}

/** How `drop` removes dead letters. */
export interface DropOptions {
  /** Counts, and changes nothing; `false` by default. */
  readonly dryRun?: boolean | undefined;
  /** Dead letters at most, the oldest first; all of them by default. */
  readonly limit?: number | undefined;
}

/** What a redrive did, or would do. */
export interface RedriveResult {
  /** How many dead letters are pending again. */
  readonly redriven: number;
  /** How many stay dead letters because their window has closed; only `newIds` redrives them. */
  readonly pastWindow: number;
}

/** The events of one listener, counted. */
export interface ListenerStats {
  /** The listener's name. */
  readonly listener: string;
  /** Events that wait for their time or for a worker, also while the listener is paused. */
  readonly pending: number;
  /** Events that a worker has leased. */
  readonly inFlight: number;
  /** Delivered events that are not removed yet. */
  readonly delivered: number;
  /** Dead letters. */
  readonly dead: number;
  /**
   * Milliseconds since the oldest pending event was enqueued, or since its `deliverAt`, by the store's clock; 0 if none
   * waits longer than it should.
   */
  readonly oldestAgeMs: number;
  /** The listener's pause; absent if it is not paused. */
  readonly paused?: ListenerPause;
  /** Until when the listener has asked to be left alone (`Retry-After`), by the store's clock. */
  readonly restsUntil?: number;
  /** The last attempt of this process that failed. `Outbox.stats` adds it for its own listeners. */
  readonly lastError?: ListenerError;
  /** When this process last delivered an event, by its own clock. `Outbox.stats` adds it for its own listeners. */
  readonly lastSuccessAt?: number;
  /** This process's circuit breaker. `Outbox.stats` adds it for its own listeners; a store leaves it out. */
  readonly breaker?: "closed" | "open" | "half-open";
}

/** Why nothing is claimed for a listener. */
export interface ListenerPause {
  /** When it was paused, by the store's clock. */
  readonly since: number;
  /** The reason that was given. */
  readonly reason?: string | undefined;
}

/** An attempt that failed, as `stats` shows the last one. */
export interface ListenerError {
  /** When it ended, by this process's clock. */
  readonly at: number;
  /** Why it failed. */
  readonly code: ErrorCode;
  /** The answer's HTTP status, if there was one. */
  readonly status?: number | undefined;
  /** The start of the answer, as in `OutboxAttempt`. */
  readonly answer?: string | undefined;
}

/** Where an event stands at one listener. */
export interface OutboxEntry {
  /** The listener's name. */
  readonly listener: string;
  /** The event's id. */
  readonly id: string;
  /**
   * `pending`: waits for its time or for a worker; `in-flight`: leased; `dead`: a dead letter; `cancelled`: taken back
   * before its first attempt.
   */
  readonly state: "pending" | "in-flight" | "delivered" | "dead" | "cancelled";
  /** When it was enqueued, by the store's clock. */
  readonly enqueuedAt: number;
  /** When it is due, by the store's clock; only while it is pending. */
  readonly dueAt?: number | undefined;
  /** When its first attempt was claimed, by the store's clock; absent if there was none. */
  readonly firstAttemptAt?: number | undefined;
  /** How it was delivered; see `Delivery`. Absent if it is not. */
  readonly outcome?: Delivery["outcome"] | undefined;
  /** All its attempts, the oldest first. */
  readonly attempts: readonly OutboxAttempt[];
}

/**
 * Keeps events until they are delivered or dead letters (docs/guides/outbox.md). A store saves events, leases them,
 * rejects stale leases and keeps the order of ordering keys. Signing, HTTP, the retry schedule and the limits belong
 * to the dispatcher.
 *
 * All times are milliseconds since the epoch by the store's own clock. A call with a stale lease changes nothing: the
 * result is `false`, or leaves the lease out of a count. An event whose lease has expired is pending and due.
 *
 * A failed call rejects with a `HookproofError`: OUTBOX_UNAVAILABLE if nothing was changed and nothing will be;
 * OUTBOX_OUTCOME_UNKNOWN if something may have been changed or may still be.
 *
 * `outboxStoreContract` of `hookproof/testing` tests a store of your own.
 */
export interface OutboxStore<Tx = unknown> {
  /**
   * Stores all events or none, inside the caller's transaction if one is given. An event that is already stored with
   * the same digest is left unchanged, so a call whose outcome is unknown can be repeated with the same ids.
   *
   * A synchronous store has finished when the call returns. With a transaction, a store writes nothing after the call
   * has returned or its promise has settled. It refuses a `tx` that it can see to be no transaction.
   *
   * @throws {HookproofError} EVENT_ID_REUSED, OUTBOX_UNAVAILABLE, OUTBOX_OUTCOME_UNKNOWN
   * @throws {TypeError} if `tx` is not a transaction of this store's database
   */
  enqueue(events: readonly OutboxEvent[], tx?: Tx): void | Promise<void>;
  /**
   * Leases due events: one of each listener in turn, in the order of the request; within a listener, those that have
   * been due for longest first. It counts an attempt for each, and notes the time of an event's first one; both are
   * stored before the promise resolves. It skips events past their window, however many there are: `expire` ends them.
   */
  claim(request: ClaimRequest): Promise<readonly ClaimedEvent[]>;
  /** Notes that events were delivered; resolves to how many of the leases were still valid. */
  markDelivered(deliveries: readonly Delivery[]): Promise<number>;
  /** Makes an event pending again, due at `at`. */
  reschedule(lease: Lease, at: number, attempt: OutboxAttempt): Promise<boolean>;
  /** Makes an event a dead letter. */
  fail(lease: Lease, failure: DeliveryFailure): Promise<boolean>;
  /**
   * Makes pending events dead letters if they are due and their first attempt was longer ago than their listener's
   * window, with the reason `window` and the code WINDOW_CLOSED. One call ends a limited number.
   */
  expire(
    windows: ReadonlyMap<string, { readonly windowMs: number; readonly blocksKey: boolean }>,
  ): Promise<readonly ExpiredEvent[]>;
  /**
   * Gives leased events back that were not sent: each is as it was before its claim, and due at once. The attempt
   * that the claim counted no longer counts; if it was the first one, the event has no first attempt. What the claim
   * took of a rate need not be given back.
   */
  release(leases: readonly Lease[]): Promise<void>;
  /** Makes dead letters pending again, with their history. `windowMs` is the window of the events' listeners. */
  redrive(filter: DeadLetterFilter, windowMs: number, options?: RedriveOptions): Promise<RedriveResult>;
  /** Removes dead letters for good, which unblocks their ordering keys; resolves to how many it removed or would. */
  drop(filter: DeadLetterFilter, options?: DropOptions): Promise<number>;
  /** Dead letters, the oldest first. */
  deadLetters(filter?: DeadLetterFilter, options?: { readonly limit?: number }): AsyncIterable<DeadLetter>;
  /** Where an event stands, at each listener it was enqueued for. */
  find(id: string): Promise<readonly OutboxEntry[]>;
  /** Counts the events of each listener that has any, or is paused. */
  stats(): Promise<readonly ListenerStats[]>;
  /** The store's clock. */
  now(): Promise<number>;
  /** Calls `wake` when events may have become due, possibly too often; returns a function that stops the calls. */
  onWork?(wake: () => void): () => void;
  /**
   * Removes delivered and cancelled events and dead letters that ended before these times (a cancelled event counts as
   * delivered); resolves to how many, a limited number.
   */
  prune(before: { readonly delivered: number; readonly dead: number }): Promise<number>;
  /**
   * Many listeners, limits over all workers, pauses, cancellations and `deliverAt`. An outbox over a store without it
   * takes a map of listeners only, and throws OUTBOX_UNSUPPORTED where one of the others is asked for; its limits are
   * each process's own.
   */
  readonly control?: StoreControl;
  /** Closes what the store has opened. */
  close(): Promise<void>;
}
