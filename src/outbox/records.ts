// What an outbox keeps and shows of its events.
import type { ErrorCode } from "../core/errors.js";
import type { AttemptRecord } from "../sender/attempt-record.js";

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
   * ordering key wait for it.
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

/** An attempt as the event's history keeps it. */
export interface OutboxAttempt extends AttemptRecord {
  /** The start of the receiver's answer, as in `AttemptRecord`; here it is enumerable. Not kept with an encryption. */
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
   * `refused`: the receiver refused it permanently; `attempts`: the retry policy allows no more attempts; `window`: its
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
   * waits longer than it should. PostgreSQL: while a transaction holds a snapshot, an event that was committed late may be
   * missing from it for five minutes.
   */
  readonly oldestAgeMs: number;
  /** The listener's pause; absent if it is not paused. */
  readonly paused?: ListenerPause;
  /** Since when the function of listeners knows no such listener, by the store's clock: its events wait. */
  readonly unknownSince?: number;
  /**
   * PostgreSQL: for how long, in milliseconds, claims of this listener have begun at a floor, as a transaction holds a
   * snapshot or vacuum does not come by; absent while they do not.
   */
  readonly slowedMs?: number;
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
  /** Its ordering key, if it has one. */
  readonly orderingKey?: string | undefined;
  /**
   * The event of its ordering key that keeps it from being claimed, while it is pending: one that is in flight, or else
   * the first one before it that is pending or a dead letter that blocks. `since` is when that one was enqueued, or became
   * a dead letter.
   */
  readonly waitsBehind?:
    | {
        /** Its id. */
        readonly id: string;
        /** Where it stands. */
        readonly state: "pending" | "in-flight" | "dead";
        /** Since when: when it was enqueued, or became a dead letter, by the store's clock. */
        readonly since: number;
      }
    | undefined;
  /** When it is due, by the store's clock; only while it is pending. */
  readonly dueAt?: number | undefined;
  /** When its first attempt was claimed, by the store's clock; absent if there was none. */
  readonly firstAttemptAt?: number | undefined;
  /** How it was delivered; see `Delivery`. Absent if it is not. */
  readonly outcome?: Delivery["outcome"] | undefined;
  /** All its attempts, the oldest first. */
  readonly attempts: readonly OutboxAttempt[];
}
