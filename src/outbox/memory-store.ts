import { HookproofError } from "../errors.js";
import { type Clock, systemClock } from "../primitives/clock.js";
import {
  claimed,
  deadLetterOf,
  fits,
  isLeased,
  isPastWindow,
  isUnfinished,
  type MemoryEntry,
  newEntry,
  standingOf,
  statsOf,
} from "./memory-entry.js";
import type {
  Burial,
  ClaimedEvent,
  DeadLetterFilter,
  Lease,
  OutboxEvent,
  OutboxStore,
} from "./outbox-store.js";

/** How many events one call of `expire` or `prune` ends at most. */
const BATCH = 1_000;

/**
 * An outbox store in this process's memory, for tests and for trying things out: a restart loses every event, and
 * there is no transaction to take part in. A claim looks at every event it holds.
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
  const wakers = new Set<() => void>();
  let sequences = 0;
  let tokens = 0;

  function held({ listener, id, token }: Lease): MemoryEntry | undefined {
    const entry = entries.get(nameOf(listener, id));
    return entry?.state === "in-flight" && entry.token === token ? entry : undefined;
  }

  function nextSequence(): number {
    sequences += 1;
    return sequences;
  }

  function end(entry: MemoryEntry, burial?: Burial): void {
    entry.state = burial ? "dead" : "delivered";
    entry.burial = burial;
    entry.endedAt = clock.now();
    if (burial?.attempt) entry.attempts.push(burial.attempt);
  }

  function wake(): void {
    for (const one of wakers) one();
  }

  function deadEntries(filter: DeadLetterFilter): MemoryEntry[] {
    return [...entries.values()]
      .filter((entry) => entry.state === "dead" && fits(entry, filter))
      .sort((a, b) => a.endedAt - b.endedAt || a.sequence - b.sequence);
  }

  function rename(entry: MemoryEntry, id: string): void {
    entries.delete(nameOf(entry.event.listener, entry.event.id));
    entry.event = { ...entry.event, id };
    entry.firstAttemptAt = undefined;
    entries.set(nameOf(entry.event.listener, id), entry);
  }

  return {
    enqueue(events, tx) {
      if (tx !== undefined) throw new TypeError("the memory store has no transactions: leave tx out");
      const fresh = new Map<string, OutboxEvent>();
      for (const event of events) {
        const name = nameOf(event.listener, event.id);
        const known = entries.get(name)?.event ?? fresh.get(name);
        if (!known) fresh.set(name, event);
        else if (known.digest !== event.digest)
          throw new HookproofError(
            "EVENT_ID_REUSED",
            `Event id ${event.id} was used before with other bytes. A new event needs a new id.`,
          );
      }
      const now = clock.now();
      for (const [name, event] of fresh)
        entries.set(name, newEntry({ ...event, body: event.body.slice() }, nextSequence(), now));
      if (fresh.size > 0) wake();
    },
    async claim({ limit, leaseMs, listeners }) {
      const now = clock.now();
      const due = dueByListener(entries.values(), now);
      let open = [...listeners].map(([listener, { most, windowMs }]) => ({
        left: most,
        queue: (due.get(listener) ?? []).filter((entry) => !isPastWindow(entry, windowMs, now)).reverse(),
      }));
      const handedOut: ClaimedEvent[] = [];
      while (open.length > 0 && handedOut.length < limit) {
        open = open.filter(({ left, queue }) => left > 0 && queue.length > 0);
        for (const one of open.slice(0, limit - handedOut.length)) {
          tokens += 1;
          one.left -= 1;
          const entry = one.queue.pop();
          if (entry) handedOut.push(claimed(entry, { now, until: now + leaseMs, token: String(tokens) }));
        }
      }
      return handedOut;
    },
    async complete(completions) {
      let good = 0;
      for (const { lease, outcome, attempt } of completions) {
        const entry = held(lease);
        if (!entry) continue;
        entry.attempts.push(attempt);
        entry.outcome = outcome;
        end(entry);
        good += 1;
      }
      if (good > 0) wake(); // the next of an ordering key
      return good;
    },
    async reschedule(lease, at, attempt) {
      const entry = held(lease);
      if (!entry) return false;
      entry.attempts.push(attempt);
      Object.assign(entry, { state: "pending", at });
      return true;
    },
    async bury(lease, burial) {
      const entry = held(lease);
      if (!entry) return false;
      end(entry, burial);
      wake();
      return true;
    },
    async expire(windows) {
      const now = clock.now();
      const past = [...entries.values()].filter((entry) => {
        const window = windows.get(entry.event.listener);
        return window && isDue(entry, now) && isPastWindow(entry, window.windowMs, now);
      });
      const expired = past.slice(0, BATCH).map((entry) => {
        const { event, enqueuedAt, attempt } = entry;
        const blocksKey = windows.get(event.listener)?.blocksKey ?? false;
        end(entry, { reason: "window", code: "WINDOW_CLOSED", blocksKey });
        return { listener: event.listener, id: event.id, enqueuedAt, attempts: attempt };
      });
      if (expired.length > 0) wake();
      return expired;
    },
    async release(leases) {
      for (const lease of leases) {
        const entry = held(lease);
        if (!entry) continue;
        Object.assign(entry, { state: "pending", at: entry.dueAt, attempt: entry.attempt - 1 });
        if (entry.isFirst) entry.firstAttemptAt = undefined;
      }
      wake();
    },
    async redrive(
      filter,
      { dryRun = false, place = "end", newId, windowMs, limit = Number.POSITIVE_INFINITY },
    ) {
      const now = clock.now();
      let [redriven, pastWindow] = [0, 0];
      for (const entry of deadEntries(filter)) {
        if (redriven >= limit) break;
        if (!newId && isPastWindow(entry, windowMs, now)) {
          pastWindow += 1;
          continue;
        }
        redriven += 1;
        if (dryRun) continue;
        if (newId) rename(entry, newId());
        if (place === "end" && entry.event.orderingKey !== undefined) entry.sequence = nextSequence();
        const attemptsBeforeRedrive = entry.attempt;
        Object.assign(entry, { state: "pending", at: now, burial: undefined, attemptsBeforeRedrive });
      }
      if (redriven > 0 && !dryRun) wake();
      return { redriven, pastWindow };
    },
    async drop(filter, { dryRun = false, limit = Number.POSITIVE_INFINITY } = {}) {
      const found = deadEntries(filter).slice(0, limit);
      if (dryRun) return found.length;
      for (const { event } of found) entries.delete(nameOf(event.listener, event.id));
      if (found.length > 0) wake();
      return found.length;
    },
    async *dead(filter = {}, { limit = Number.POSITIVE_INFINITY } = {}) {
      for (const entry of deadEntries(filter).slice(0, limit))
        if (entry.burial) yield deadLetterOf(entry, entry.burial);
    },
    async find(id) {
      const now = clock.now();
      return [...entries.values()]
        .filter(({ event }) => event.id === id)
        .map((entry) => standingOf(entry, now));
    },
    stats: async () => statsOf(entries.values(), clock.now()),
    now: async () => clock.now(),
    onWork(callback) {
      wakers.add(callback);
      return () => wakers.delete(callback);
    },
    async prune(before) {
      const old = [...entries].filter(
        ([, { state, endedAt }]) =>
          (state === "delivered" && endedAt < before.delivered) ||
          (state === "dead" && endedAt < before.dead),
      );
      const removed = old.slice(0, BATCH);
      for (const [name] of removed) entries.delete(name);
      if (removed.length > 0) wake(); // a dead letter that blocked its key
      return removed.length;
    },
    async close() {},
  };
}

/** What may be handed out of each listener, that which has been due for longest first. */
function dueByListener(entries: Iterable<MemoryEntry>, now: number): Map<string, MemoryEntry[]> {
  const bySequence = [...entries].sort((a, b) => a.sequence - b.sequence);
  const taken = new Set<string>(); // keys of which an event is under way
  for (const entry of bySequence) if (isLeased(entry, now)) taken.add(keyOf(entry));
  const due = new Map<string, MemoryEntry[]>();
  for (const entry of bySequence) {
    const isFirstOfKey = !taken.has(keyOf(entry));
    if (entry.event.orderingKey !== undefined && holdsItsKey(entry)) taken.add(keyOf(entry));
    if (!isFirstOfKey || !isDue(entry, now)) continue;
    const { listener } = entry.event;
    const list = due.get(listener) ?? [];
    list.push(entry);
    due.set(listener, list);
  }
  for (const list of due.values()) list.sort((a, b) => a.at - b.at || a.sequence - b.sequence);
  return due;
}

/** Whether later events of its ordering key wait for it. */
function holdsItsKey(entry: MemoryEntry): boolean {
  return isUnfinished(entry) || (entry.state === "dead" && entry.burial?.blocksKey === true);
}

function isDue(entry: MemoryEntry, now: number): boolean {
  return isUnfinished(entry) && entry.at <= now;
}

/** The names of what is ordered; an event without a key has one of its own. */
function keyOf({ event: { listener, orderingKey, id } }: MemoryEntry): string {
  return JSON.stringify(orderingKey === undefined ? [listener, null, id] : [listener, orderingKey]);
}

function nameOf(listener: string, id: string): string {
  return `${id} ${listener}`;
}
