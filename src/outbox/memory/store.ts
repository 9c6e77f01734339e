import { type Clock, systemClock } from "../../core/clock.js";
import { newEventId } from "../../core/event.js";
import { eventName, inTurn, newEvents } from "../engine.js";
import type {
  ClaimedEvent,
  DeadLetter,
  DeadLetterFilter,
  Delivery,
  DeliveryFailure,
  ExpiredEvent,
  Lease,
  ListenerStats,
  OutboxAttempt,
  OutboxEntry,
  OutboxEvent,
  OutboxStore,
} from "../outbox-store.js";

/** How many events one call of `expire` or `prune` ends at most. */
const BATCH = 1_000;

/**
 * An outbox store in this process's memory, for tests and for trying things out: a restart loses every event, and
 * there are no transactions. A claim sorts all events.
 *
 * @example
 * ```ts
 * import { memoryStore } from "hookproof/outbox";
 *
 * const store = memoryStore();
 * ```
 */
export function memoryStore({ clock = systemClock }: { clock?: Clock | undefined } = {}): OutboxStore<never> {
  const entries = new Map<string, MemoryEntry>();
  const wakes = new Set<() => void>();
  let [sequences, tokens] = [0, 0];

  const all = () => [...entries.values()];
  const deadOf = (filter: DeadLetterFilter) =>
    all()
      .filter((entry) => entry.state === "dead" && matches(entry, filter))
      .sort((a, b) => a.endedAt - b.endedAt || a.sequence - b.sequence);

  /** Wakes the dispatcher if something has changed. */
  function woken<Changed extends number | boolean>(changed: Changed): Changed {
    if (changed) for (const wake of wakes) wake();
    return changed;
  }

  /** Changes the event of a lease, if that is still valid. */
  function change(
    lease: Lease,
    attempt: OutboxAttempt | undefined,
    next: (entry: MemoryEntry) => Partial<MemoryEntry>,
  ): boolean {
    const entry = entries.get(eventName(lease));
    if (entry?.state !== "in-flight" || entry.token !== lease.token) return false;
    if (attempt) entry.attempts.push(attempt);
    Object.assign(entry, next(entry));
    return true;
  }

  function remove(gone: readonly MemoryEntry[]): number {
    for (const { event } of gone) entries.delete(eventName(event));
    return gone.length;
  }

  return {
    enqueue(events, tx) {
      if (tx !== undefined) throw new TypeError("the memory store has no transactions: leave tx out");
      const fresh = newEvents(events, (event) => entries.get(eventName(event))?.event.digest);
      for (const event of fresh) {
        sequences += 1;
        entries.set(eventName(event), newEntry(event, sequences, clock.now()));
      }
      woken(fresh.length);
    },
    async claim({ limit, leaseMs, listeners }) {
      const now = clock.now();
      const queues = new Map([...listeners.keys()].map((listener) => [listener, [] as MemoryEntry[]]));
      for (const entry of dueInOrder(all(), now)) {
        const { most = 0, windowMs = 0 } = listeners.get(entry.event.listener) ?? {};
        const queue = queues.get(entry.event.listener);
        if (queue && queue.length < most && !isPastWindow(entry, windowMs, now)) queue.push(entry);
      }
      return inTurn([...queues.values()])
        .slice(0, limit)
        .map((entry) => {
          tokens += 1;
          return lease(entry, { now, expiresAt: now + leaseMs, token: String(tokens) });
        });
    },
    async markDelivered(deliveries) {
      const endedAt = clock.now();
      const done = deliveries.filter(({ lease, outcome, attempt }) =>
        change(lease, attempt, () => ({ state: "delivered", outcome, endedAt })),
      );
      return woken(done.length);
    },
    reschedule: async (lease, at, attempt) => change(lease, attempt, () => ({ state: "pending", at })),
    fail: async (lease, failure) =>
      woken(change(lease, failure.attempt, () => ({ state: "dead", failure, endedAt: clock.now() }))),
    async expire(windows) {
      const now = clock.now();
      const expired: ExpiredEvent[] = [];
      for (const entry of all()) {
        const { listener, id } = entry.event;
        const { windowMs = Number.POSITIVE_INFINITY, blocksKey = false } = windows.get(listener) ?? {};
        if (expired.length === BATCH) break;
        if (!isDue(entry, now) || !isPastWindow(entry, windowMs, now)) continue;
        const failure: DeliveryFailure = { reason: "window", code: "WINDOW_CLOSED", blocksKey };
        Object.assign(entry, { state: "dead", failure, endedAt: now });
        expired.push({ listener, id, enqueuedAt: entry.enqueuedAt, attempts: entry.attempt });
      }
      woken(expired.length);
      return expired;
    },
    async release(leases) {
      woken(
        leases.filter((lease) => change(lease, undefined, ({ beforeClaim }) => beforeClaim ?? {})).length,
      );
    },
    async redrive(filter, windowMs, options = {}) {
      const { dryRun = false, place = "end", newIds = false, limit = Number.POSITIVE_INFINITY } = options;
      const now = clock.now();
      const dead = deadOf(filter);
      const open = dead.filter((entry) => newIds || !isPastWindow(entry, windowMs, now));
      const redriven = open.slice(0, limit);
      const result = { redriven: redriven.length, pastWindow: dead.length - open.length };
      if (dryRun) return result;
      for (const entry of redriven) {
        remove([entry]);
        sequences += 1;
        if (newIds)
          Object.assign(entry, { event: { ...entry.event, id: newEventId() }, firstAttemptAt: undefined });
        if (place === "end" && entry.event.orderingKey !== undefined) entry.sequence = sequences;
        const attemptsBeforeRedrive = entry.attempt;
        Object.assign(entry, { state: "pending", at: now, failure: undefined, attemptsBeforeRedrive });
        entries.set(eventName(entry.event), entry);
      }
      woken(redriven.length);
      return result;
    },
    async drop(filter, { dryRun = false, limit = Number.POSITIVE_INFINITY } = {}) {
      const dead = deadOf(filter).slice(0, limit);
      return dryRun ? dead.length : woken(remove(dead));
    },
    async *deadLetters(filter = {}, { limit = Number.POSITIVE_INFINITY } = {}) {
      for (const entry of deadOf(filter).slice(0, limit))
        if (entry.failure) yield deadLetterOf(entry, entry.failure);
    },
    async find(id) {
      const found = all().filter(({ event }) => event.id === id);
      return found.map((entry) => entryOf(entry, clock.now()));
    },
    stats: async () => statsOf(all(), clock.now()),
    now: async () => clock.now(),
    onWork(wake) {
      wakes.add(wake);
      return () => wakes.delete(wake);
    },
    async prune({ delivered, dead }) {
      const before = { delivered, dead, pending: 0, "in-flight": 0 };
      const old = all().filter(({ state, endedAt }) => endedAt < before[state]);
      return woken(remove(old.slice(0, BATCH)));
    },
    async close() {},
  };
}

