import { HookproofError, messageOf } from "../core/errors.js";
import type { Rate } from "./limits.js";
import type { DeadLetterFilter, OutboxEvent } from "./outbox-store.js";

/** How long a store tells workers that a listener's options have changed. */
export const CHANGE_KEPT_MS = 24 * 60 * 60_000;

const ROUNDING = 1e-9;

/**
 * How many events a rate allows now. Where `at` is the time by which all claimed events would have been claimed evenly,
 * the rest of a burst is what lies between it and now.
 */
export function allowedBy(
  { perSecond, burst = Math.max(1, perSecond) }: Rate,
  at: number,
  now: number,
): number {
  return Math.floor(burst - ((Math.max(at, now) - now) * perSecond) / 1_000 + ROUNDING);
}

/** The time of `allowedBy` after so many more events were claimed. */
export function paceAfter({ perSecond }: Rate, at: number, now: number, claimed: number): number {
  return Math.max(at, now) + (claimed * 1_000) / perSecond;
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
  const longest = filled.reduce((most, { length }) => Math.max(most, length), 0);
  return Array.from({ length: longest }, (_, round) =>
    filled.flatMap((queue) => queue.slice(round, round + 1)),
  ).flat();
}

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
