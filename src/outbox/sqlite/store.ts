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
import { filterCopy, HELD_PAGES } from "../engine.js";
import type { OutboxStore } from "../outbox-store.js";
import type { ListenerStats, OutboxEntry } from "../records.js";
import { clockFollower } from "./clock.js";
import { type HeldRow, holdOf, listenerControl } from "./control.js";
import { createWaker, fileCheck, isDurable, openOutboxFile, unavailable, withCodes } from "./database.js";
import { DeadLetters, type Place } from "./dead-letters.js";
import { eventWriter } from "./enqueue.js";
import { claimOf, leasesOf } from "./leases.js";
import { entryReader, heldLease, type LeasedRow, type OutboxRow } from "./rows.js";
import { DEAD, DELIVERED, IS_HELD, IS_MOVED, IS_WAITING, PENDING } from "./schema.js";
import { Upkeep } from "./upkeep.js";
import { seenWorkers } from "./workers.js";

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
  return new SqliteStore(openOutboxFile(open), { pollMs, patienceMs, clock });
}

type Store = Required<OutboxStore<SqliteDatabase>>;
type Control = ReturnType<typeof listenerControl>;

/**
 * Its functions are its own and bound, because callers spread a store into one that does some of it otherwise. Most calls
 * run a moment later, together with others, so they copy what the caller may change meanwhile.
 */
class SqliteStore implements Store {
  readonly #db: OpenSqliteDatabase;
  readonly #clock: Clock;
  readonly #checkFile: () => void;
  readonly #waker: ReturnType<typeof createWaker>;
  readonly #commit: ReturnType<typeof groupCommit>;
  readonly #enqueueOver: ReturnType<typeof eventWriters>;
  readonly #claim: ReturnType<typeof claimOf>;
  readonly #leases: ReturnType<typeof leasesOf>;
  readonly #upkeep: Upkeep;
  readonly #lookups: Lookups;
  readonly #letters: DeadLetters;
  readonly #bringBack: Control["bringBack"];
  readonly due: Control["due"];
  readonly changed: Control["changed"];
  readonly unknown: Control["unknown"];
  readonly pause: Control["pause"];
  readonly resume: Control["resume"];
  readonly rest: Control["rest"];
  readonly cancel: Control["cancel"];
  readonly pending: Control["pending"];
  readonly followClock: Store["followClock"];
  readonly alive: Store["alive"];
  readonly workers: Store["workers"];
  #isClosed = false;
  /** After which old dead letter `prune` goes on. */
  #afterDead: Place | undefined;
  /** After which row of a listener it goes on; from the first one if it is empty. */
  #afterListener = "";

