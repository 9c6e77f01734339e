import type { OutboxEntry } from "./outbox-store.js";

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

/**
 * The part of a store for many listeners: which of them have due events, and what people and workers say about them.
 * All of it is kept in the store, so that every worker sees it at its next claim. Times are by the store's clock.
 */
export interface StoreControl {
  /**
   * Gives listeners that have due events and are neither paused nor resting, at most `most`. It begins after a place:
   * `undefined` is the start, and `next` of the last answer goes on from there. A call looks at a limited number of
   * listeners, so it may give fewer than `most`, or none, before the end: go on until `next` is absent. A listener may
   * be among them although none of its events can be claimed now, because of an ordering key, a window or a limit.
   */
  due(after: string | undefined, most: number): Promise<DueListeners>;
  /**
   * Notes that a listener's options have changed. `due` tells every worker when, and the worker asks for them again.
   * Each call counts as later than the one before it, whatever the clock says.
   */
  changed(listener: string): Promise<void>;
  /**
   * `due` and the claims of every worker leave the listener out until `resume`. A second pause replaces the reason, but
   * with `keepReason` it changes nothing: so a worker pauses, as a person may have done it before and said why.
   */
  pause(listener: string, reason?: string, options?: { readonly keepReason?: boolean }): Promise<void>;
  /** Ends a pause; resolves to whether there was one. */
  resume(listener: string): Promise<boolean>;
  /** `due` and the claims of every worker leave the listener out until this time. Of several times the latest counts. */
  rest(listener: string, until: number): Promise<void>;
  /**
   * Cancels pending events for which no attempt has begun. The store keeps their ids as it keeps those of delivered
   * events, so an event that is enqueued again stays cancelled. The next event of its ordering key can be claimed.
   */
  cancel(filter: EventFilter): Promise<CancelResult>;
  /** Events that are pending or in flight, those that were enqueued first; at most `limit`. */
  pending(filter: EventFilter, limit: number): Promise<readonly OutboxEntry[]>;
}

/** A listener that has due events. */
export interface DueListener {
  /** The listener's name. */
  readonly listener: string;
  /** When `changed` was last called for it, by the store's clock; absent if it never was, or over a day ago. */
  readonly changedAt?: number | undefined;
}

/** A part of the listeners that have due events. */
export interface DueListeners {
  /** In the store's own order. */
  readonly listeners: readonly DueListener[];
  /** The place to go on from; absent at the end. */
  readonly next?: string | undefined;
}
