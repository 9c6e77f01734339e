import type { ErrorCode } from "../errors.js";
import type { AttemptRecord } from "../sender/delivery-error.js";

/** An event as a store keeps it: checked, and with its bytes fixed. */
export interface OutboxEvent {
  /** UUID v4, lower case. Together with `listener` it names the event. */
  readonly id: string;
  /** The listener's name in `createOutbox({ listeners })`. */
  readonly listener: string;
  /** The bytes to send, or what the outbox's encryption made of them. */
  readonly body: Uint8Array;
  /** SHA-256 of the bytes to send, base64url: tells a repeated event from another one under the same id. */
  readonly digest: string;
  /**
   * Events of one key and listener are handed out in the order of their enqueueing, one at a time: none while
   * another is leased or an earlier one is unfinished.
   */
  readonly orderingKey?: string | undefined;
  /** The `traceparent` that was current at enqueue. */
  readonly traceparent?: string | undefined;
  /** Which of the outbox's keys encrypted `body`; absent when it is not encrypted. */
  readonly encryptionKeyId?: string | undefined;
}

/** The right to one event until `expiresAt`; whoever claims the event afterwards makes it stale. */
export interface Lease {
  readonly listener: string;
  readonly id: string;
  /** Differs for each claim of the event. */
  readonly token: string;
  /** Milliseconds since the epoch, by the store's clock. */
  readonly expiresAt: number;
}

/** What a claim may take of one listener. */
export interface ClaimShare {
  /** Events at most, 1 or more. */
  readonly most: number;
  /** How long after its first attempt an event may be tried again: none that is past it is handed out. */
  readonly windowMs: number;
}

/** What to hand out. */
export interface ClaimRequest {
  /** Events at most. */
  readonly limit: number;
  readonly leaseMs: number;
  /**
   * The listeners whose events are wanted. Whoever claims puts another one first each time, so that none is left
   * out where `limit` is small.
   */
  readonly listeners: ReadonlyMap<string, ClaimShare>;
}

/** A due event that was handed out, with the attempt that was counted for it. */
export interface ClaimedEvent {
  readonly event: OutboxEvent;
  readonly lease: Lease;
  /** The number of the attempt that may begin now: 1 for the event's first, those of before a redrive included. */
  readonly attempt: number;
  /** Attempts made before the last redrive: the retry policy does not count them. */
  readonly attemptsBeforeRedrive: number;
  /** When the first attempt under this id was claimed, by the store's clock: `now` if it is this one. */
  readonly firstAttemptAt: number;
  /** Whether an attempt under this id was claimed before, and not released: it may have arrived. */
  readonly sentBefore: boolean;
  readonly enqueuedAt: number;
  /** The store's clock at the claim. */
  readonly now: number;
}

/** An attempt as the history keeps it. */
export interface OutboxAttempt extends AttemptRecord {
  /** The start of the receiver's answer: one line, at most 200 characters, for people. */
  readonly answer?: string;
}

/** How an event's delivery ended well. */
export interface Completion {
  readonly lease: Lease;
  readonly outcome: "accepted" | "duplicate";
  readonly attempt: OutboxAttempt;
}

/** Why an event became a dead letter. */
export interface Burial {
  readonly reason: "refused" | "attempts" | "window" | "unsendable" | "lost";
  readonly code: ErrorCode;
  /** The attempt that ended it, if one was made. */
  readonly attempt?: OutboxAttempt | undefined;
  /** Whether later events of its ordering key wait until it is redriven or removed. */
  readonly blocksKey: boolean;
}

/** A dead letter. */
export interface DeadLetter {
  readonly event: OutboxEvent;
  readonly reason: Burial["reason"];
  readonly code: ErrorCode;
  readonly diedAt: number;
  readonly enqueuedAt: number;
  readonly firstAttemptAt?: number | undefined;
  readonly attempts: readonly OutboxAttempt[];
}

/** An event that `expire` buried. */
export interface ExpiredEvent {
  readonly listener: string;
  readonly id: string;
  readonly enqueuedAt: number;
  /** Attempts begun. */
  readonly attempts: number;
}

/** Which dead letters; every field that is given must fit. */
export interface DeadLetterFilter {
  readonly listener?: string | undefined;
  readonly ids?: readonly string[] | undefined;
  readonly reason?: Burial["reason"] | undefined;
  readonly code?: ErrorCode | undefined;
  /** Died before this time, by the store's clock. */
  readonly before?: number | undefined;
}

/** How to bring dead letters back. */
export interface RedriveOptions {
  /** Counts and changes nothing. */
  readonly dryRun?: boolean | undefined;
  /** Where an event of an ordering key goes: behind what waits (`end`, by default), or where it was. */
  readonly place?: "end" | "kept" | undefined;
  /**
   * Gives each event a new id, which this function makes: needed past the window, as receivers have forgotten
   * the old one. An automation may then run twice if an earlier attempt arrived without our knowing.
   */
  readonly newId?: (() => string) | undefined;
  /** How long after its first attempt an event may be tried again under its own id. */
  readonly windowMs: number;
  /** Dead letters at most. */
  readonly limit?: number | undefined;
}