function newEntry(event: OutboxEvent, sequence: number, now: number): MemoryEntry {
  const counts = { attempt: 0, attemptsBeforeRedrive: 0, attempts: [] };
  const stored = { ...event, body: event.body.slice() };
  return {
    event: stored,
    sequence,
    state: "pending",
    enqueuedAt: now,
    at: now,
    token: "",
    endedAt: 0,
    ...counts,
  };
}

/** Leases an event, and counts the attempt. */
function lease(
  entry: MemoryEntry,
  { now, expiresAt, token }: { now: number; expiresAt: number; token: string },
): ClaimedEvent {
  const { event, at, attemptsBeforeRedrive, enqueuedAt } = entry;
  const beforeClaim = {
    state: "pending",
    at,
    attempt: entry.attempt,
    firstAttemptAt: entry.firstAttemptAt,
  } as const;
  const attempt = entry.attempt + 1;
  const firstAttemptAt = entry.firstAttemptAt ?? now;
  const sentBefore = entry.firstAttemptAt !== undefined;
  Object.assign(entry, { state: "in-flight", at: expiresAt, token, attempt, firstAttemptAt, beforeClaim });
  const held = { listener: event.listener, id: event.id, token, expiresAt };
  return { event, lease: held, attempt, attemptsBeforeRedrive, firstAttemptAt, sentBefore, enqueuedAt, now };
}

