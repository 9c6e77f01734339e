import type {
  Burial,
  ClaimedEvent,
  DeadLetter,
  DeadLetterFilter,
  ListenerStats,
  OutboxAttempt,
  OutboxEntry,
  OutboxEvent,
} from "./outbox-store.js";

/** What the memory store knows of one event. */
export interface MemoryEntry {
  event: OutboxEvent;
  /** Its place among the events of the store. */
  sequence: number;
  state: OutboxEntry["state"];
  readonly enqueuedAt: number;
  /** When it is due; while it is leased, when the lease runs out. */
  at: number;
  /** When it was due before its last claim. */
  dueAt: number;
  /** Of the last claim. */
  token: string;
  /** Whether the last claim was the first one under this id. */
  isFirst: boolean;
  attempt: number;
  attemptsBeforeRedrive: number;
  firstAttemptAt: number | undefined;
  readonly attempts: OutboxAttempt[];
  outcome: "accepted" | "duplicate" | undefined;
  burial: Burial | undefined;
  /** When it was delivered or died. */
  endedAt: number;
}

export function newEntry(event: OutboxEvent, sequence: number, now: number): MemoryEntry {
  return {
    event,
    sequence,
    state: "pending",
    enqueuedAt: now,
    at: now,
    dueAt: now,
    token: "",
    isFirst: false,
    attempt: 0,
    attemptsBeforeRedrive: 0,
    firstAttemptAt: undefined,
    attempts: [],
    outcome: undefined,
    burial: undefined,
    endedAt: 0,
  };
}

/** Whether it is neither delivered nor dead. */
export function isUnfinished({ state }: MemoryEntry): boolean {
  return state === "pending" || state === "in-flight";
}

/** Whether a worker holds it: a lease that ran out holds nothing. */
export function isLeased({ state, at }: MemoryEntry, now: number): boolean {
  return state === "in-flight" && at > now;
}

export function isPastWindow({ firstAttemptAt }: MemoryEntry, windowMs: number, now: number): boolean {
  return firstAttemptAt !== undefined && now > firstAttemptAt + windowMs;
}

export function fits({ event, burial, endedAt }: MemoryEntry, filter: DeadLetterFilter): boolean {
  return (
    (filter.listener === undefined || filter.listener === event.listener) &&
    (filter.ids === undefined || filter.ids.includes(event.id)) &&
    (filter.reason === undefined || filter.reason === burial?.reason) &&
    (filter.code === undefined || filter.code === burial?.code) &&
    (filter.before === undefined || endedAt < filter.before)
  );
}

/** Hands an event out, and counts the attempt. */
export function claimed(
  entry: MemoryEntry,
  { now, until, token }: { now: number; until: number; token: string },
): ClaimedEvent {
  const { event, attemptsBeforeRedrive, enqueuedAt, firstAttemptAt = now } = entry;
  const isFirst = entry.firstAttemptAt === undefined;
  const attempt = entry.attempt + 1;
  entry.dueAt = entry.at;
  Object.assign(entry, { state: "in-flight", at: until, token, isFirst, attempt, firstAttemptAt });
  const lease = { listener: event.listener, id: event.id, token, expiresAt: until };
  return {
    event,
    lease,
    attempt,
    attemptsBeforeRedrive,
    firstAttemptAt,
    sentBefore: !isFirst,
    enqueuedAt,
    now,
  };
}

export function deadLetterOf(entry: MemoryEntry, { reason, code }: Burial): DeadLetter {
  const { event, endedAt, enqueuedAt, firstAttemptAt, attempts } = entry;
  return { event, reason, code, diedAt: endedAt, enqueuedAt, firstAttemptAt, attempts: [...attempts] };
}

export function standingOf(entry: MemoryEntry, now: number): OutboxEntry {
  const { event, enqueuedAt, at, firstAttemptAt, outcome, attempts } = entry;
  const state = entry.state === "in-flight" && !isLeased(entry, now) ? "pending" : entry.state;
  return {
    listener: event.listener,
    id: event.id,
    state,
    enqueuedAt,
    ...(state === "pending" ? { dueAt: at } : {}),
    firstAttemptAt,
    outcome,
    attempts: [...attempts],
  };
}

export function statsOf(entries: Iterable<MemoryEntry>, now: number): ListenerStats[] {
  const byListener = new Map<string, { -readonly [Name in keyof ListenerStats]: ListenerStats[Name] }>();
  for (const entry of entries) {
    const { listener } = entry.event;
    const stats = byListener.get(listener) ?? { listener, pending: 0, inFlight: 0, delivered: 0, dead: 0 };
    byListener.set(listener, stats);
    if (entry.state === "delivered") stats.delivered += 1;
    else if (entry.state === "dead") stats.dead += 1;
    else if (isLeased(entry, now)) stats.inFlight += 1;
    else {
      stats.pending += 1;
      stats.oldestEnqueuedAt = Math.min(stats.oldestEnqueuedAt ?? Number.POSITIVE_INFINITY, entry.enqueuedAt);
    }
  }
  return [...byListener.values()];
}
