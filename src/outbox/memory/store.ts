// An outbox store in memory.
import { type Clock, systemClock } from "../../core/clock.js";
import { newEventId } from "../../core/event.js";
import { checkOptions } from "../../core/options.js";
import {
  CLOCK_STEP_MS,
  CLOCK_UNSEEN_MS,
  eventName,
  inTurn,
  newEvents,
  stepBack,
  unknownListeners,
} from "../engine.js";
import type { ClaimShare, OutboxStore } from "../outbox-store.js";
import { allowedBy, paceAfter } from "../rate.js";
import type {
  DeadLetter,
  DeadLetterFilter,
  DeliveryFailure,
  ExpiredEvent,
  Lease,
  OutboxAttempt,
  OutboxEntry,
} from "../records.js";
import {
  deadLetterOf,
  entryOf,
  followClock,
  isDue,
  isOf,
  isPastWindow,
  isUnfinished,
  lastNoted,
  lease,
  type MemoryEntry,
  matches,
  newEntry,
  statsOf,
} from "./entries.js";
import { MemoryHolds } from "./holds.js";
import { MemoryQueues } from "./queues.js";
import { MemoryWorkers } from "./workers.js";

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
export function memoryStore(
  options: {
    /** The clock by which events are due; the system's by default. */
    clock?: Clock | undefined;
  } = {},
): OutboxStore<never> {
  checkOptions("memoryStore", options, { clock: ".now" });
  return new MemoryStore(options.clock ?? systemClock);
}

type Store = Required<OutboxStore<never>>;

