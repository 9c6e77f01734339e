import { databaseFailure } from "../../primitives/database-call.js";
import type { DeadLetterFilter, OutboxStore } from "../outbox-store.js";
import { claiming } from "./claim.js";
import { Database, isCollision, type PostgresClient, type PostgresPool } from "./database.js";
import { deadLetters } from "./dead-letters.js";
import { enqueueing } from "./enqueue.js";
import { leasing } from "./leases.js";
import { lookups } from "./lookups.js";
import { isPrepared, outboxNames, prepareTables } from "./schema.js";
import { upkeep } from "./upkeep.js";
import { createWaker } from "./wake.js";

/** Options of `postgresStore`. */
export interface PostgresStoreOptions {
  /** A `Pool` of `pg`, with a listener for its `error` events; ending it is the caller's. */
  pool: PostgresPool;
  /** The schema of the outbox's tables; `hookproof` by default. Each outbox of a database has one. */
  schema?: string | undefined;
  /** A call that takes longer rejects, and its connection is closed; 5,000 ms by default. */
  timeoutMs?: number | undefined;
}

/**
 * An outbox store in PostgreSQL 13 or later, for any number of machines. Events are enqueued inside the caller's
 * transaction, over a client of `pg` or whatever else has a `query(text, values)`; times are the database's own. The
 * tables are created, and updated, at the first call.
 *
 * It works behind PgBouncer in transaction mode. Of a pool of four connections or more one listens for notifications,
 * where those come through; without it workers ask ten times a second.
 *
 * Its methods reject with a `HookproofError`: OUTBOX_UNAVAILABLE if nothing was changed, OUTBOX_OUTCOME_UNKNOWN if it
 * may have been, OUTBOX_NEWER when a newer version has made the tables. Inside a caller's transaction
 * `enqueue` has no time limit of its own, and passes on a serialization failure or deadlock (SQLSTATE 40001, 40P01)
 * as the driver gave it, so that the caller can repeat the transaction.
 *
 * @example
 * ```ts
 * import { postgresStore } from "hookproof/outbox";
 * import { Pool } from "pg";
 *
 * const pool = new Pool({ connectionString: "postgres://localhost/app" });
 * pool.on("error", (error) => console.error(error.message)); // a lost connection; the pool makes a new one
 * const store = postgresStore({ pool });
 * ```
 */
export function postgresStore({
  pool,
  schema = "hookproof",
  timeoutMs = 5_000,
}: PostgresStoreOptions): OutboxStore<PostgresClient> {
  if (typeof pool?.connect !== "function") throw new TypeError("pool must be a Pool of pg");
  if (!Number.isSafeInteger(timeoutMs) || timeoutMs < 1)
    throw new RangeError("timeoutMs must be a whole number, 1 or more");
  const names = outboxNames(schema);
  const database = new Database(pool, timeoutMs);
  const enqueue = enqueueing(names);
  const claim = claiming(database, names);
  const leases = leasing(database, names);
  const letters = deadLetters(database, names);
  const ending = upkeep(database, names);
  const reads = lookups(database, names);
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

  /** Runs a call once the tables are there. */
  async function run<Value>(call: () => Promise<Value>): Promise<Value> {
    await prepare();
    return call();
  }

  /** As `run`, for what may make events due: here at once, and elsewhere if others would not look for it. */
  async function changing<Value>(wake: () => void, call: () => Promise<Value>): Promise<Value> {
    const value = await run(call);
    wake();
    return value;
  }

  /** Looks for the tables over the caller's own client first: it may hold the pool's last connection. */
  async function enqueueInside(client: PostgresClient, events: Parameters<typeof enqueue.inTransaction>[1]) {
    try {
      if (!prepared && (await isPrepared(client, names))) prepared = Promise.resolve();
      await prepare();
      await enqueue.inTransaction(client, events);
    } catch (error) {
      throw isCollision(error) ? error : databaseFailure("OUTBOX_UNAVAILABLE", error);
    }
  }

  return {
    async enqueue(events, tx) {
      if (tx !== undefined) requireTransaction(tx, pool);
      const given = [...events];
      if (given.length === 0) return;
      if (tx === undefined) return changing(wakeAll, () => enqueue.byItself(database, given));
      await enqueueInside(tx, given);
      wakeSoon();
    },
    claim(request) {
      const given = { ...request, listeners: new Map(request.listeners) };
      return run(() => claim(given));
    },
    complete(completions) {
      const given = [...completions];
      return changing(wakeHere, () => leases.complete(given));
    },
    reschedule: (lease, at, attempt) => run(() => leases.reschedule(lease, at, attempt)),
    bury: (lease, burial) => changing(wakeHere, () => leases.bury(lease, burial)),
    expire(windows) {
      const given = new Map(windows);
      return changing(wakeHere, () => ending.expire(given));
    },
    release(leasesOf) {
      const given = [...leasesOf];
      return changing(wakeHere, () => leases.release(given));
    },
    redrive(filter, options) {
      const given = copyOf(filter);
      return changing(wakeAll, () => letters.redrive(given, options));
    },
    drop(filter, options = {}) {
      const given = copyOf(filter);
      return changing(wakeAll, () => letters.drop(given, options));
    },
    async *dead(filter = {}, { limit = Number.POSITIVE_INFINITY } = {}) {
      await prepare();
      yield* letters.list(filter, limit);
    },
    find: (id) => run(() => reads.find(id)),
    stats: () => run(() => reads.stats()),
    now: () => run(() => reads.now()),
    onWork: (wake) => waker.subscribe(wake),
    prune: (before) => run(() => ending.prune(before)),
    async close() {
      waker.stop();
    },
  };
}

/** A filter as it is now. */
function copyOf({ ids, ...filter }: DeadLetterFilter): DeadLetterFilter {
  return { ...filter, ids: ids && [...ids] };
}

/** Refuses what runs each statement in a transaction of its own. */
function requireTransaction(tx: PostgresClient, pool: PostgresPool): void {
  if (typeof tx?.query !== "function")
    throw new TypeError(
      "tx must be a client of pg inside a transaction, or have a query(text, values) of one",
    );
  const { totalCount, getTransactionStatus } = tx as { totalCount?: unknown; getTransactionStatus?: unknown };
  if ((tx as unknown) === pool || typeof totalCount === "number")
    throw new TypeError("tx must be a client inside a transaction, and not a pool");
  if (typeof getTransactionStatus === "function" && getTransactionStatus.call(tx) === "I")
    throw new TypeError("tx is a client without a transaction: run BEGIN on it first");
}
