// An outbox store in memory.
import { type Clock, systemClock } from "../../core/clock.js";
import { newEventId } from "../../core/event.js";
import { checkOptions } from "../../core/options.js";
import {
  CLOCK_STEP_MS,
  eventName,
  inTurn,
  newEvents,
  stepBack,
  UNKNOWN_MOST_MS,
  UNKNOWN_MS,
  unknownListeners,
} from "../engine.js";
import type { ClaimShare, OutboxStore } from "../outbox-store.js";
import { allowedBy, paceAfter } from "../rate.js";
import type { DeadLetterFilter, DeliveryFailure, ExpiredEvent, Lease, OutboxAttempt } from "../records.js";
import {
  deadLetterOf,
  entryOf,
  followClock,
  type HeldListener,
  isDue,
  isOf,
  isPastWindow,
  isUnfinished,
  lease,
  type MemoryEntry,
  matches,
  newEntry,
  restAt,
  statsOf,
} from "./entries.js";
import { MemoryQueues } from "./queues.js";

/** How many events one call of `expire` or `prune` ends at most. */
const BATCH = 1_000;

/**
 * An outbox store in this process's memory, for tests and for trying things out: a restart loses every event, and
 * there are no transactions.
 *
 * @example
 * ```ts
 * import { memoryStore } from "hookproof/outbox";
 *
 * const store = memoryStore();
 * ```
 */
