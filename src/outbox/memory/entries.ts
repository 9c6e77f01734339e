// The entries of the memory store: what becomes of one, and what is told of them.
import { CLOCK_AHEAD_MS, eventName, type State, shownState } from "../engine.js";
import type { ClaimedEvent, EventFilter } from "../outbox-store.js";
import type {
  DeadLetter,
  DeadLetterFilter,
  Delivery,
  DeliveryFailure,
  ListenerStats,
  OutboxAttempt,
  OutboxEntry,
  OutboxEvent,
} from "../records.js";
import type { MemoryHolds } from "./holds.js";

export function newEntry(event: OutboxEvent, sequence: number, now: number): MemoryEntry {
  const counts = { attempt: 0, attemptsBeforeRedrive: 0, attempts: [] };
  const { listener, orderingKey } = event;
  return {
    event,
    sequence,
    key: orderingKey === undefined ? eventName(event) : JSON.stringify([listener, orderingKey]),
    state: "waiting",
    enqueuedAt: now,
    readyAt: Math.max(now, event.deliverAt ?? now),
    at: Math.max(now, event.deliverAt ?? now),
    token: "",
    endedAt: 0,
    ...counts,
  };
}

/** Leases an event, and counts the attempt. */
export function lease(
  entry: MemoryEntry,
  { now, expiresAt, token }: { now: number; expiresAt: number; token: string },
): ClaimedEvent {
  const { event, at, attemptsBeforeRedrive, enqueuedAt } = entry;
  const beforeClaim = {
    state: "waiting",
    at,
    attempt: entry.attempt,
    firstAttemptAt: entry.firstAttemptAt,
  } as const;
  const attempt = entry.attempt + 1;
  const firstAttemptAt = entry.firstAttemptAt ?? now;
  const sentBefore = entry.firstAttemptAt !== undefined;
  const claim = { claimedAt: now, token, attempt, firstAttemptAt, beforeClaim };
  Object.assign(entry, { state: "leased", at: expiresAt, ...claim });
  const held = { listener: event.listener, id: event.id, token, expiresAt };
  return { event, lease: held, attempt, attemptsBeforeRedrive, firstAttemptAt, sentBefore, enqueuedAt, now };
}

/**
 * Lets an event go on that was written before the clock was put back: its times are at the latest now, what it has still
 * to wait is as long as it was to be, and a time of `deliverAt` stays.
 */
export function followClock(entry: MemoryEntry, now: number): void {
  const {
    enqueuedAt,
    claimedAt = 0,
    firstAttemptAt = 0,
    at,
    readyAt,
    attempt,
    attemptsBeforeRedrive,
    state,
  } = entry;
  const ahead = now + CLOCK_AHEAD_MS;
  const keepsTime = attempt === 0 && attemptsBeforeRedrive === 0 && readyAt > enqueuedAt;
  const waits = state === "waiting" && attempt === attemptsBeforeRedrive && at > ahead && !keepsTime;
  if (!isUnfinished(entry) || (Math.max(enqueuedAt, claimedAt, firstAttemptAt) <= ahead && !waits)) return;
  const isTried = state === "leased" || attempt > attemptsBeforeRedrive;
  const left = claimedAt > ahead ? now + Math.max(0, at - claimedAt) : at;
  const rest = isTried ? left : Math.min(at, now);
  entry.at = keepsTime ? readyAt : rest;
  entry.enqueuedAt = Math.min(enqueuedAt, now);
  entry.claimedAt &&= Math.min(claimedAt, now);
  if (!keepsTime) entry.readyAt = Math.min(readyAt, now);
  if (firstAttemptAt > now) entry.firstAttemptAt = now;
  const { at: before, firstAttemptAt: firstBefore } = entry.beforeClaim ?? {};
  if (before !== undefined)
    entry.beforeClaim = {
      ...entry.beforeClaim,
      at: Math.min(before, now),
      firstAttemptAt: firstBefore && Math.min(firstBefore, now),
    };
}

/** The latest time at which something of an event that has not ended was noted, by the clock of then. */
export function lastNoted(entries: readonly MemoryEntry[]): number {
  const times = ({ enqueuedAt, claimedAt = 0, firstAttemptAt = 0, ...entry }: MemoryEntry) => {
    const isRedriven = entry.attempt > 0 && entry.attempt === entry.attemptsBeforeRedrive;
    return Math.max(enqueuedAt, claimedAt, firstAttemptAt, isRedriven ? entry.at : 0);
  };
  return entries.filter(isUnfinished).reduce((last, entry) => Math.max(last, times(entry)), 0);
}

