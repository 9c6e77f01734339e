/**
 * The types for a store of your own: what the outbox asks of a store, and what a store returns.
 *
 * @packageDocumentation
 */

import type { Rate } from "./rate.js";
import type {
  DeadLetter,
  DeadLetterFilter,
  Delivery,
  DeliveryFailure,
  DropOptions,
  ExpiredEvent,
  Lease,
  ListenerStats,
  OutboxAttempt,
  OutboxEntry,
  OutboxEvent,
  RedriveOptions,
  RedriveResult,
} from "./records.js";

export type { Delivery, DeliveryFailure, DropOptions, ExpiredEvent, Lease, OutboxEvent } from "./records.js";

/** How much a claim may take for one listener. */
export interface ClaimShare {
  /** Events at most, 1 or more. */
  readonly most: number;
  /** Milliseconds after its first attempt in which an event may be tried; a claim skips events that are past it. */
  readonly windowMs: number;
  /** Leased events of the listener at most, those of all workers counted. */
  readonly concurrency?: number | undefined;
  /** How often all workers together may claim an event of the listener. */
  readonly rate?: Rate | undefined;
}

/** What a worker wants to claim. */
export interface ClaimRequest {
  /** Events at most, of all listeners. */
  readonly limit: number;
  /** How long each lease lasts, in milliseconds. */
  readonly leaseMs: number;
  /**
   * The listeners whose events may be claimed: those that `due` gave, or all listeners if they are few. The dispatcher
   * changes their order from claim to claim, so that each listener has its turn even where `limit` is small.
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

/**
 * Keeps events until they are delivered or dead letters (docs/guides/outbox.md). A store saves events, leases them,
 * rejects stale leases, keeps the order of ordering keys and the limits over all workers, knows which of many listeners
 * have due events, and keeps what people and workers say about a listener, so that every worker sees it at its next
 * claim. Signing, HTTP and the retry schedule belong to the dispatcher.
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
   * window, with the reason `window` and the code WINDOW_CLOSED. An event without an attempt ends as well if it has been
   * due, and its listener `unknown`, for the whole window. One call ends a limited number.
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
  /**
   * Makes dead letters pending again, with their history. `windowMs` is the window of the events' listeners. This and the
   * next two take what is there when they begin, or a redrive whose events die again would never end.
   */
  redrive(filter: DeadLetterFilter, windowMs: number, options?: RedriveOptions): Promise<RedriveResult>;
  /** Removes dead letters permanently, which unblocks their ordering keys; resolves to how many it removed or would. */
  drop(filter: DeadLetterFilter, options?: DropOptions): Promise<number>;
  /** Dead letters, the oldest first. */
  deadLetters(filter?: DeadLetterFilter, options?: { readonly limit?: number }): AsyncIterable<DeadLetter>;
  /**
   * Finds the leases under which events of a listener were handed out last, where none has ended, or been given back or
   * rescheduled since; also those that have expired, as they stay valid until the next claim. Changes nothing. Receivers
   * that fetch their events say by the id alone, later and maybe to another process, what has arrived.
   */
  leases(
    listener: string,
    ids: readonly string[],
  ): Promise<readonly Pick<ClaimedEvent, "lease" | "attempt">[]>;
  /** Where an event stands, at each listener it was enqueued for. */
  find(id: string): Promise<readonly OutboxEntry[]>;
  /** Counts the events of each listener that has any, or is paused. */
  stats(): Promise<readonly ListenerStats[]>;
  /** The store's clock. */
  now(): Promise<number>;
  /**
   * Finds out whether the store's clock was put back by more than a few seconds, and lets go on what waits for times of
   * before: what was due is due, a retry or a rest lasts no longer than it was to, and ages count from now. Where it was
   * not called for two minutes, what was written meanwhile tells. A time that was given as `deliverAt` stays. Resolves to the milliseconds by which it was put back, about; 0 if it was not, or if
   * another worker has seen to it.
   */
  followClock(): Promise<number>;
  /** Calls `wake` when events may have become due, possibly too often; returns a function that stops the calls. */
  onWork?(wake: () => void): () => void;
  /**
   * Removes delivered and cancelled events and dead letters that ended before these times (a cancelled event counts as
   * delivered), but no dead letter behind which events of its ordering key wait; resolves to how many, a limited number.
   */
  prune(before: { readonly delivered: number; readonly dead: number }): Promise<number>;
  /**
   * Gives listeners that have due events and are neither paused nor resting, at most `max`. It begins after a place:
   * `undefined` is the start, and `next` of the last answer goes on from there. A call looks at a limited number of
   * listeners, so it may give fewer than `max`, or none, before the end: go on until `next` is absent. A listener may
   * be among them although none of its events can be claimed now, because of an ordering key, a window or a limit.
   */
  due(after: string | undefined, max: number): Promise<DueListeners>;
  /**
   * Notes that a listener's options have changed. `due` tells every worker when, and the worker asks for them again.
   * Each call counts as later than the one before it, whatever the clock says. It ends what `unknown` has noted.
   */
  changed(listener: string): Promise<void>;
  /**
   * Notes that a worker's function of listeners knows none of these names. The events of each are kept apart, so that
   * no look passes them. `due` names it again after 5 seconds, and each time it is still unknown after as long as it has
   * been, at most an hour; until `changed`, that is once for each pause.
   */
  unknown(listeners: readonly string[]): Promise<void>;
  /**
   * `due` and the claims of every worker leave the listener out until `resume`. A second pause replaces the reason, but
   * with `keepReason` it changes nothing: so a worker pauses, as a person may have done it before and said why.
   */
  pause(listener: string, reason?: string, options?: { readonly keepReason?: boolean }): Promise<void>;
  /** Ends a pause; resolves to whether there was one. */
  resume(listener: string): Promise<boolean>;
  /**
   * `due` and the claims of every worker leave the listener out for so many milliseconds from now, by the store's clock.
   * Of several rests the one that ends last counts.
   */
  rest(listener: string, ms: number): Promise<void>;
  /**
   * Cancels pending events for which no attempt has begun. The store keeps their ids as it keeps those of delivered
   * events, so an event that is enqueued again stays cancelled. The next event of its ordering key can be claimed.
   */
  cancel(filter: EventFilter): Promise<CancelResult>;
  /** Events that are pending or in flight, those that were enqueued first; at most `limit`. */
  pending(filter: EventFilter, limit: number): Promise<readonly OutboxEntry[]>;
  /**
   * Notes that a worker is alive, which it says each 10 seconds; with `isGone` that it has stopped, so that nothing is
   * left of it. Forgets those that were last seen more than a day ago. It began `runsForMs` ago.
   */
  alive(
    worker: { readonly id: string; readonly name: string; readonly runsForMs: number },
    isGone?: boolean,
  ): Promise<void>;
  /**
   * The workers that were not stopped, at most 100, those seen last first: `{ id, name, startedAt, lastSeenAt, silentMs }`,
   * by the store's clock. When that is put back, none is ahead of it.
   */
  workers(): Promise<
    readonly {
      readonly id: string;
      readonly name: string;
      readonly startedAt: number;
      readonly lastSeenAt: number;
      readonly silentMs: number;
    }[]
  >;
  /** Closes what the store has opened. */
  close(): Promise<void>;
}

/** Selects events by where they go. An event must match every field that is given. */
export interface EventFilter {
  /** Only events of this listener. */
  readonly listener?: string | undefined;
  /** Only events with one of these ids. */
  readonly ids?: readonly string[] | undefined;
}

/** What a cancellation did. */
export interface CancelResult {
  /** How many events will not be sent. */
  readonly cancelled: number;
  /**
   * How many were not cancelled, because an attempt was made or is under way: they go on. If the filter has `ids`, this
   * includes events that had ended before.
   */
  readonly tooLate: number;
}

/** A listener that has due events. */
export interface DueListener {
  /** The listener's name. */
  readonly listener: string;
  /** When `changed` was last called for it, by the store's clock; absent if it never was, or over a day ago. */
  readonly changedAt?: number | undefined;
  /** Whether it was noted as `unknown`: its events can be claimed only after `changed`. */
  readonly isUnknown?: boolean | undefined;
}

/** A part of the listeners that have due events. */
export interface DueListeners {
  /** In the store's own order. */
  readonly listeners: readonly DueListener[];
  /** The place to go on from; absent at the end. */
  readonly next?: string | undefined;
}