export function memoryStore(options: { clock?: Clock | undefined } = {}): OutboxStore<never> {
  checkOptions("memoryStore", options, { clock: ".now" });
  const { clock = systemClock } = options;
  const entries = new Map<string, MemoryEntry>();
  const wakes = new Set<() => void>();
  const held = new Map<string, HeldListener>();
  const queues = new MemoryQueues();
  /** Of each listener with a rate: see `allowedBy`. */
  const paces = new Map<string, number>();
  const changes = new Map<string, number>();
  let [sequences, tokens] = [0, 0];
  let seenAt = clock.now();

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
    if (entry?.state !== "leased" || entry.token !== lease.token) return false;
    if (attempt) entry.attempts.push(attempt);
    become(entry, next(entry));
    return true;
  }

  function become(entry: MemoryEntry, next: Partial<MemoryEntry>): void {
    Object.assign(entry, next);
    queues.update(entry, isAside(entry.event.listener));
  }

  function remove(gone: readonly MemoryEntry[]): number {
    for (const entry of gone) {
      entries.delete(eventName(entry.event));
      queues.remove(entry);
    }
    return gone.length;
  }

  const shown = (entry: MemoryEntry) => entryOf(entry, queues.of(entry.event.listener), clock.now());

  /** The last event that waits of each ordering key. */
  function lastOfKeys(): ReadonlyMap<string, number> {
    const last = new Map<string, number>();
    for (const one of all())
      if (isUnfinished(one)) last.set(one.key, Math.max(one.sequence, last.get(one.key) ?? 0));
    return last;
  }

  const isPaused = (listener: string) => held.get(listener)?.paused !== undefined;
  const isAside = (listener: string) => isPaused(listener) || held.get(listener)?.unknown !== undefined;
  const isHeld = (listener: string, now: number) =>
    isPaused(listener) || (held.get(listener)?.restsUntil ?? 0) > now;

  /** Ends one reason for which a listener's events are apart; without another they come back. */
  function release(listener: string, reason: "paused" | "unknown"): void {
    const { [reason]: _, ...rest } = held.get(listener) ?? {};
    held.set(listener, rest);
    if (!isAside(listener)) queues.resume(listener);
  }

  /** How many events of a listener may be claimed. */
  function roomOf(listener: string, { most, concurrency, rate }: ClaimShare, now: number): number {
    const leased = concurrency === undefined ? 0 : queues.leased(listener, now);
    const allowed = rate ? allowedBy(rate, paces.get(listener) ?? 0, now) : most;
    return Math.max(0, Math.min(most, (concurrency ?? most + leased) - leased, allowed));
  }

  /** Counts the claimed events against the rates of their listeners. */
  function pace(
    claimed: readonly MemoryEntry[],
    listeners: ReadonlyMap<string, ClaimShare>,
    now: number,
  ): void {
    for (const { event } of claimed) {
      const { rate } = listeners.get(event.listener) ?? {};
      if (rate) paces.set(event.listener, paceAfter(rate, paces.get(event.listener) ?? 0, now, 1));
    }
  }

  return {
    enqueue(events, tx) {
      if (tx !== undefined) throw new TypeError("the memory store has no transactions: leave tx out");
      const fresh = newEvents(events, (event) => entries.get(eventName(event))?.event.digest);
      const copies = new Map(fresh.map(({ body }) => [body, body.slice()]));
      for (const event of fresh) {
        sequences += 1;
        const stored = { ...event, body: copies.get(event.body) ?? event.body };
        const entry = newEntry(stored, sequences, clock.now());
        entries.set(eventName(event), entry);
        become(entry, {});
      }
      woken(fresh.length);
    },
    async claim({ limit, leaseMs, listeners }) {
      const now = clock.now();
      const waiting = [...listeners].map(([listener, share]) => {
        if (isHeld(listener, now)) return [];
        const room = Math.min(limit, roomOf(listener, share, now));
        return queues.claimable(listener, now, room, (entry) => !isPastWindow(entry, share.windowMs, now));
      });
      const claimed = inTurn(waiting).slice(0, limit);
      pace(claimed, listeners, now);
      return claimed.map((entry) => {
        tokens += 1;
        const leased = lease(entry, { now, expiresAt: now + leaseMs, token: String(tokens) });
        become(entry, {});
        return leased;
      });
    },
    async markDelivered(deliveries) {
      const endedAt = clock.now();
      const done = deliveries.filter(({ lease, outcome, attempt }) =>
        change(lease, attempt, () => ({ state: "delivered", outcome, endedAt })),
      );
      return woken(done.length);
    },
    reschedule: async (lease, at, attempt) =>
      change(lease, attempt, (entry) => ({
        state: "waiting",
        at: at - stepBack(lease.expiresAt - entry.at),
      })),
    fail: async (lease, failure) =>
      woken(change(lease, failure.attempt, () => ({ state: "dead", failure, endedAt: clock.now() }))),
    async expire(windows) {
      const now = clock.now();
      const expired: ExpiredEvent[] = [];
      for (const entry of all()) {
        const { listener, id } = entry.event;
        const { windowMs = Number.POSITIVE_INFINITY, blocksKey = false } = windows.get(listener) ?? {};
        if (expired.length === BATCH) break;
        if (!isDue(entry, now)) continue;
        const { since = now } = held.get(listener)?.unknown ?? {};
        const isLost = entry.firstAttemptAt === undefined && now > Math.max(since, entry.readyAt) + windowMs;
        if (!isPastWindow(entry, windowMs, now) && !isLost) continue;
        const failure: DeliveryFailure = { reason: "window", code: "WINDOW_CLOSED", blocksKey };
        become(entry, { state: "dead", failure, endedAt: now });
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
    async leases(listener, ids) {
      const found = new Set(ids);
      return [...found].flatMap((id) => {
        const { state, token, at: expiresAt, attempt } = entries.get(eventName({ listener, id })) ?? {};
        if (state !== "leased" || token === undefined || expiresAt === undefined) return [];
        return [{ lease: { listener, id, token, expiresAt }, attempt: attempt ?? 1 }];
      });
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
        entries.set(eventName(entry.event), entry);
        become(entry, { state: "waiting", at: now, failure: undefined, attemptsBeforeRedrive });
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
      return found.map(shown);
    },
    stats: async () => statsOf(all(), held, clock.now()),
    now: async () => clock.now(),
    async followClock() {
      const now = clock.now();
      const backMs = seenAt - now;
      if (backMs <= CLOCK_STEP_MS) {
        seenAt = Math.max(seenAt, now);
        return 0;
      }
      const follow = (time: number) => (time > seenAt ? time - backMs : Math.min(time, now));
      for (const entry of all()) followClock(entry, now);
      queues.rebuild();
      for (const [listener, { paused, unknown, ...rest }] of held)
        held.set(listener, {
          ...restAt(rest, now),
          ...(paused && { paused: { ...paused, since: Math.min(paused.since, now) } }),
          ...(unknown && { unknown: { since: Math.min(unknown.since, now), until: follow(unknown.until) } }),
        });
      seenAt = now;
      return woken(backMs);
    },
    onWork(wake) {
      wakes.add(wake);
      return () => wakes.delete(wake);
    },
    async prune({ delivered, dead }) {
      const before = { delivered, cancelled: delivered, dead, waiting: 0, leased: 0 };
      const old = all().filter(({ state, endedAt }) => endedAt < before[state]);
      const last = old.some(({ failure }) => failure?.blocksKey) ? lastOfKeys() : undefined;
      const holdsUp = ({ failure, key, sequence }: MemoryEntry) =>
        failure?.blocksKey === true && (last?.get(key) ?? 0) > sequence;
      return woken(remove(old.filter((entry) => !holdsUp(entry)).slice(0, BATCH)));
    },
    async due(after, most) {
      const now = clock.now();
      if (after === undefined) {
        const again = [...held].filter(
          ([listener, { paused, unknown }]) =>
            !paused && unknown && unknown.until <= now && queues.holds(listener),
        );
        const rows = again.map(([listener]) => ({ listener, changedAt: changes.get(listener) ?? null }));
        if (rows.length > 0) return unknownListeners(rows.slice(0, most));
      }
      const { names, next } = queues.due(Number(after ?? 0), now, most);
      const listeners = names
        .filter((listener) => !isHeld(listener, now))
        .map((listener) => ({ listener, changedAt: changes.get(listener) }));
      return { listeners, next: next?.toString() };
    },
    async changed(listener) {
      changes.set(listener, Math.max(clock.now(), (changes.get(listener) ?? 0) + 1));
      release(listener, "unknown");
      woken(1);
    },
    async unknown(listeners) {
      const now = clock.now();
      for (const listener of listeners) {
        const { since = now, until = 0 } = held.get(listener)?.unknown ?? {};
        const pauseMs = Math.min(UNKNOWN_MOST_MS, Math.max(UNKNOWN_MS, now - since));
        held.set(listener, {
          ...held.get(listener),
          unknown: { since, until: until > now ? until : now + pauseMs },
        });
        queues.pause(listener);
      }
    },
    async pause(listener, reason, { keepReason = false } = {}) {
      if (keepReason && held.get(listener)?.paused) return;
      const since = held.get(listener)?.paused?.since ?? clock.now();
      held.set(listener, { ...held.get(listener), paused: { since, ...(reason && { reason }) } });
      queues.pause(listener);
    },
    async resume(listener) {
      const wasPaused = isPaused(listener);
      release(listener, "paused");
      return woken(wasPaused);
    },
    async rest(listener, until) {
      const now = clock.now();
      const known = restAt(held.get(listener) ?? {}, now);
      held.set(listener, { ...known, restsUntil: Math.max(until, known.restsUntil ?? 0), restedAt: now });
    },
    async cancel(filter) {
      const now = clock.now();
      const found = all().filter((entry) => isOf(entry, filter) && (filter.ids || isUnfinished(entry)));
      const open = found.filter((entry) => entry.state === "waiting" && entry.firstAttemptAt === undefined);
      for (const entry of open) become(entry, { state: "cancelled", endedAt: now });
      woken(open.length);
      return { cancelled: open.length, tooLate: found.length - open.length };
    },
    async pending(filter, limit) {
      const open = all().filter((entry) => isUnfinished(entry) && isOf(entry, filter));
      const first = open.sort((a, b) => a.sequence - b.sequence).slice(0, limit);
      return first.map(shown);
    },
    async close() {},
  };
}
