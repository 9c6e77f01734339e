// An outbox store in PostgreSQL.

import { within } from "../../core/clock.js";
import { databaseFailure } from "../../core/errors.js";
import { isEventId } from "../../core/event.js";
import { checkOptions, checkWholeNumber, type OptionNames } from "../../core/options.js";
import {
  Database,
  isCollision,
  literal,
  type PostgresPool,
  type PostgresTransaction,
} from "../../postgres/database.js";
import { filterCopy } from "../engine.js";
import type { OutboxStore } from "../outbox-store.js";
import type { DeadLetter, DeadLetterFilter, OutboxEntry, OutboxEvent } from "../records.js";
import { clockFollower } from "./clock.js";
import { ListenerControl } from "./control.js";
import { DeadLetters } from "./dead-letters.js";
import { PostgresDueLooks } from "./due.js";
import { enqueueStatements } from "./enqueue.js";
import { type EntryRow, entryColumns, outboxEntry } from "./entries.js";
import { storeFailure } from "./failures.js";
import { claimOf, leasesOf } from "./leases.js";
import { looks } from "./looks.js";
import { type OutboxNames, OWN_PATH, outboxNames } from "./names.js";
import { type HeldRow, heldLease, ms } from "./rows.js";
import { isPrepared, prepareTables } from "./schema.js";
import { statistics } from "./stats.js";
import { OutsideTransaction, requireTransaction, transactionOf } from "./transaction.js";
import { Upkeep } from "./upkeep.js";
import { createWaker } from "./wake.js";
import { seenWorkers } from "./workers.js";

/** Options of `postgresStore`. */
export interface PostgresStoreOptions {
  /** A `Pool` of `pg` with a `connectionTimeoutMillis`. The store does not end it. */
  pool: PostgresPool;
  /** The schema of the outbox's tables; `hookproof` by default. Each outbox of a database has one. */
  schema?: string | undefined;
  /** A call that takes longer, in milliseconds, rejects, and its connection is closed; 5,000 by default. */
  timeoutMs?: number | undefined;
}

const NAMES: OptionNames<PostgresStoreOptions> = { pool: 1, schema: "string", timeoutMs: "number" };

/**
 * An outbox store in PostgreSQL 13 or later, for any number of machines. To enqueue inside a transaction of yours, pass
 * as `tx` its client of `pg`, or a function that runs a statement in the transaction of your ORM (`PostgresQuery`). All
 * times are the database's. The first call makes the tables, or brings them up to date.
 *
 * The store works behind PgBouncer in transaction mode. If the pool has four connections or more, one of them listens
 * for notifications; where those do not arrive, workers find events by asking ten times a second.
 *
 * Its methods reject with a `HookproofError`: OUTBOX_UNAVAILABLE if nothing was changed, OUTBOX_OUTCOME_UNKNOWN if
 * something may have been changed, OUTBOX_NEWER if the tables are of a newer version, OUTBOX_ENCODING if tables are to be
 * made in a database that is not encoded in UTF8. Inside a caller's transaction
 * `enqueue` has no time limit, and rejects with the driver's own error for a serialization failure or a deadlock
 * (SQLSTATE 40001, 40P01), so that the caller can repeat the transaction.
 *
 * @throws {TypeError | RangeError} for options that cannot work
 *
 * @example
 * ```ts
 * import { postgresStore } from "hookproof/outbox/postgres";
 * import { Pool } from "pg";
 *
 * const pool = new Pool({ connectionString: "postgres://localhost/app", connectionTimeoutMillis: 5_000 });
 * const store = postgresStore({ pool });
 * ```
 */
export function postgresStore(options: PostgresStoreOptions): OutboxStore<PostgresTransaction> {
  checkOptions("postgresStore", options, NAMES);
  const { pool, schema = "hookproof", timeoutMs = 5_000 } = options;
  checkWholeNumber("timeoutMs", timeoutMs);
  return new PostgresStore(pool, outboxNames(schema), timeoutMs);
}

type Store = Required<OutboxStore<PostgresTransaction>>;

/** Its functions are its own and bound, because callers spread a store into one that does some of it otherwise. */
class PostgresStore implements Store {
  readonly #pool: PostgresPool;
  readonly #names: OutboxNames;
  readonly #timeoutMs: number;
  readonly #database: Database;
  readonly #enqueue: ReturnType<typeof enqueueStatements>;
  readonly #claim: ReturnType<typeof claimOf>;
  readonly #leases: ReturnType<typeof leasesOf>;
  readonly #letters: DeadLetters;
  readonly #upkeep: Upkeep;
  readonly #dueLooks: PostgresDueLooks;
  readonly #control: ListenerControl;
  readonly #follow: ReturnType<typeof clockFollower>;
  readonly #lookups: Lookups;
  readonly #statistics: ReturnType<typeof statistics>;
  readonly #waker: ReturnType<typeof createWaker>;
  readonly #workers: ReturnType<typeof seenWorkers>;
  #prepared: Promise<void> | undefined;
  #isPrepared = false;

