import type {
  Burial,
  ClaimedEvent,
  DeadLetter,
  DeadLetterFilter,
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
  /** Of the last claim. */
  token: string;
  begun: number;
  begunBeforeRedrive: number;
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
    token: "",
    begun: 0,
    begunBeforeRedrive: 0,
    firstAttemptAt: undefined,
    attempts: [],
    outcome: undefined,
    burial: undefined,
    endedAt: 0,
  };
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

export function claimedOf(entry: MemoryEntry, now: number): ClaimedEvent {
  const { event, token, at, begun, begunBeforeRedrive, firstAttemptAt, enqueuedAt } = entry;
  return {
    event,
    lease: { listener: event.listener, id: event.id, token, expiresAt: at },
    attempts: begun,
    attemptsBeforeRedrive: begunBeforeRedrive,
    firstAttemptAt,
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