/** What the memory store knows of one event. */
export interface MemoryEntry {
  event: OutboxEvent;
  /** Its place in the order of its listener. */
  sequence: number;
  /** What is ordered: the ordering key, or the event alone if it has none. */
  readonly key: string;
  /** The heaps and queues of its listener say of a waiting one whether it is `later`, `aside` or `parked`. */
  state: Exclude<State, "new" | "later" | "aside" | "parked">;
  enqueuedAt: number;
  /** When it was last claimed, or when its last attempt was noted. */
  claimedAt?: number | undefined;
  /** When it was due at first. */
  readyAt: number;
  /** When it is due; while it is leased, when the lease expires. */
  at: number;
  /** The token of its last claim. */
  token: string;
  attempt: number;
  attemptsBeforeRedrive: number;
  firstAttemptAt?: number | undefined;
  /** The fields as they were before the last claim, which `release` restores. */
  beforeClaim?: Partial<MemoryEntry>;
  readonly attempts: OutboxAttempt[];
  outcome?: Delivery["outcome"] | undefined;
  failure?: DeliveryFailure | undefined;
  /** When it was delivered, was cancelled or became a dead letter. */
  endedAt: number;
}

export function isOf({ event }: MemoryEntry, { listener = event.listener, ids }: EventFilter): boolean {
  return listener === event.listener && (ids?.includes(event.id) ?? true);
}

export function isUnfinished({ state }: MemoryEntry): boolean {
  return state === "waiting" || state === "leased";
}

/** Whether a worker holds it under a lease that has not expired. */
export function isLeased({ state, at }: MemoryEntry, now: number): boolean {
  return state === "leased" && at > now;
}

export function isDue(entry: MemoryEntry, now: number): boolean {
  return isUnfinished(entry) && entry.at <= now;
}

export function isPastWindow({ firstAttemptAt }: MemoryEntry, windowMs: number, now: number): boolean {
  return firstAttemptAt !== undefined && now > firstAttemptAt + windowMs;
}

export function matches({ event, failure, endedAt }: MemoryEntry, filter: DeadLetterFilter): boolean {
  return (
    (filter.listener === undefined || filter.listener === event.listener) &&
    (filter.ids === undefined || filter.ids.includes(event.id)) &&
    (filter.reason === undefined || filter.reason === failure?.reason) &&
    (filter.code === undefined || filter.code === failure?.code) &&
    (filter.before === undefined || endedAt < filter.before)
  );
}

export function deadLetterOf(entry: MemoryEntry, { reason, code }: DeliveryFailure): DeadLetter {
  const { event, endedAt: failedAt, enqueuedAt, firstAttemptAt, attempts } = entry;
  return { event, reason, code, failedAt, enqueuedAt, firstAttemptAt, attempts: [...attempts] };
}

function stateAt(entry: MemoryEntry, now: number): OutboxEntry["state"] {
  return entry.state === "leased" && !isLeased(entry, now) ? "pending" : shownState(entry.state);
}

/** The event that keeps another one of its key from being claimed. */
function holderOf(
  { key, sequence }: MemoryEntry,
  others: Iterable<MemoryEntry>,
  now: number,
): OutboxEntry["waitsBehind"] {
  const ofKey = [...others].filter((one) => one.key === key);
  const before = ofKey
    .filter((one) => one.sequence < sequence && (isUnfinished(one) || one.failure?.blocksKey))
    .sort((a, b) => a.sequence - b.sequence);
  const holder = ofKey.find((one) => isLeased(one, now)) ?? before[0];
  if (!holder) return undefined;
  const state = stateAt(holder, now) as "pending" | "in-flight" | "dead";
  return { id: holder.event.id, state, since: state === "dead" ? holder.endedAt : holder.enqueuedAt };
}

/** @param others the events of its listener that are unfinished, or that others wait for */
export function entryOf(entry: MemoryEntry, others: Iterable<MemoryEntry>, now: number): OutboxEntry {
  const { event, enqueuedAt, at, firstAttemptAt, outcome, attempts } = entry;
  const state = stateAt(entry, now);
  return {
    listener: event.listener,
    id: event.id,
    state,
    enqueuedAt,
    orderingKey: event.orderingKey,
    waitsBehind: state === "pending" ? holderOf(entry, others, now) : undefined,
    ...(state === "pending" ? { dueAt: at } : {}),
    firstAttemptAt,
    outcome,
    attempts: [...attempts],
  };
}

export function statsOf(entries: readonly MemoryEntry[], held: MemoryHolds, now: number): ListenerStats[] {
  const counted = entries.filter(({ state }) => state !== "cancelled");
  const listeners = new Set([...counted.map(({ event }) => event.listener), ...held.paused()]);
  return [...listeners].map((listener) => {
    const own = counted.filter(({ event }) => event.listener === listener);
    const pending = own.filter((entry) => isUnfinished(entry) && !isLeased(entry, now));
    const oldest = pending.reduce((min, { readyAt }) => Math.min(min, readyAt), now);
    const { restsUntil = 0, paused, unknown } = held.of(listener);
    return {
      listener,
      pending: pending.length,
      inFlight: own.filter((entry) => isLeased(entry, now)).length,
      delivered: own.filter(({ state }) => state === "delivered").length,
      dead: own.filter(({ state }) => state === "dead").length,
      oldestAgeMs: now - oldest,
      ...(paused && { paused }),
      ...(unknown && { unknownSince: unknown.since }),
      ...(restsUntil > now && { restsUntil }),
    };
  });
}
