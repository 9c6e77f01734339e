import { HookproofError } from "../errors.js";
import { type Clock, systemClock } from "../primitives/clock.js";
import { type DueHeap, dueHeap } from "./due-heap.js";
import {
  claimedOf,
  deadLetterOf,
  fits,
  isLeased,
  isPastWindow,
  type MemoryEntry,
  newEntry,
  standingOf,
} from "./memory-entry.js";
import { memoryLanes } from "./memory-lanes.js";
import { memoryStats } from "./memory-stats.js";
import type { Burial, ExpiredEvent, Lease, OutboxEvent, OutboxStore } from "./outbox-store.js";

/** How many events one call of `expire` or `prune` ends at most. */
const BATCH = 1_000;

/**
 * An outbox store in this process's memory, for tests and for trying things out: a restart loses every event, and
 * there is no transaction to take part in.
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
  const queues = new Map<string, DueHeap<Waiting>>();
  const lanes = memoryLanes();
  const wakers = new Set<() => void>();
  let sequences = 0;
  let tokens = 0;

  /** Puts an event where claims look, from `at` on. */
  function offer(entry: MemoryEntry | undefined): void {
    if (!entry || (entry.state !== "pending" && entry.state !== "in-flight")) return;
    const { listener } = entry.event;
    const queue = queues.get(listener) ?? dueHeap<Waiting>();
    queues.set(listener, queue);
    queue.push({ at: entry.at, order: entry.sequence, entry });
  }

  /** The next due event of a listener, taken off its queue. */
  function takeDue(listener: string, now: number): MemoryEntry | undefined {
    const queue = queues.get(listener);
    for (;;) {
      const waiting = queue?.peek();
      if (!waiting || waiting.at > now) return undefined;
      queue?.pop();
      if (!isCurrent(waiting) || !lanes.isTurnOf(waiting.entry)) continue;
      // If this is a lease that ran out, an earlier event of the key may have been redriven meanwhile.
      const first = lanes.giveBack(waiting.entry);
      if (first === waiting.entry) return first;
      offer(first);
    }
  }

  function held({ listener, id, token }: Lease): MemoryEntry | undefined {
    const entry = entries.get(nameOf(listener, id));
    return entry?.state === "in-flight" && entry.token === token ? entry : undefined;
  }

  function add(event: OutboxEvent, now: number): void {
    sequences += 1;
    const entry = newEntry({ ...event, body: event.body.slice() }, sequences, now);
    entries.set(nameOf(event.listener, event.id), entry);
    lanes.join(entry);
    if (lanes.isTurnOf(entry)) offer(entry);
  }

  function putBack(entry: MemoryEntry, at: number): void {
    entry.state = "pending";
    entry.at = at;
    offer(lanes.giveBack(entry));
  }

  function end(entry: MemoryEntry, burial?: Burial): void {
    entry.state = burial ? "dead" : "delivered";
    entry.burial = burial;
    entry.endedAt = clock.now();
    if (burial?.attempt) entry.attempts.push(burial.attempt);
    offer(burial?.blocksKey ? lanes.giveBack(entry) : lanes.leave(entry));
  }

  function wake(): void {
    for (const one of wakers) one();
  }

  return {
    enqueue(events) {
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
      for (const event of fresh.values()) add(event, now);
      if (fresh.size > 0) wake();
    },
    async claim({ limit, leaseMs, listeners }) {
      const now = clock.now();
      const claimed: MemoryEntry[] = [];
      let open = [...listeners].map(([listener, most]) => ({ listener, left: most }));
      while (open.length > 0 && claimed.length < limit) {
        open = open.filter((one) => {
          if (one.left < 1 || claimed.length >= limit) return false;
          const entry = takeDue(one.listener, now);
          if (!entry) return false;
          one.left -= 1;
          tokens += 1;
          Object.assign(entry, { state: "in-flight", at: now + leaseMs, token: String(tokens) });
          lanes.take(entry);
          offer(entry);
          claimed.push(entry);
          return true;
        });
      }
      return claimed.map((entry) => claimedOf(entry, now));
    },
    async begin(leases) {
      const now = clock.now();
      return leases.map((lease) => {
        const entry = held(lease);
        if (!entry) return undefined;
        entry.begun += 1;
        entry.firstAttemptAt ??= now;
        return { attempt: entry.begun, firstAttemptAt: entry.firstAttemptAt, now };
      });
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
      putBack(entry, at);
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
      const expired: ExpiredEvent[] = [];
      for (const entry of entries.values()) {
        const window = windows.get(entry.event.listener);
        if (expired.length >= BATCH) break;
        if (!window || !isDue(entry, now) || !isPastWindow(entry, window.windowMs, now)) continue;
        end(entry, { reason: "window", code: "WINDOW_CLOSED", blocksKey: window.blocksKey });
        const { event, enqueuedAt, begun } = entry;
        expired.push({ listener: event.listener, id: event.id, enqueuedAt, attempts: begun });
      }
      return expired;
    },
    async release(leases) {
      const now = clock.now();
      for (const lease of leases) {
        const entry = held(lease);
        if (entry) putBack(entry, now);
      }
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
        if (entry.burial?.blocksKey) offer(lanes.leave(entry));
        if (newId) rename(entry, newId());
        if (place === "end" && entry.event.orderingKey !== undefined) {
          sequences += 1;
          entry.sequence = sequences;
        }
        Object.assign(entry, {
          state: "pending",
          at: now,
          burial: undefined,
          begunBeforeRedrive: entry.begun,
        });
        lanes.join(entry);
        if (lanes.isTurnOf(entry)) offer(entry);
      }
      if (redriven > 0 && !dryRun) wake();
      return { redriven, pastWindow };
    },
    async *dead(filter = {}, { limit = Number.POSITIVE_INFINITY } = {}) {
      let given = 0;
      for (const entry of deadEntries(filter)) {
        if (given >= limit) return;
        given += 1;
        if (entry.burial) yield deadLetterOf(entry, entry.burial);
      }
    },
    async find(id) {
      const now = clock.now();
      return [...entries.values()]
        .filter(({ event }) => event.id === id)
        .map((entry) => standingOf(entry, now));
    },
    stats: async () => memoryStats(entries.values(), clock.now()),
    async nextDue(listeners) {
      const now = clock.now();
      let at = Number.POSITIVE_INFINITY;
      for (const listener of listeners) {
        const queue = queues.get(listener);
        for (;;) {
          const waiting = queue?.peek();
          if (waiting && !(isCurrent(waiting) && lanes.isTurnOf(waiting.entry))) queue?.pop();
          else {
            at = Math.min(at, waiting?.at ?? at);
            break;
          }
        }
      }
      return at === Number.POSITIVE_INFINITY ? { now } : { now, at };
    },
    onWork(callback) {
      wakers.add(callback);
      return () => wakers.delete(callback);
    },
    async prune({ delivered, dead }) {
      let removed = 0;
      for (const [name, entry] of entries) {
        if (removed >= BATCH) break;
        const before = entry.state === "delivered" ? delivered : entry.state === "dead" ? dead : 0;
        if (entry.endedAt >= before) continue;
        entries.delete(name);
        if (entry.burial?.blocksKey) offer(lanes.leave(entry));
        removed += 1;
      }
      return removed;
    },
    async close() {},
  };

  function deadEntries(filter: Parameters<typeof fits>[1]): MemoryEntry[] {
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
}

/** A place in a queue; a place that the event has left since is passed over. */
interface Waiting {
  readonly at: number;
  readonly order: number;
  readonly entry: MemoryEntry;
}

function isCurrent({ at, order, entry }: Waiting): boolean {
  const { state } = entry;
  return (state === "pending" || state === "in-flight") && entry.at === at && entry.sequence === order;
}

function isDue(entry: MemoryEntry, now: number): boolean {
  const { state, at } = entry;
  return (state === "pending" || state === "in-flight") && at <= now && !isLeased(entry, now);
}

function nameOf(listener: string, id: string): string {
  return `${id} ${listener}`;
}
