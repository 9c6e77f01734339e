// An outbox store in SQLite.
import { type Clock, nextTurn, systemClock } from "../../core/clock.js";
import { checkOptions, checkWholeNumber, type OptionNames } from "../../core/options.js";
import {
  groupCommit,
  inSavepoint,
  type OpenSqliteDatabase,
  preparedQueries,
  type SqliteDatabase,
} from "../../sqlite/database.js";
import { filterCopy } from "../engine.js";
import type { OutboxStore } from "../outbox-store.js";
import type { ListenerStats, OutboxEntry } from "../records.js";
import { clockFollower } from "./clock.js";
import { type HeldRow, holdOf, listenerControl } from "./control.js";
import { createWaker, fileCheck, isDurable, openOutboxFile, unavailable, withCodes } from "./database.js";
import { DeadLetters, type Place } from "./dead-letters.js";
import { enqueueing } from "./enqueue.js";
import { claiming, leasing } from "./leases.js";
import { heldLease, type LeasedRow, type OutboxRow, showing } from "./rows.js";
import { DEAD, DELIVERED, IS_HELD, IS_MOVED, IS_WAITING, PENDING } from "./schema.js";
import { Upkeep } from "./upkeep.js";

/** Options of `sqliteStore`. */
export interface SqliteStoreOptions {
  /** Opens a connection to the file; the store uses and closes it. */
  open: () => OpenSqliteDatabase;
  /** How often the store looks for events that other processes have enqueued, in milliseconds; 50 by default. */
  pollMs?: number | undefined;
  /**
   * How long the store waits while others write to the file, in milliseconds; 10,000 by default. Other work of the
   * process goes on meanwhile.
   */
  patienceMs?: number | undefined;
  /** The clock of all times in the file; the system's by default. */
  clock?: Clock | undefined;
}

const NAMES: OptionNames<SqliteStoreOptions> = {
  open: 1,
  pollMs: "number",
  patienceMs: "number",
  clock: ".now",
};

/**
 * An outbox store in a SQLite file on a local disk, for one machine with any number of processes. It makes its tables
 * itself, and sets WAL and `synchronous = FULL`.
 *
 * The store has a connection of its own. To enqueue inside a transaction of yours, pass your connection to the same
 * file as `tx`, with `PRAGMA synchronous = FULL`, and keep the transaction synchronous: `enqueue` has stored the event
 * when it returns.
 *
 * @throws {HookproofError} OUTBOX_NEWER, OUTBOX_UNAVAILABLE
 * @example
 * ```ts
 * import Database from "better-sqlite3";
 * import { sqliteStore } from "hookproof/outbox/sqlite";
 *
 * const store = sqliteStore({ open: () => new Database("app.db") });
 * for (const { listener, pending } of await store.stats()) console.log(listener, pending);
 * ```
 */