  constructor(
    db: OpenSqliteDatabase,
    { pollMs, patienceMs, clock }: { pollMs: number; patienceMs: number; clock: Clock },
  ) {
    this.#db = db;
    this.#clock = clock;
    const checkFile = withCodes(() => fileCheck(db));
    this.#checkFile = checkFile;
    this.#waker = createWaker(db, { pollMs, checkFile });
    this.#commit = groupCommit(db, { failure: unavailable, patienceMs });
    this.#enqueueOver = eventWriters(db);
    this.#claim = claimOf(db);
    this.#leases = leasesOf(db);
    this.#upkeep = new Upkeep(db);
    this.#lookups = lookups(db);
    const calls = {
      changing: <Value>(work: () => Value) => this.#changing(work),
      reading: <Value>(work: () => Value) => this.#reading(work),
      clock,
    };
    this.#letters = new DeadLetters(db, calls);
    const control = listenerControl(db, calls);
    this.#bringBack = control.bringBack;
    this.due = control.due;
    this.changed = control.changed;
    this.unknown = control.unknown;
    this.pause = control.pause;
    this.resume = control.resume;
    this.rest = control.rest;
    this.cancel = control.cancel;
    this.pending = control.pending;
    this.followClock = clockFollower(db, calls);
    const { alive, workers } = seenWorkers(db, { ...calls, changing: (work) => this.#group(work) });
    this.alive = alive;
    this.workers = workers;
  }

  readonly enqueue: Store["enqueue"] = (events, tx) => {
    if (tx === undefined) {
      const own = [...events];
      return this.#changing(() => this.#enqueueOver(this.#db)(own, this.#clock.now()));
    }
    const add = this.#enqueueOver(tx);
    withCodes(this.#checkFile);
    withCodes(() => inSavepoint(tx, () => add(events, this.#clock.now())));
    this.#waker.wakeSoon();
    return undefined;
  };

  readonly claim: Store["claim"] = (request) => {
    const own = { ...request, listeners: new Map(request.listeners) };
    return this.#group(() => this.#claim(own, this.#clock.now()));
  };

  readonly markDelivered: Store["markDelivered"] = (deliveries) => {
    const own = [...deliveries];
    return this.#changing(() => this.#leases.markDelivered(own, this.#clock.now()));
  };

  readonly reschedule: Store["reschedule"] = (lease, at, attempt) =>
    this.#group(() => this.#leases.reschedule(lease, at, attempt, this.#clock.now()));

  readonly fail: Store["fail"] = (lease, failure) =>
    this.#changing(() => this.#leases.fail(lease, failure, this.#clock.now()));

  readonly release: Store["release"] = (held) => {
    const own = [...held];
    return this.#changing(() => this.#leases.release(own));
  };

  readonly leases: Store["leases"] = async (listener, ids) =>
    this.#reading(() => this.#lookups.leases(listener, ids));

  readonly expire: Store["expire"] = (windows) => {
    const own = new Map(windows);
    return this.#changing(() => this.#upkeep.expire(own, this.#clock.now()));
  };

  readonly redrive: Store["redrive"] = (filter, windowMs, options = {}) =>
    this.#letters.redrive(filterCopy(filter), windowMs, options);

  readonly drop: Store["drop"] = (filter, options = {}) => this.#letters.drop(filterCopy(filter), options);

  readonly deadLetters: Store["deadLetters"] = (filter = {}, { limit = Number.POSITIVE_INFINITY } = {}) =>
    this.#letters.list(filterCopy(filter), limit);

  readonly find: Store["find"] = async (id) => this.#reading(() => this.#lookups.find(id, this.#clock.now()));

  readonly stats: Store["stats"] = async () => {
    const stats: ListenerStats[] = [];
    let after: string | undefined = "";
    while (after !== undefined) {
      const from: string = after;
      const page = this.#reading(() => this.#lookups.counts(from, this.#clock.now()));
      for (let left = page.listeners; left.length > 0; ) {
        const seen = this.#reading(() => this.#lookups.stats(left, this.#clock.now()));
        stats.push(...seen);
        left = left.slice(seen.length);
        if (left.length > 0 || page.next !== undefined) await nextTurn(); // many take long
      }
      after = page.next;
    }
    return stats;
  };

  readonly now: Store["now"] = async () => this.#clock.now();

  readonly onWork: Store["onWork"] = (wake) => this.#waker.subscribe(wake);

  readonly prune: Store["prune"] = async (before) => {
    const own = { ...before };
    await this.#bringBack(); // a process may have ended while it did that
    // All in one transaction, so that a call that fails has removed nothing.
    const first = await this.#changing(() => ({
      ended: this.#upkeep.prune(own, this.#clock.now()),
      dead: this.#upkeep.pruneDead(own.dead, this.#afterDead),
      listener: this.#upkeep.pruneListeners(this.#afterListener, this.#clock.now()),
    }));
    let { dead } = first;
    // Only what was committed is passed.
    this.#afterListener = first.listener;
    this.#afterDead = dead.next;
    for (let page = 1; first.ended + dead.removed === 0 && this.#afterDead && page < HELD_PAGES; page++) {
      dead = await this.#changing(() => this.#upkeep.pruneDead(own.dead, this.#afterDead));
      this.#afterDead = dead.next;
    }
    return first.ended + dead.removed;
  };

  readonly close: Store["close"] = async () => {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#waker.stop();
    // Earlier calls run first; their callers get their errors.
    await this.#commit(() => {}).catch(() => {});
    this.#db.close();
  };

  #group<Value>(work: () => Value): Promise<Value> {
    return this.#commit(() => this.#inFile(work));
  }

  /** Runs a change after which events may be due. */
  async #changing<Value>(work: () => Value): Promise<Value> {
    const value = await this.#group(work);
    this.#waker.wakeSoon();
    return value;
  }

  #reading<Value>(work: () => Value): Value {
    return withCodes(() => this.#inFile(work));
  }

  #inFile<Value>(work: () => Value): Value {
    this.#checkFile();
    return work();
  }
}

/** The enqueueing over each connection, which is checked when it is first used. */
function eventWriters(own: SqliteDatabase): (db: SqliteDatabase) => ReturnType<typeof eventWriter> {
  const known = new WeakMap([[own, eventWriter(own)]]);
  return (db) => {
    const found = known.get(db);
    if (found) return found;
    if (typeof db?.prepare !== "function" || typeof db.exec !== "function")
      throw new TypeError("tx must be a SQLite connection with exec() and prepare()");
    if (!withCodes(() => isDurable(db)))
      throw new TypeError(
        "tx needs PRAGMA synchronous = FULL: without it a power failure can undo what was committed",
      );
    const made = eventWriter(db);
    known.set(db, made);
    return made;
  };
}