/** How to remove dead letters. */
export interface DropOptions {
  /** Counts and changes nothing. */
  readonly dryRun?: boolean | undefined;
  /** Dead letters at most, oldest death first. */
  readonly limit?: number | undefined;
}

/** What a redrive did, or would do. */
export interface RedriveResult {
  readonly redriven: number;
  /** Dead letters past the window, left alone as no `newId` was given. */
  readonly pastWindow: number;
}

/** What a store holds for one listener. */
export interface ListenerStats {
  readonly listener: string;
  /** Waiting for their time or for a worker. */
  readonly pending: number;
  /** Leased to a worker. */
  readonly inFlight: number;
  /** Delivered and not yet removed. */
  readonly delivered: number;
  readonly dead: number;
  /** When the oldest pending event was enqueued, by the store's clock. */
  readonly oldestEnqueuedAt?: number | undefined;
}

/** Where an event stands. */
export interface OutboxEntry {
  readonly listener: string;
  readonly id: string;
  readonly state: "pending" | "in-flight" | "delivered" | "dead";
  readonly enqueuedAt: number;
  /** When it is due, while it is pending. */
  readonly dueAt?: number | undefined;
  readonly firstAttemptAt?: number | undefined;
  readonly outcome?: "accepted" | "duplicate" | undefined;
  readonly attempts: readonly OutboxAttempt[];
}

/**
 * Keeps events until they are delivered or dead letters (docs/guides/outbox.md). It persists, leases, fences and
 * orders; signing, HTTP, the schedule and the limits are the dispatcher's.
 *
 * All times are milliseconds since the epoch by the store's own clock. A stale lease changes nothing: it is
 * reported as `false`, or by leaving it out. An event whose lease ran out is pending, and due.
 *
 * What fails rejects with a `HookproofError`: OUTBOX_UNAVAILABLE if nothing was changed, and nothing will be;
 * OUTBOX_OUTCOME_UNKNOWN if it may have been, or may still be.
 */
export interface OutboxStore<Tx = unknown> {
  /**
   * Stores all events or none, inside the caller's transaction if one is given. An event that is known with the
   * same digest is left as it is, so that what is unknown may be repeated under the same ids.
   *
   * A synchronous store has done its work when the call returns. With a transaction, nothing is written after the
   * call has returned or its promise is settled. What can be seen to be no transaction is refused.
   *
   * @throws {HookproofError} EVENT_ID_REUSED, OUTBOX_UNAVAILABLE, OUTBOX_OUTCOME_UNKNOWN
   * @throws {TypeError} for a `tx` that is none of this store's
   */
  enqueue(events: readonly OutboxEvent[], tx?: Tx): void | Promise<void>;
  /**
   * Hands out due events: of each listener in turn, in the order of the request; within a listener those that
   * have been due for longest first. It counts an attempt at each and, once, when the first one was: both are
   * stored before it resolves. Events past their window are left to `expire`, however many there are.
   */
  claim(request: ClaimRequest): Promise<readonly ClaimedEvent[]>;
  /** Ends deliveries; resolves to how many leases were still good. */
  complete(completions: readonly Completion[]): Promise<number>;
  /** Puts an event back until `at`. */
  reschedule(lease: Lease, at: number, attempt: OutboxAttempt): Promise<boolean>;
  /** Makes an event a dead letter. */
  bury(lease: Lease, burial: Burial): Promise<boolean>;
  /**
   * Buries due and waiting events whose first attempt is longer ago than their listener's window, with the
   * reason `window` and the code WINDOW_CLOSED; a bounded number a call.
   */
  expire(
    windows: ReadonlyMap<string, { readonly windowMs: number; readonly blocksKey: boolean }>,
  ): Promise<readonly ExpiredEvent[]>;
  /**
   * Gives events back of which no byte was sent: they are due at once, and as they were before the claim. The
   * attempt it counted does not count, and if it was the first one, there was none.
   */
  release(leases: readonly Lease[]): Promise<void>;
  /** Brings dead letters back as pending events, with their history. */
  redrive(filter: DeadLetterFilter, options: RedriveOptions): Promise<RedriveResult>;
  /** Removes dead letters for good, which lets their ordering keys go on; resolves to how many it did, or would. */
  drop(filter: DeadLetterFilter, options?: DropOptions): Promise<number>;
  /** Dead letters, oldest death first. */
  dead(filter?: DeadLetterFilter, options?: { readonly limit?: number }): AsyncIterable<DeadLetter>;
  /** Where an event stands at each listener it was enqueued for. */
  find(id: string): Promise<readonly OutboxEntry[]>;
  stats(): Promise<readonly ListenerStats[]>;
  /** The store's clock. */
  now(): Promise<number>;
  /** Calls back when events may have become due; returns how to stop that. A store may call too often. */
  onWork?(wake: () => void): () => void;
  /** Removes what was delivered, or died, before these times, a bounded number a call; resolves to how many. */
  prune(before: { readonly delivered: number; readonly dead: number }): Promise<number>;
  close(): Promise<void>;
}
