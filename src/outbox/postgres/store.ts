// An outbox store in PostgreSQL.
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
import type { ListenerStats, OutboxEntry } from "../records.js";
import { clockFollower } from "./clock.js";
import { ListenerControl } from "./control.js";
import { DeadLetters } from "./dead-letters.js";
import { PostgresDueLooks } from "./due.js";
import { enqueueing } from "./enqueue.js";
import { type EntryRow, entryColumns, outboxEntry } from "./entries.js";
import { storeFailure } from "./failures.js";
import { lookedFrom } from "./floor.js";
import { claiming, leasing } from "./leases.js";
import { type Looks, looks } from "./looks.js";
import { type OutboxNames, OWN_PATH, outboxNames } from "./names.js";
import { type HeldRow, heldLease, ms } from "./rows.js";
import { IS_BEHIND, isPrepared, prepareTables } from "./schema.js";
import { OutsideTransaction, requireTransaction, transactionOf } from "./transaction.js";
import { Upkeep } from "./upkeep.js";
import { createWaker } from "./wake.js";

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
  const names = outboxNames(schema);
  const failure = storeFailure(names);
  const database = new Database(pool, timeoutMs, failure, OWN_PATH);
  const enqueue = enqueueing(names);
  const seen = looks(names);
  const claim = claiming(database, names, seen);
  const leases = leasing(database, names);
  const letters = new DeadLetters(database, names);
  const ending = new Upkeep(database, names);
  const dueLooks = new PostgresDueLooks(database, names);
  const control = new ListenerControl(database, names, dueLooks);
  const follow = clockFollower(database, names);
  const reads = lookups(database, names, seen);
  const waker = createWaker(database, names, pool.options?.max ?? 10);
  const { wakeAll, wakeHere, wakeSoon } = waker;
  let prepared: Promise<void> | undefined;

  function prepare(): Promise<void> {
    prepared ??= prepareTables(database, names).catch((error) => {
      prepared = undefined;
      throw error;
    });
    return prepared;
  }

  /** Runs a call after the tables are made. */
  async function run<Value>(call: () => Promise<Value>): Promise<Value> {
    await prepare();
    return call();
  }

  /** Runs a call after which events may be due, and wakes workers. */
  async function changing<Value>(wake: () => void, call: () => Promise<Value>): Promise<Value> {
    const value = await run(call);
    wake();
    return value;
  }

  /** Looks for the tables over the caller's client first, because that may be the pool's last connection. */
  async function enqueueInside(tx: PostgresTransaction, events: Parameters<typeof enqueue.inTransaction>[1]) {
    const client = transactionOf(tx, pool);
    try {
      if (!prepared && (await isPrepared(client, names))) prepared = Promise.resolve();
      await prepare();
      await requireTransaction(tx, client, names);
      await enqueue.inTransaction(client, events);
    } catch (error) {
      throw isCollision(error) || error instanceof OutsideTransaction ? error : failure(error, false);
    }
  }

  return {
    async enqueue(events, tx) {
      const given = [...events];
      if (tx !== undefined) transactionOf(tx, pool);
      if (given.length === 0) return;
      if (tx === undefined) return changing(wakeAll, () => enqueue.byItself(database, given));
      await enqueueInside(tx, given);
      wakeSoon();
    },
    claim(request) {
      const given = { ...request, listeners: new Map(request.listeners) };
      return run(() => claim(given));
    },
    markDelivered(deliveries) {
      const given = [...deliveries];
      return changing(wakeHere, () => leases.markDelivered(given));
    },
    reschedule: (lease, at, attempt) => run(() => leases.reschedule(lease, at, attempt)),
    fail: (lease, failure) => changing(wakeHere, () => leases.fail(lease, failure)),
    expire(windows) {
      const given = new Map(windows);
      return changing(wakeHere, () => ending.expire(given));
    },
    leases(listener, ids) {
      const given = [...ids];
      return run(() => reads.leases(listener, given));
    },
    release(leasesOf) {
      const given = [...leasesOf];
      return changing(wakeHere, () => leases.release(given));
    },
    redrive(filter, windowMs, options = {}) {
      const given = filterCopy(filter);
      return changing(wakeAll, () => letters.redrive(given, windowMs, options));
    },
    drop(filter, options = {}) {
      const given = filterCopy(filter);
      return changing(wakeAll, () => letters.drop(given, options));
    },
    async *deadLetters(filter = {}, { limit = Number.POSITIVE_INFINITY } = {}) {
      await prepare();
      yield* letters.list(filter, limit);
    },
    due: (after, most) => run(() => dueLooks.due(after, most)),
    changed: (listener) => changing(wakeAll, () => control.changed(listener)),
    unknown(listeners) {
      const given = [...listeners];
      return run(() => control.unknown(given));
    },
    pause: (...given) => run(() => control.pause(...given)),
    resume: (listener) => changing(wakeAll, () => control.resume(listener)),
    rest: (listener, until) => run(() => control.rest(listener, until)),
    cancel(filter) {
      const given = filterCopy(filter);
      return changing(wakeAll, () => control.cancel(given));
    },
    pending(filter, limit) {
      const given = filterCopy(filter);
      return run(() => control.pending(given, limit));
    },
    find: (id) => run(() => reads.find(id)),
    stats: () => run(() => reads.stats()),
    now: () => run(() => reads.now()),
    async followClock() {
      const backMs = await run(follow);
      if (backMs > 0) wakeAll();
      return backMs;
    },
    onWork: (wake) => waker.subscribe(wake),
    prune: (before) =>
      run(async () => {
        await dueLooks.bringBack(); // a process may have ended while it did that
        return ending.prune(before);
      }),
    async close() {
      waker.stop();
    },
  };
}

