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
  /** How many had an attempt, or one is under way: they go on. With `ids`, also those that had ended. */
  readonly tooLate: number;
}

/**
 * What people and workers tell a store about its listeners; it is kept in the store, so that every worker sees it at
 * its next claim. Times are by the store's clock.
 */
export interface StoreControl {
  /**
   * Listeners that have due events and are neither paused nor resting, those after a place, at most `most`. A call looks
   * at a limited number of listeners, so that it may give fewer, or none, before the end. Listeners whose events cannot
   * be claimed for another reason (an ordering key, a window, a limit) may be among them.
   */
  due(after: string | undefined, most: number): Promise<DueListeners>;
  /** Notes that a listener's options have changed: `due` tells every worker when that was. */
  changed(listener: string): Promise<void>;
  /** Claims of every worker leave the listener out, until `resume`. Again: the reason is the new one. */
  pause(listener: string, reason?: string): Promise<void>;
  /** Ends a pause; resolves to whether there was one. */
  resume(listener: string): Promise<boolean>;
  /** Claims of every worker leave the listener out until this time; of several, the latest counts. */
  rest(listener: string, until: number): Promise<void>;
  /**
   * Cancels pending events for which no attempt has begun. Their ids stay known, as those of delivered events do: an
   * event that is enqueued again stays cancelled. The next event of an ordering key may go.
   */
  cancel(filter: EventFilter): Promise<CancelResult>;
  /** Events that are pending or in flight, those that were enqueued first; at most `limit`. */
  pending(filter: EventFilter, limit: number): Promise<readonly OutboxEntry[]>;
}

/** A listener that has due events. */
export interface DueListener {
  /** The listener's name. */
  readonly listener: string;
  /** When `changed` was last called for it, by the store's clock; absent if it was not, or a day ago or longer. */
  readonly changedAt?: number | undefined;
}

/** A part of the listeners that have due events. */
export interface DueListeners {
  /** In the store's own order. */
  readonly listeners: readonly DueListener[];
  /** The place to go on from; absent at the end. */
  readonly next?: string | undefined;
}