export function sqliteStore(options: SqliteStoreOptions): OutboxStore<SqliteDatabase> {
  checkOptions("sqliteStore", options, NAMES);
  const { open, pollMs = 50, patienceMs = 10_000, clock = systemClock } = options;
  if (typeof open !== "function") throw new TypeError("open must be a function that opens a SQLite file");
  checkWholeNumber("pollMs", pollMs);
  checkWholeNumber("patienceMs", patienceMs);
  const db = openOutboxFile(open);
  const checkFile = withCodes(() => fileCheck(db));
  const waker = createWaker(db, { pollMs, checkFile });
  const commit = groupCommit(db, { failure: unavailable, patienceMs });
  const claim = claiming(db);
  const leases = leasing(db);
  const ending = new Upkeep(db);
  const reads = lookups(db);
  const enqueueOver = enqueueingOver(db);
  let isClosed = false;
  /** After which old dead letter `prune` goes on. */
  let afterDead: Place | undefined;

  const inFile =
    <Value>(work: () => Value) =>
    () => {
      checkFile();
      return work();
    };
  const group = <Value>(work: () => Value) => commit(inFile(work));
  const reading = <Value>(work: () => Value) => withCodes(inFile(work));

  /** Runs a change after which events may be due. */
  async function changing<Value>(work: () => Value): Promise<Value> {
    const value = await group(work);
    waker.wakeSoon();
    return value;
  }

  const letters = new DeadLetters(db, { changing, reading, clock });
  const { bringBack, ...control } = listenerControl(db, { changing, reading, clock });

  // Most calls run a moment later, together with others, so they copy what the caller may change meanwhile.
  return {
    ...control,
    enqueue(events, tx) {
      if (tx === undefined) {
        const own = [...events];
        return changing(() => enqueueOver(db)(own, clock.now()));
      }
      const add = enqueueOver(tx);
      withCodes(checkFile);
      withCodes(() => inSavepoint(tx, () => add(events, clock.now())));
      waker.wakeSoon();
      return undefined;
    },
    claim(request) {
      const own = { ...request, listeners: new Map(request.listeners) };
      return group(() => claim(own, clock.now()));
    },
    markDelivered(deliveries) {
      const own = [...deliveries];
      return changing(() => leases.markDelivered(own, clock.now()));
    },
    reschedule: (lease, at, attempt) => group(() => leases.reschedule(lease, at, attempt, clock.now())),
    fail: (lease, failure) => changing(() => leases.fail(lease, failure, clock.now())),
    release(held) {
      const own = [...held];
      return changing(() => leases.release(own));
    },
    leases: async (listener, ids) => reading(() => reads.leases(listener, ids)),
    expire(windows) {
      const own = new Map(windows);
      return changing(() => ending.expire(own, clock.now()));
    },
    redrive: (filter, windowMs, options = {}) => letters.redrive(filterCopy(filter), windowMs, options),
    drop: (filter, options = {}) => letters.drop(filterCopy(filter), options),
    deadLetters: (filter = {}, { limit = Number.POSITIVE_INFINITY } = {}) =>
      letters.list(filterCopy(filter), limit),
    find: async (id) => reading(() => reads.find(id, clock.now())),
    async stats() {
      const listeners = reading(() => reads.counts(clock.now()));
      const stats: ListenerStats[] = [];
      for (let from = 0; from < listeners.length; from += PAGE) {
        if (from > 0) await nextTurn(); // many listeners take long
        stats.push(...reading(() => reads.stats(listeners.slice(from, from + PAGE), clock.now())));
      }
      return stats;
    },
    now: async () => clock.now(),
    followClock: clockFollower(db, { changing, reading, clock }),
    onWork: (wake) => waker.subscribe(wake),
    async prune(before) {
      const own = { ...before };
      await bringBack(); // a process may have ended while it did that
      // All in one transaction, so that a call that fails has removed nothing.
      const first = await changing(() => ({
        ended: ending.prune(own, clock.now()),
        dead: ending.pruneDead(own.dead, afterDead),
      }));
      let { dead } = first;
      // Only what was committed is passed.
      afterDead = dead.next;
      for (let page = 1; first.ended + dead.removed === 0 && afterDead && page < HELD_PAGES; page++) {
        dead = await changing(() => ending.pruneDead(own.dead, afterDead));
        afterDead = dead.next;
      }
      return first.ended + dead.removed;
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      waker.stop();
      // Earlier calls run first; their callers get their errors.
      await commit(() => {}).catch(() => {});
      db.close();
    },
  };
}

/** How many pages of old dead letters one call of `prune` passes that all hold up their keys. */
const HELD_PAGES = 20;

/** The enqueueing over each connection, which is checked when it is first used. */
function enqueueingOver(own: SqliteDatabase): (db: SqliteDatabase) => ReturnType<typeof enqueueing> {
  const known = new WeakMap([[own, enqueueing(own)]]);
  return (db) => {
    const found = known.get(db);
    if (found) return found;
    if (typeof db?.prepare !== "function" || typeof db.exec !== "function")
      throw new TypeError("tx must be a SQLite connection with exec() and prepare()");
    if (!withCodes(() => isDurable(db)))
      throw new TypeError(
        "tx needs PRAGMA synchronous = FULL: without it a power failure can undo what was committed",
      );
    const made = enqueueing(db);
    known.set(db, made);
    return made;
  };
}