/** What the memory store knows of one event. */
interface MemoryEntry {
  event: OutboxEvent;
  /** Its place in the order of its listener. */
  sequence: number;
  state: OutboxEntry["state"];
  readonly enqueuedAt: number;
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
  /** When it was delivered or became a dead letter. */
  endedAt: number;
}

function isUnfinished({ state }: MemoryEntry): boolean {
  return state === "pending" || state === "in-flight";
}

/** Whether a worker holds it under a lease that has not expired. */
function isLeased({ state, at }: MemoryEntry, now: number): boolean {
  return state === "in-flight" && at > now;
}

function isDue(entry: MemoryEntry, now: number): boolean {
  return isUnfinished(entry) && entry.at <= now;
}

function isPastWindow({ firstAttemptAt }: MemoryEntry, windowMs: number, now: number): boolean {
  return firstAttemptAt !== undefined && now > firstAttemptAt + windowMs;
}

function matches({ event, failure, endedAt }: MemoryEntry, filter: DeadLetterFilter): boolean {
  return (
    (filter.listener === undefined || filter.listener === event.listener) &&
    (filter.ids === undefined || filter.ids.includes(event.id)) &&
    (filter.reason === undefined || filter.reason === failure?.reason) &&
    (filter.code === undefined || filter.code === failure?.code) &&
    (filter.before === undefined || endedAt < filter.before)
  );
}

/** The events that may be claimed, those that have been due for longest first. */
function dueInOrder(entries: readonly MemoryEntry[], now: number): MemoryEntry[] {
  const inOrder = [...entries].sort((a, b) => a.sequence - b.sequence);
  const taken = new Set(inOrder.filter((entry) => isLeased(entry, now)).map(keyOf));
  const due: MemoryEntry[] = [];
  for (const entry of inOrder) {
    const key = keyOf(entry);
    if (isDue(entry, now) && !taken.has(key)) due.push(entry);
    if (isUnfinished(entry) || entry.failure?.blocksKey) taken.add(key);
  }
  return due.sort((a, b) => a.at - b.at || a.sequence - b.sequence);
}

/** What is ordered: the ordering key, or the event alone if it has none. */
function keyOf({ event: { listener, orderingKey, id } }: MemoryEntry): string {
  return JSON.stringify(orderingKey === undefined ? [listener, null, id] : [listener, orderingKey]);
}

function deadLetterOf(entry: MemoryEntry, { reason, code }: DeliveryFailure): DeadLetter {
  const { event, endedAt: failedAt, enqueuedAt, firstAttemptAt, attempts } = entry;
  return { event, reason, code, failedAt, enqueuedAt, firstAttemptAt, attempts: [...attempts] };
}

function entryOf(entry: MemoryEntry, now: number): OutboxEntry {
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

function statsOf(entries: readonly MemoryEntry[], now: number): ListenerStats[] {
  const listeners = new Set(entries.map(({ event }) => event.listener));
  return [...listeners].map((listener) => {
    const own = entries.filter(({ event }) => event.listener === listener);
    const pending = own.filter((entry) => isUnfinished(entry) && !isLeased(entry, now));
    const oldest = pending.reduce((least, { enqueuedAt }) => Math.min(least, enqueuedAt), now);
    return {
      listener,
      pending: pending.length,
      inFlight: own.filter((entry) => isLeased(entry, now)).length,
      delivered: own.filter(({ state }) => state === "delivered").length,
      dead: own.filter(({ state }) => state === "dead").length,
      oldestAgeMs: now - oldest,
    };
  });
}