/** Its functions are its own and bound, because callers spread a store into one that does some of it otherwise. */
class MemoryStore implements Store {
  readonly #clock: Clock;
  readonly #entries = new Map<string, MemoryEntry>();
  readonly #wakes = new Set<() => void>();
  readonly #held = new MemoryHolds();
  readonly #queues = new MemoryQueues();
  /** Of each listener with a rate: see `allowedBy`. */
  readonly #paces = new Map<string, number>();
  readonly #changes = new Map<string, number>();
  readonly #workers = new MemoryWorkers();
  #sequences = 0;
  #tokens = 0;
  #seenAt: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#seenAt = clock.now();
  }

  readonly enqueue: Store["enqueue"] = (events, tx) => {
    if (tx !== undefined) throw new TypeError("the memory store has no transactions: leave tx out");
    const fresh = newEvents(events, (event) => this.#entries.get(eventName(event))?.event.digest);
    const copies = new Map(fresh.map(({ body }) => [body, body.slice()]));
    const now = this.#clock.now();
    for (const event of fresh) {
      this.#sequences += 1;
      const stored = { ...event, body: copies.get(event.body) ?? event.body };
      const entry = newEntry(stored, this.#sequences, now);
      this.#entries.set(eventName(event), entry);
      this.#become(entry, {});
    }
    this.#woken(fresh.length);
  };

  readonly claim: Store["claim"] = async ({ limit, leaseMs, listeners }) => {
    const now = this.#clock.now();
    const waiting = [...listeners].map(([listener, share]) => {
      if (this.#held.isHeld(listener, now)) return [];
      const room = Math.min(limit, this.#roomOf(listener, share, now));
      return this.#queues.claimable(
        listener,
        now,
        room,
        (entry) => !isPastWindow(entry, share.windowMs, now),
      );
    });
    const claimed = inTurn(waiting).slice(0, limit);
    this.#pace(claimed, listeners, now);
    return claimed.map((entry) => {
      this.#tokens += 1;
      const leased = lease(entry, { now, expiresAt: now + leaseMs, token: String(this.#tokens) });
      this.#become(entry, {});
      return leased;
    });
  };

  readonly markDelivered: Store["markDelivered"] = async (deliveries) => {
    const endedAt = this.#clock.now();
    const done = deliveries.filter(({ lease, outcome, attempt }) =>
      this.#change(lease, attempt, () => ({ state: "delivered", outcome, endedAt })),
    );
    return this.#woken(done.length);
  };

  readonly reschedule: Store["reschedule"] = async (lease, at, attempt) =>
    this.#change(lease, attempt, (entry) => ({
      state: "waiting",
      at: at - stepBack(lease.expiresAt - entry.at),
      claimedAt: Math.max(entry.claimedAt ?? 0, this.#clock.now()),
    }));

  readonly fail: Store["fail"] = async (lease, failure) =>
    this.#woken(
      this.#change(lease, failure.attempt, () => ({ state: "dead", failure, endedAt: this.#clock.now() })),
    );

  readonly expire: Store["expire"] = async (windows) => {
    const now = this.#clock.now();
    const expired: ExpiredEvent[] = [];
    for (const entry of this.#all()) {
      const { listener, id } = entry.event;
      const { windowMs = Number.POSITIVE_INFINITY, blocksKey = false } = windows.get(listener) ?? {};
      if (expired.length === BATCH) break;
      if (!isDue(entry, now)) continue;
      const { since = now } = this.#held.of(listener).unknown ?? {};
      const isLost = entry.firstAttemptAt === undefined && now > Math.max(since, entry.readyAt) + windowMs;
      if (!isPastWindow(entry, windowMs, now) && !isLost) continue;
      const failure: DeliveryFailure = { reason: "window", code: "WINDOW_CLOSED", blocksKey };
      this.#become(entry, { state: "dead", failure, endedAt: now });
      expired.push({ listener, id, enqueuedAt: entry.enqueuedAt, attempts: entry.attempt });
    }
    this.#woken(expired.length);
    return expired;
  };

  readonly release: Store["release"] = async (leases) => {
    this.#woken(
      leases.filter((lease) => this.#change(lease, undefined, ({ beforeClaim }) => beforeClaim ?? {})).length,
    );
  };

  readonly leases: Store["leases"] = async (listener, ids) => {
    const found = new Set(ids);
    return [...found].flatMap((id) => {
      const { state, token, at: expiresAt, attempt } = this.#entries.get(eventName({ listener, id })) ?? {};
      if (state !== "leased" || token === undefined || expiresAt === undefined) return [];
      return [{ lease: { listener, id, token, expiresAt }, attempt: attempt ?? 1 }];
    });
  };

  readonly redrive: Store["redrive"] = async (filter, windowMs, options = {}) => {
    const { dryRun = false, place = "end", newIds = false, limit = Number.POSITIVE_INFINITY } = options;
    const now = this.#clock.now();
    const dead = this.#deadOf(filter);
    const open = dead.filter((entry) => newIds || !isPastWindow(entry, windowMs, now));
    const redriven = open.slice(0, limit);
    const result = { redriven: redriven.length, pastWindow: dead.length - open.length };
    if (dryRun) return result;
    for (const entry of redriven) {
      this.#remove([entry]);
      this.#sequences += 1;
      if (newIds)
        Object.assign(entry, { event: { ...entry.event, id: newEventId() }, firstAttemptAt: undefined });
      if (place === "end" && entry.event.orderingKey !== undefined) entry.sequence = this.#sequences;
      const attemptsBeforeRedrive = entry.attempt;
      this.#entries.set(eventName(entry.event), entry);
      this.#become(entry, { state: "waiting", at: now, failure: undefined, attemptsBeforeRedrive });
    }
    this.#woken(redriven.length);
    return result;
  };

  readonly drop: Store["drop"] = async (
    filter,
    { dryRun = false, limit = Number.POSITIVE_INFINITY } = {},
  ) => {
    const dead = this.#deadOf(filter).slice(0, limit);
    return dryRun ? dead.length : this.#woken(this.#remove(dead));
  };

  readonly deadLetters: Store["deadLetters"] = (filter = {}, { limit = Number.POSITIVE_INFINITY } = {}) =>
    this.#list(filter, limit);

  readonly find: Store["find"] = async (id) => {
    const found = this.#all().filter(({ event }) => event.id === id);
    return found.map((entry) => this.#shown(entry));
  };

  readonly stats: Store["stats"] = async () => statsOf(this.#all(), this.#held, this.#clock.now());

  readonly now: Store["now"] = async () => this.#clock.now();

  readonly followClock: Store["followClock"] = async () => {
    const now = this.#clock.now();
    if (now - this.#seenAt > CLOCK_UNSEEN_MS)
      this.#seenAt = Math.max(this.#seenAt, lastNoted(this.#all()), this.#held.lastNoted());
    const backMs = this.#seenAt - now;
    if (backMs <= CLOCK_STEP_MS) {
      this.#seenAt = Math.max(this.#seenAt, now);
      return 0;
    }
    for (const entry of this.#all()) followClock(entry, now);
    this.#queues.rebuild();
    this.#held.followClock(this.#seenAt, now);
    this.#workers.followClock(this.#seenAt, now);
    this.#seenAt = now;
    return this.#woken(backMs);
  };

  readonly onWork: Store["onWork"] = (wake) => {
    this.#wakes.add(wake);
    return () => this.#wakes.delete(wake);
  };

  readonly prune: Store["prune"] = async ({ delivered, dead }) => {
    const before = { delivered, cancelled: delivered, dead, waiting: 0, leased: 0 };
    const old = this.#all().filter(({ state, endedAt }) => endedAt < before[state]);
    const last = old.some(({ failure }) => failure?.blocksKey) ? this.#lastOfKeys() : undefined;
    const holdsUp = ({ failure, key, sequence }: MemoryEntry) =>
      failure?.blocksKey === true && (last?.get(key) ?? 0) > sequence;
    return this.#woken(this.#remove(old.filter((entry) => !holdsUp(entry)).slice(0, BATCH)));
  };

  readonly due: Store["due"] = async (after, max) => {
    const now = this.#clock.now();
    if (after === undefined) {
      const again = this.#held.unknown(now).filter((listener) => this.#queues.holds(listener));
      const rows = again.map((listener) => ({ listener, changedAt: this.#changes.get(listener) ?? null }));
      if (rows.length > 0) return unknownListeners(rows.slice(0, max));
    }
    const { names, next } = this.#queues.due(Number(after ?? 0), now, max);
    const listeners = names
      .filter((listener) => !this.#held.isHeld(listener, now))
      .map((listener) => ({ listener, changedAt: this.#changes.get(listener) }));
    return { listeners, next: next?.toString() };
  };

  readonly changed: Store["changed"] = async (listener) => {
    this.#changes.set(listener, Math.max(this.#clock.now(), (this.#changes.get(listener) ?? 0) + 1));
    this.#release(listener, "unknown");
    this.#woken(1);
  };

  readonly unknown: Store["unknown"] = async (listeners) => {
    const now = this.#clock.now();
    for (const listener of listeners) {
      this.#held.markUnknown(listener, now);
      this.#queues.pause(listener);
    }
  };

  readonly pause: Store["pause"] = async (listener, reason, { keepReason = false } = {}) => {
    if (keepReason && this.#held.isPaused(listener)) return;
    this.#held.pause(listener, reason, this.#clock.now());
    this.#queues.pause(listener);
  };

  readonly resume: Store["resume"] = async (listener) => {
    const wasPaused = this.#held.isPaused(listener);
    this.#release(listener, "paused");
    return this.#woken(wasPaused);
  };

  readonly rest: Store["rest"] = async (listener, ms) => {
    this.#held.rest(listener, ms, this.#clock.now());
  };

  readonly cancel: Store["cancel"] = async (filter) => {
    const now = this.#clock.now();
    const found = this.#all().filter((entry) => isOf(entry, filter) && (filter.ids || isUnfinished(entry)));
    const open = found.filter((entry) => entry.state === "waiting" && entry.firstAttemptAt === undefined);
    for (const entry of open) this.#become(entry, { state: "cancelled", endedAt: now });
    this.#woken(open.length);
    return { cancelled: open.length, tooLate: found.length - open.length };
  };

  readonly pending: Store["pending"] = async (filter, limit) => {
    const open = this.#all().filter((entry) => isUnfinished(entry) && isOf(entry, filter));
    const first = open.sort((a, b) => a.sequence - b.sequence).slice(0, limit);
    return first.map((entry) => this.#shown(entry));
  };

  readonly alive: Store["alive"] = async (worker, isGone) =>
    this.#workers.alive(worker, isGone, this.#clock.now());

  readonly workers: Store["workers"] = async () => this.#workers.all(this.#clock.now());

  readonly close: Store["close"] = async () => {};

  #all(): MemoryEntry[] {
    return [...this.#entries.values()];
  }

  #deadOf(filter: DeadLetterFilter): MemoryEntry[] {
    return this.#all()
      .filter((entry) => entry.state === "dead" && matches(entry, filter))
      .sort((a, b) => a.endedAt - b.endedAt || a.sequence - b.sequence);
  }

  /** Wakes the dispatcher if something has changed. */
  #woken<Changed extends number | boolean>(changed: Changed): Changed {
    if (changed) for (const wake of this.#wakes) wake();
    return changed;
  }

  /** Changes the event of a lease, if that is still valid. */
  #change(
    lease: Lease,
    attempt: OutboxAttempt | undefined,
    next: (entry: MemoryEntry) => Partial<MemoryEntry>,
  ): boolean {
    const entry = this.#entries.get(eventName(lease));
    if (entry?.state !== "leased" || entry.token !== lease.token) return false;
    if (attempt) entry.attempts.push(attempt);
    this.#become(entry, next(entry));
    return true;
  }

  #become(entry: MemoryEntry, next: Partial<MemoryEntry>): void {
    Object.assign(entry, next);
    this.#queues.update(entry, this.#held.isAside(entry.event.listener));
  }

  #remove(gone: readonly MemoryEntry[]): number {
    for (const entry of gone) {
      this.#entries.delete(eventName(entry.event));
      this.#queues.remove(entry);
    }
    return gone.length;
  }

  #shown(entry: MemoryEntry): OutboxEntry {
    return entryOf(entry, this.#queues.of(entry.event.listener), this.#clock.now());
  }

  /** The last event that waits of each ordering key. */
  #lastOfKeys(): ReadonlyMap<string, number> {
    const last = new Map<string, number>();
    for (const one of this.#all())
      if (isUnfinished(one)) last.set(one.key, Math.max(one.sequence, last.get(one.key) ?? 0));
    return last;
  }

  /** Ends one reason for which a listener's events are apart; without another they come back. */
  #release(listener: string, reason: "paused" | "unknown"): void {
    this.#held.end(listener, reason);
    if (!this.#held.isAside(listener)) this.#queues.resume(listener);
  }

  /** How many events of a listener may be claimed. */
  #roomOf(listener: string, { most, concurrency, rate }: ClaimShare, now: number): number {
    const leased = concurrency === undefined ? 0 : this.#queues.leased(listener, now);
    const allowed = rate ? allowedBy(rate, this.#paces.get(listener) ?? 0, now) : most;
    return Math.max(0, Math.min(most, (concurrency ?? most + leased) - leased, allowed));
  }

  /** Counts the claimed events against the rates of their listeners. */
  #pace(claimed: readonly MemoryEntry[], listeners: ReadonlyMap<string, ClaimShare>, now: number): void {
    for (const { event } of claimed) {
      const { rate } = listeners.get(event.listener) ?? {};
      if (rate)
        this.#paces.set(event.listener, paceAfter(rate, this.#paces.get(event.listener) ?? 0, now, 1));
    }
  }

  async *#list(filter: DeadLetterFilter, limit: number): AsyncGenerator<DeadLetter> {
    for (const entry of this.#deadOf(filter).slice(0, limit))
      if (entry.failure) yield deadLetterOf(entry, entry.failure);
  }
}
