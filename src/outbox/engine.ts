// Rules that all stores share: looks, leases and kept changes.
import { HookproofError, messageOf } from "../core/errors.js";
import type { DueListeners } from "./outbox-store.js";
import type { DeadLetterFilter, OutboxEntry, OutboxEvent } from "./records.js";

/**
 * The states of an event, in every store. A claim takes `waiting` ones alone, once they are due: each other way to wait
 * has a state of its own, and an index that finds its events when the wait is over.
 *
 * | state | who moves it on | PostgreSQL: index | SQLite: `state`, `turn`, index | memory |
 * | --- | --- | --- | --- | --- |
 * | `new` | a worker, which gives it its place in its ordering key | event_new | never: `enqueue` gives it | never |
 * | `waiting` | a claim | event_due | 0, 1, due | `waiting` |
 * | `later` | a look, when its time has come: see `LATER_MS` | event_ripe | 0, 3, ripe | `waiting`, by its time |
 * | `aside` | what ends its listener's pause, or makes it known | event_behind | 0, 2, aside | `waiting`, in a paused queue |
 * | `parked` | the end of an event before it in its key | event_key | 0, 0, key | `waiting`, behind its key's first |
 * | `leased` | its worker, or the end of its lease | event_leased | 0 and `lease_until`, due | `leased` |
 * | `delivered` | `prune` | event_ended | 1, null, ended | `delivered` |
 * | `dead` | `redrive`, `drop`, `prune` | event_ended, event_dead | 2, null, ended and dead | `dead` |
 * | `cancelled` | `prune` | event_ended | 3, null, ended | `cancelled` |
 *
 * A dead letter that blocks its key is in the index of keys too: `blocks_key` in PostgreSQL, its `turn` in SQLite.
 */
export const STATES = [
  "new",
  "waiting",
  "later",
  "aside",
  "parked",
  "leased",
  "delivered",
  "dead",
  "cancelled",
] as const;

export type State = (typeof STATES)[number];

/** What an entry shows of a state; `leased` stands for a lease that has not ended. */
export function shownState(state: State): OutboxEntry["state"] {
  if (state === "leased") return "in-flight";
  return state === "delivered" || state === "dead" || state === "cancelled" ? state : "pending";
}

/** How long a store keeps a worker that it does not see, and how many it shows at most. */
export const WORKER_KEPT_MS = 24 * 60 * 60_000;
export const MAX_WORKERS = 100;

/** How long a store tells workers that a listener's options have changed. */
export const CHANGE_KEPT_MS = 24 * 60 * 60_000;

/**
 * An event that is due no sooner than in so many milliseconds is kept apart until then: looks and claims do not pass it.
 * Sooner ones are not worth the second change.
 */
export const LATER_MS = 10_000;

/** An unknown listener is named again after so long at first. */
export const UNKNOWN_MS = 5_000;

/** ... and after so long at most. */
export const UNKNOWN_MAX_MS = 60 * 60_000;

/** How many pages of old dead letters one call of `prune` passes that all hold up their keys. */
export const HELD_PAGES = 20;

/** How many listeners one look for due events goes over. */
export const LOOK_STEPS = 1_000;

/** A listener that a look went over, as a row of a database. */
export interface LookedAt {
  readonly listener: string;
  /** The first listener of the look is step 1. */
  readonly step: number;
  readonly isDue: unknown;
  readonly isPaused: unknown;
  readonly rests: unknown;
  readonly changedAt: number | null;
}

/** Finds listeners with due events; those of paused listeners are put aside, so that later looks do not pass them. */
export interface DueLooks {
  due(after: string | undefined, max: number): Promise<DueListeners>;
  /** Lets the events go that were put aside of a listener that is no longer paused, or of all such. */
  bringBack(listener?: string): Promise<void>;
}

/** What a look has found, if it may have `max` rows. */
export function dueListeners(rows: readonly LookedAt[], max: number): DueListeners {
  const last = rows.at(-1);
  const listeners = rows
    .filter(({ isDue, isPaused, rests }) => isDue && !isPaused && !rests)
    .map(({ listener, changedAt }) => ({ listener, changedAt: changedAt ?? undefined }));
  return { listeners, next: rows.length === max || last?.step === LOOK_STEPS ? last?.listener : undefined };
}