/** Questions that change nothing; none gets slower with the number of events. See `OutboxStore`. */
interface Lookups {
  find(id: string, now: number): OutboxEntry[];
  leases(listener: string, ids: readonly string[]): ReturnType<typeof heldLease>[];
  /** The listeners that have events or are paused. */
  counts(now: number): Counted[];
  stats(listeners: readonly Counted[], now: number): ListenerStats[];
}

/** What is counted of a listener, by the state of its events. */
interface Counted {
  readonly listener: string;
  readonly counts: ReadonlyMap<number, number>;
  readonly held: HeldRow | undefined;
}

/** How many listeners are looked at in one turn of the event loop. */
const PAGE = 500;

function lookups(db: SqliteDatabase): Lookups {
  const show = showing(db);
  const ask = preparedQueries(db, {
    find: "SELECT * FROM hookproof_outbox WHERE id = ? ORDER BY listener",
    leases: `SELECT seq, listener, id, lease_token, lease_until, attempts FROM hookproof_outbox
      WHERE id IN (SELECT value FROM json_each(?)) AND listener = ? AND lease_token IS NOT NULL AND state = ${PENDING}`,
    counts: "SELECT listener, state, events FROM hookproof_outbox_counts WHERE events > 0",
    leased: "SELECT count(*) AS events FROM hookproof_outbox WHERE listener = ? AND lease_until > ?",
    held: `SELECT * FROM hookproof_outbox_listeners WHERE ${IS_HELD} OR unknown_since IS NOT NULL`,
    oldestMoved: `SELECT ready_at FROM hookproof_outbox
      WHERE listener = ? AND ${IS_MOVED} AND (lease_until IS NULL OR lease_until <= ?)
      ORDER BY ready_at LIMIT 1`,
    first: `SELECT ready_at FROM hookproof_outbox
      WHERE listener = ? AND ${IS_WAITING} AND (lease_until IS NULL OR lease_until <= ?)
      ORDER BY visible_at LIMIT 1`,
  });

  function statsOf({ listener, counts, held }: Counted, now: number): ListenerStats {
    const [leased] = ask<{ events: number }>("leased", listener, now);
    const inFlight = leased?.events ?? 0;
    const oldest = (["oldestMoved", "first"] as const)
      .flatMap((name) => ask<{ ready_at: number }>(name, listener, now))
      .map((row) => row.ready_at);
    return {
      listener,
      pending: (counts.get(PENDING) ?? 0) - inFlight,
      inFlight,
      delivered: counts.get(DELIVERED) ?? 0,
      dead: counts.get(DEAD) ?? 0,
      oldestAgeMs: Math.max(0, now - Math.min(now, ...oldest)),
      ...(held && holdOf(held, now)),
    };
  }

  return {
    leases: (listener, ids) => ask<LeasedRow>("leases", JSON.stringify(ids), listener).map(heldLease),
    find: (id, now) => ask<OutboxRow>("find", id).map((row) => show(row, now)),
    counts(now) {
      const byListener = new Map<string, Map<number, number>>();
      for (const row of ask<{ listener: string; state: number; events: number }>("counts")) {
        const counts = byListener.get(row.listener) ?? new Map<number, number>();
        byListener.set(row.listener, counts.set(row.state, row.events));
      }
      const held = new Map(ask<HeldRow>("held", now).map((row) => [row.listener, row]));
      const paused = [...held.values()].filter(({ paused_at }) => paused_at !== null);
      for (const { listener } of paused) if (!byListener.has(listener)) byListener.set(listener, new Map());
      return [...byListener].map(([listener, counts]) => ({ listener, counts, held: held.get(listener) }));
    },
    stats: (listeners, now) => listeners.map((one) => statsOf(one, now)),
  };
}