  constructor(pool: PostgresPool, names: OutboxNames, timeoutMs: number) {
    this.#pool = pool;
    this.#names = names;
    this.#timeoutMs = timeoutMs;
    const database = new Database(pool, timeoutMs, storeFailure(names), OWN_PATH);
    this.#database = database;
    const seen = looks(names);
    this.#enqueue = enqueueStatements(names);
    this.#claim = claimOf(database, names, seen);
    this.#leases = leasesOf(database, names);
    this.#letters = new DeadLetters(database, names);
    this.#upkeep = new Upkeep(database, names);
    this.#dueLooks = new PostgresDueLooks(database, names);
    this.#control = new ListenerControl(database, names, this.#dueLooks);
    this.#follow = clockFollower(database, names);
    this.#lookups = lookups(database, names);
    this.#statistics = statistics(database, names, seen);
    this.#waker = createWaker(database, names, pool.options?.max ?? 10);
    this.#workers = seenWorkers(database, names);
  }

  readonly enqueue: Store["enqueue"] = async (events, tx) => {
    const given = [...events];
    if (tx !== undefined) transactionOf(tx, this.#pool);
    if (given.length === 0) return;
    const { wakeAll, wakeSoon } = this.#waker;
    if (tx === undefined) return this.#changing(wakeAll, () => this.#enqueue.byItself(this.#database, given));
    await this.#enqueueInside(tx, given);
    wakeSoon();
  };

  readonly claim: Store["claim"] = (request) => {
    const given = { ...request, listeners: new Map(request.listeners) };
    return this.#run(() => this.#claim(given));
  };

  readonly markDelivered: Store["markDelivered"] = (deliveries) => {
    const given = [...deliveries];
    return this.#changing(this.#waker.wakeHere, () => this.#leases.markDelivered(given));
  };

  readonly reschedule: Store["reschedule"] = (lease, at, attempt) =>
    this.#run(() => this.#leases.reschedule(lease, at, attempt));

  readonly fail: Store["fail"] = (lease, failure) =>
    this.#changing(this.#waker.wakeHere, () => this.#leases.fail(lease, failure));

  readonly expire: Store["expire"] = (windows) => {
    const given = new Map(windows);
    return this.#changing(this.#waker.wakeHere, () => this.#upkeep.expire(given));
  };

  readonly leases: Store["leases"] = (listener, ids) => {
    const given = [...ids];
    return this.#run(() => this.#lookups.leases(listener, given));
  };

  readonly release: Store["release"] = (leases) => {
    const given = [...leases];
    return this.#changing(this.#waker.wakeHere, () => this.#leases.release(given));
  };

  readonly redrive: Store["redrive"] = (filter, windowMs, options = {}) => {
    const given = filterCopy(filter);
    return this.#changing(this.#waker.wakeAll, () => this.#letters.redrive(given, windowMs, options));
  };

  readonly drop: Store["drop"] = (filter, options = {}) => {
    const given = filterCopy(filter);
    return this.#changing(this.#waker.wakeAll, () => this.#letters.drop(given, options));
  };

  readonly deadLetters: Store["deadLetters"] = (filter = {}, { limit = Number.POSITIVE_INFINITY } = {}) =>
    this.#listed(filter, limit);

  readonly due: Store["due"] = (after, max) => this.#run(() => this.#dueLooks.due(after, max));

  readonly changed: Store["changed"] = (listener) =>
    this.#changing(this.#waker.wakeAll, () => this.#control.changed(listener));

  readonly unknown: Store["unknown"] = (listeners) => {
    const given = [...listeners];
    return this.#run(() => this.#control.unknown(given));
  };

  readonly pause: Store["pause"] = (...given) => this.#run(() => this.#control.pause(...given));

  readonly resume: Store["resume"] = (listener) =>
    this.#changing(this.#waker.wakeAll, () => this.#control.resume(listener));

  readonly rest: Store["rest"] = (listener, ms) => this.#run(() => this.#control.rest(listener, ms));

  readonly cancel: Store["cancel"] = (filter) => {
    const given = filterCopy(filter);
    return this.#changing(this.#waker.wakeAll, () => this.#control.cancel(given));
  };

  readonly pending: Store["pending"] = (filter, limit) => {
    const given = filterCopy(filter);
    return this.#run(() => this.#control.pending(given, limit));
  };

  readonly find: Store["find"] = (id) => this.#run(() => this.#lookups.find(id));

  readonly stats: Store["stats"] = () => this.#run(this.#statistics);

  readonly now: Store["now"] = () => this.#run(() => this.#lookups.now());

  readonly followClock: Store["followClock"] = async () => {
    const backMs = await this.#run(this.#follow);
    if (backMs === 0) return 0;
    this.#waker.wakeAll();
    await this.#workers.followClock(backMs);
    return backMs;
  };

  readonly onWork: Store["onWork"] = (wake) => this.#waker.subscribe(wake);

  readonly prune: Store["prune"] = (before) =>
    this.#run(async () => {
      await this.#dueLooks.bringBack(); // a process may have ended while it did that
      return this.#upkeep.prune(before);
    });

  readonly alive: Store["alive"] = (...given) => this.#run(() => this.#workers.alive(...given));

  readonly workers: Store["workers"] = () => this.#run(this.#workers.workers);

  readonly close: Store["close"] = async () => {
    this.#waker.stop();
  };

  /** Nobody waits longer than a call may take; the tables are made all the same, for the calls that come after. */
  async #prepare(): Promise<void> {
    this.#prepared ??= prepareTables(this.#database, this.#names).then(
      () => {
        this.#isPrepared = true;
      },
      (error) => {
        this.#prepared = undefined;
        throw error;
      },
    );
    if (this.#isPrepared) return;
    const making = new Error("Its tables are being made, or brought up to date");
    await within(this.#prepared, this.#timeoutMs, () => databaseFailure("OUTBOX_UNAVAILABLE", making));
  }

  /** Runs a call after the tables are made. */
  async #run<Value>(call: () => Promise<Value>): Promise<Value> {
    await this.#prepare();
    return call();
  }

  /** Runs a call after which events may be due, and wakes workers. */
  async #changing<Value>(wake: () => void, call: () => Promise<Value>): Promise<Value> {
    const value = await this.#run(call);
    wake();
    return value;
  }

  async *#listed(filter: DeadLetterFilter, limit: number): AsyncIterable<DeadLetter> {
    await this.#prepare();
    yield* this.#letters.list(filter, limit);
  }

  /**
   * Looks for the tables over the caller's client first, because that may be the pool's last connection: who makes them
   * may wait for one as well.
   */
  async #enqueueInside(tx: PostgresTransaction, events: readonly OutboxEvent[]): Promise<void> {
    const client = transactionOf(tx, this.#pool);
    try {
      if (!this.#isPrepared && (await isPrepared(client, this.#names))) {
        this.#isPrepared = true;
        this.#prepared ??= Promise.resolve();
      }
      if (!this.#isPrepared) await this.#prepare();
      await requireTransaction(tx, client, this.#names);
      await this.#enqueue.inTransaction(client, events);
    } catch (error) {
      if (isCollision(error) || error instanceof OutsideTransaction) throw error;
      throw storeFailure(this.#names)(error, false);
    }
  }
}

/** Questions that change nothing; none gets slower with the number of events. See `OutboxStore`. */
interface Lookups {
  find(id: string): Promise<OutboxEntry[]>;
  leases(listener: string, ids: readonly string[]): Promise<ReturnType<typeof heldLease>[]>;
  now(): Promise<number>;
}

function lookups(database: Database, names: OutboxNames): Lookups {
  const { event } = names;
  return {
    async find(id) {
      if (!isEventId(id)) return [];
      const rows = await database.search<EntryRow>(
        `SELECT ${entryColumns(names)} FROM ${event} e WHERE e.id = '${id}'::uuid ORDER BY e.seq`,
      );
      return rows.map(outboxEntry);
    },
    async leases(listener, ids) {
      const known = ids.filter((id) => isEventId(id));
      if (known.length === 0) return [];
      const rows = await database.search<HeldRow>(
        `SELECT e.id, e.listener, e.token, e.ordering_key IS NOT NULL AS keyed, e.attempts, ${ms("coalesce(e.leased_until, now())")} AS leased_until
         FROM ${event} e WHERE e.id = ANY (ARRAY[${known.map((id) => `'${id}'::uuid`)}]) AND e.listener = ${literal(listener)}
           AND e.token IS NOT NULL AND e.ended_at IS NULL`,
      );
      return rows.map(heldLease);
    },
    async now() {
      const [row] = await database.read<{ now: number }>(`SELECT ${ms("now()")} AS now`);
      return row?.now ?? Number.NaN;
    },
  };
}