/** Questions that change nothing; none gets slower with the number of events. See `OutboxStore`. */
interface Lookups {
  find(id: string, now: number): OutboxEntry[];
  leases(listener: string, ids: readonly string[]): ReturnType<typeof heldLease>[];
  /** Some of the listeners that have events or are paused, by their names, and after which there are more. */
  counts(after: string, now: number): { readonly listeners: Counted[]; readonly next: string | undefined };
  /** Of the first ones at least, as many as one turn of the event loop has time for. */
  stats(listeners: readonly Counted[], now: number): ListenerStats[];
}

/** What is counted of a listener, by the state of its events. */
interface Counted {
  readonly listener: string;
  readonly counts: ReadonlyMap<number, number>;
  readonly held: HeldRow | undefined;
}

/** How many rows of counts, and how many of listeners, are read at a time. */
const PAGE = 1_500;

/** How many listeners and leases are gone over in one turn of the event loop: some milliseconds. */
const A_TURN = 2_000;

function lookups(db: SqliteDatabase): Lookups {
  const show = entryReader(db);
  const ask = preparedQueries(db, {
    find: "SELECT * FROM hookproof_outbox WHERE id = ? ORDER BY listener",
    leases: `SELECT seq, listener, id, lease_token, lease_until, attempts FROM hookproof_outbox
      WHERE id IN (SELECT value FROM json_each(?)) AND listener = ? AND lease_token IS NOT NULL AND state = ${PENDING}`,
    counts: `SELECT listener, state, events FROM hookproof_outbox_counts WHERE listener > ?
      ORDER BY listener, state LIMIT ${PAGE}`,
    leased: "SELECT count(*) AS events FROM hookproof_outbox WHERE listener = ? AND lease_until > ?",
    held: `SELECT *, ${IS_HELD} OR unknown_since IS NOT NULL AS isHeld FROM hookproof_outbox_listeners
      WHERE listener > ? ORDER BY listener LIMIT ${PAGE}`,
    oldestMoved: `SELECT ready_at FROM hookproof_outbox
      WHERE listener = ? AND ${IS_MOVED} AND (lease_until IS NULL OR lease_until <= ?)
      ORDER BY ready_at LIMIT 1`,
    // One that is due later is among those that moved, or has no age yet.
    first: `SELECT ready_at FROM hookproof_outbox WHERE listener = ? AND ${IS_WAITING} AND visible_at <= ?
      ORDER BY visible_at LIMIT 1`,
  });

  function statsOf({ listener, counts, held }: Counted, now: number): ListenerStats {
    const [leased] = ask<{ events: number }>("leased", listener, now);
    const inFlight = leased?.events ?? 0;
    const waits = (counts.get(PENDING) ?? 0) > inFlight;
    const oldest = (waits ? (["oldestMoved", "first"] as const) : [])
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
    counts(after, now) {
      const rows = ask<{ listener: string; state: number; events: number }>("counts", after);
      const held = ask<HeldRow & { isHeld: number }>("held", now, after);
      // Of the last listener of a full page there may be more rows.
      const lasts = [
        rows.length === PAGE
          ? rows.findLast(({ listener }) => listener !== rows.at(-1)?.listener)
          : undefined,
        held.length === PAGE ? held.at(-1) : undefined,
      ].flatMap((row) => row?.listener ?? []);
      const next = lasts.sort(byBytes)[0];
      const isInside = ({ listener }: { readonly listener: string }) =>
        next === undefined || byBytes(listener, next) <= 0;
      const known = new Map<string, { counts: Map<number, number>; held: HeldRow | undefined }>();
      const of = (listener: string) => {
        const one = known.get(listener) ?? { counts: new Map(), held: undefined };
        known.set(listener, one);
        return one;
      };
      for (const { listener, state, events } of rows.filter(isInside))
        if (events > 0) of(listener).counts.set(state, events);
      for (const row of held.filter(isInside))
        if (row.isHeld && (row.paused_at !== null || known.has(row.listener))) of(row.listener).held = row;
      return { listeners: [...known].map(([listener, one]) => ({ listener, ...one })), next };
    },
    stats(listeners, now) {
      const stats: ListenerStats[] = [];
      for (let left = A_TURN; left > 0 && stats.length < listeners.length; ) {
        const one = statsOf(listeners[stats.length] as Counted, now);
        stats.push(one);
        left -= 1 + one.inFlight;
      }
      return stats;
    },
  };
}

/** The order of SQLite's texts: that of their bytes in UTF-8, which is the order of their code points. */
function byBytes(a: string, b: string): number {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return Buffer.compare(left, right);
}