type StatsRow = Pick<ListenerStats, "listener" | "pending" | "delivered" | "dead"> & {
  readonly in_flight: number;
  readonly oldest_age: number | null;
  readonly paused_at: number | null;
  readonly pause_reason: string | null;
  readonly rests_until: number | null;
  readonly unknown_since: number | null;
  readonly slowed: number | null;
};

function statsOf(row: StatsRow): ListenerStats {
  const { listener, pending, in_flight: inFlight, delivered, dead, oldest_age: oldestAgeMs } = row;
  const {
    paused_at: since,
    pause_reason: reason,
    rests_until: restsUntil,
    unknown_since: unknownSince,
    slowed: slowedMs,
  } = row;
  return {
    ...{ listener, pending, inFlight, delivered, dead, oldestAgeMs: Math.max(0, oldestAgeMs ?? 0) },
    ...(since !== null && { paused: { since, ...(reason !== null && { reason }) } }),
    ...(unknownSince !== null && { unknownSince }),
    ...(slowedMs !== null && { slowedMs }),
    ...(restsUntil !== null && { restsUntil }),
  };
}

/** Questions that change nothing; none gets slower with the number of events. See `OutboxStore`. */
interface Lookups {
  find(id: string): Promise<OutboxEntry[]>;
  leases(listener: string, ids: readonly string[]): Promise<ReturnType<typeof heldLease>[]>;
  stats(): Promise<ListenerStats[]>;
  now(): Promise<number>;
}

function lookups(database: Database, names: OutboxNames, seen: Looks): Lookups {
  const { event, tally, listener, floor } = names;
  const first = (where: string, order: string) =>
    `(SELECT e.ready_at FROM ${event} e WHERE e.listener = t.listener AND ${where} ORDER BY ${order} LIMIT 1)`;

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
    /** Of the waiting events that were never tried, the first one due is the oldest. */
    async stats() {
      const rows = await database.read<StatsRow>(
        `WITH counts AS (SELECT listener, sum(pending) AS pending, sum(delivered) AS delivered, sum(dead) AS dead
           FROM ${tally} GROUP BY listener),
         t AS (SELECT coalesce(c.listener, h.name) AS listener, coalesce(c.pending, 0) AS pending,
             coalesce(c.delivered, 0) AS delivered, coalesce(c.dead, 0) AS dead, h.paused_at, h.pause_reason, h.rest_until, h.unknown_since
           FROM counts c FULL JOIN ${listener} h ON h.name = c.listener),
         leased AS (SELECT e.listener, count(*) FILTER (WHERE e.leased_until > now()) AS held,
             min(e.ready_at) FILTER (WHERE e.leased_until <= now()) AS oldest
           FROM ${event} e WHERE e.state = 'leased' AND e.leased_until > ${seen.leasesFrom()} GROUP BY e.listener)
         SELECT t.listener, (t.pending - coalesce(l.held, 0))::float8 AS pending,
           coalesce(l.held, 0)::float8 AS in_flight, t.delivered::float8 AS delivered, t.dead::float8 AS dead,
           ${ms(`now() - least(${first(`e.state = 'waiting' AND e.due_at >= ${lookedFrom("low")}`, "e.due_at")},
             ${first("e.state = 'later'", "e.due_at")},
             ${first("e.state IN ('waiting', 'later') AND e.first_attempt_at IS NOT NULL", "e.first_attempt_at")},
             ${first(IS_BEHIND, "e.ready_at")}, l.oldest)`)} AS oldest_age,
           ${ms("t.paused_at")} AS paused_at, t.pause_reason, ${ms("t.unknown_since")} AS unknown_since,
           ${ms("now() - low.noted_at")} AS slowed,
           ${ms("CASE WHEN t.rest_until > now() THEN t.rest_until END")} AS rests_until
         FROM t LEFT JOIN leased l ON l.listener = t.listener
           LEFT JOIN ${floor} low ON low.listener = t.listener AND low.look_at < 'infinity'
         WHERE t.pending <> 0 OR t.delivered <> 0 OR t.dead <> 0 OR t.paused_at IS NOT NULL
         ORDER BY t.listener`,
      );
      return rows.map(statsOf);
    },
    async now() {
      const [row] = await database.read<{ now: number }>(`SELECT ${ms("now()")} AS now`);
      return row?.now ?? Number.NaN;
    },
  };
}
