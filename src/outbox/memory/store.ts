import { type Clock, systemClock } from "../../core/clock.js";
import { newEventId } from "../../core/event.js";
import { eventName, inTurn, newEvents } from "../engine.js";
import type {
  DeadLetterFilter,
  DeliveryFailure,
  ExpiredEvent,
  Lease,
  OutboxAttempt,
  OutboxStore,
  StoreControl,
} from "../outbox-store.js";
import {
  deadLetterOf,
  dueInOrder,
  entryOf,
  type HeldListener,
  isDue,
  isOf,
  isPastWindow,
  isUnfinished,
  lease,
  type MemoryEntry,
  matches,
  newEntry,
  statsOf,
} from "./entries.js";

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
  const held = new Map<string, HeldListener>();
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

  const isHeld = (listener: string, now: number) => {
    const { paused, restsUntil = 0 } = held.get(listener) ?? {};
    return paused !== undefined || restsUntil > now;
  };

  const control: StoreControl = {
    async pause(listener, reason) {
      const since = held.get(listener)?.paused?.since ?? clock.now();
      held.set(listener, { ...held.get(listener), paused: { since, ...(reason && { reason }) } });
    },
    async resume(listener) {
      const { paused, ...rest } = held.get(listener) ?? {};
      held.set(listener, rest);
      return woken(paused !== undefined);
    },
    async rest(listener, until) {
      const known = held.get(listener);
      held.set(listener, { ...known, restsUntil: Math.max(until, known?.restsUntil ?? 0) });
    },
    async cancel(filter) {
      const now = clock.now();
      const found = all().filter((entry) => isOf(entry, filter) && (filter.ids || isUnfinished(entry)));
      const open = found.filter((entry) => entry.state === "pending" && entry.firstAttemptAt === undefined);
      for (const entry of open) Object.assign(entry, { state: "cancelled", endedAt: now });
      woken(open.length);
      return { cancelled: open.length, tooLate: found.length - open.length };
    },
    async pending(filter, limit) {
      const open = all().filter((entry) => isUnfinished(entry) && isOf(entry, filter));
      const first = open.sort((a, b) => a.sequence - b.sequence).slice(0, limit);
      return first.map((entry) => entryOf(entry, clock.now()));
    },
  };

  return {
    control,
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
      const asked = [...listeners.keys()].filter((listener) => !isHeld(listener, now));
      const queues = new Map(asked.map((listener) => [listener, [] as MemoryEntry[]]));
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
    stats: async () => statsOf(all(), held, clock.now()),
    now: async () => clock.now(),
    onWork(wake) {
      wakes.add(wake);
      return () => wakes.delete(wake);
    },
    async prune({ delivered, dead }) {
      const before = { delivered, cancelled: delivered, dead, pending: 0, "in-flight": 0 };
      const old = all().filter(({ state, endedAt }) => endedAt < before[state]);
      return woken(remove(old.slice(0, BATCH)));
    },
    async close() {},
  };
}