/** The first part of a round of looks, where unknown listeners are to be asked for again; the looks follow. */
export function unknownListeners(
  rows: readonly { listener: string; changedAt: number | null }[],
): DueListeners {
  const listeners = rows.map(({ listener, changedAt }) => {
    return { listener, changedAt: changedAt ?? undefined, isUnknown: true };
  });
  return { listeners, next: "" };
}

/** What identifies an event, as a key of a map. */
export function eventName({ id, listener }: { readonly id: string; readonly listener: string }): string {
  return `${id} ${listener}`;
}

/** The error for an event whose id is stored with another digest. */
export function idReused({ id, listener }: OutboxEvent): HookproofError {
  const words = `It is ${id}, at the listener ${JSON.stringify(listener)}. A new event needs a new id.`;
  return new HookproofError("EVENT_ID_REUSED", `${messageOf("EVENT_ID_REUSED")} ${words}`);
}

/**
 * Each event once, without those that are stored already.
 *
 * @param digestOf the digest of a stored event; `undefined` if it is not stored
 * @throws {HookproofError} EVENT_ID_REUSED if an id has two digests
 */
export function newEvents(
  events: readonly OutboxEvent[],
  digestOf: (event: OutboxEvent) => string | undefined,
): OutboxEvent[] {
  const fresh = new Map<string, OutboxEvent>();
  for (const event of events) {
    const name = eventName(event);
    const known = fresh.get(name)?.digest ?? digestOf(event);
    if (known === undefined) fresh.set(name, event);
    else if (known !== event.digest) throw idReused(event);
  }
  return [...fresh.values()];
}

/** A copy that the caller cannot change. */
export function filterCopy({ ids, ...filter }: DeadLetterFilter): DeadLetterFilter {
  return { ...filter, ids: ids && [...ids] };
}

/** The first of each queue, then the second of each, and so on. */
export function inTurn<Item>(queues: readonly (readonly Item[])[]): Item[] {
  const filled = queues.filter(({ length }) => length > 0);
  const longest = filled.reduce((max, { length }) => Math.max(max, length), 0);
  return Array.from({ length: longest }, (_, round) =>
    filled.flatMap((queue) => queue.slice(round, round + 1)),
  ).flat();
}

/**
 * A store's clock that is behind the last time it was seen at by more than this was put back. A smaller step delays what
 * waits by no more than itself.
 */
export const CLOCK_STEP_MS = 5_000;

/**
 * By how much the clock was put back under a lease: it is as long as it was, so it ends as much sooner.
 *
 * @param sooner the milliseconds by which the stored end of the lease is before the one that its holder was given
 */
export function stepBack(sooner: number): number {
  return sooner > CLOCK_AHEAD_MS ? sooner : 0;
}

/** How often the time at which the clock was seen is stored. */
export const CLOCK_SEEN_MS = 60_000;

/** Where nobody has seen the clock for longer, what was written meanwhile tells whether it was put back. */
export const CLOCK_UNSEEN_MS = 2 * CLOCK_SEEN_MS;

/** A time that lies further ahead of the clock than this was written before the clock was put back. */
export const CLOCK_AHEAD_MS = 1_000;

/** How long a shared body is kept at least before it is looked at whether an event still needs it. */
export const SHARED_BODY_MS = 60_000;

/**
 * The events of one call that have one body: those of one id for several listeners. With encryption each has its own.
 *
 * @returns the first event of each such group, and whether an event is of one
 */
export function sharedBodies(events: readonly OutboxEvent[]): {
  readonly firsts: readonly OutboxEvent[];
  readonly isShared: (event: OutboxEvent) => boolean;
} {
  const [seen, shared] = [new Set<Uint8Array>(), new Map<Uint8Array, OutboxEvent>()];
  for (const event of events)
    if (seen.has(event.body)) shared.set(event.body, event);
    else seen.add(event.body);
  const firsts = [...shared.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  return { firsts, isShared: ({ id, body }) => shared.get(body)?.id === id };
}
