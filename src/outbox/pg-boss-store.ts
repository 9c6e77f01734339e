import { withinLimit } from "../primitives/database-call.js";
import type { OutboxStore } from "./outbox-store.js";
import { claimEvents } from "./pg-boss-claim.js";
import {
  type Boss,
  inTransaction,
  outboxFailure,
  type PgBossTransaction,
  rerun,
  sqlRunner,
} from "./pg-boss-database.js";
import { buryEvent, completeEvents, releaseEvents, rescheduleEvent } from "./pg-boss-endings.js";
import { storeEvents } from "./pg-boss-enqueue.js";
import { outboxJobs } from "./pg-boss-jobs.js";
import { findEvent, nowOf, statsOf } from "./pg-boss-lookups.js";
import { deadLetters, dropEvents, redriveEvents } from "./pg-boss-redrive.js";
import { prepareSchema, quotedSchema } from "./pg-boss-schema.js";
import type { OutboxTables } from "./pg-boss-tables.js";
import { expireEvents, pruneEvents } from "./pg-boss-upkeep.js";
import { listenForWork } from "./pg-boss-wake.js";

/** Options of `pgBossStore`. */
export interface PgBossStoreOptions {
  /** A started `PgBoss` of pg-boss 12.35; starting and stopping it is the caller's. */
  boss: Boss;
  /** The schema of the outbox's own tables; `hookproof_outbox` by default. Each outbox of a database has one. */
  schema?: string | undefined;
  /** A call that takes longer rejects; 10,000 ms by default. */
  timeoutMs?: number | undefined;
}

/**
 * An outbox store in PostgreSQL, on pg-boss, for any number of machines. Events are enqueued inside the caller's
 * transaction; times are the database's own. The tables are created, and updated, at the first call.
 *
 * Its methods reject with a `HookproofError` OUTBOX_UNAVAILABLE when the database fails or is late, and with
 * OUTBOX_NEWER when a newer version has made the tables.
 *
 * @example
 * ```ts
 * import { pgBossStore } from "hookproof/outbox";
 * import { PgBoss } from "pg-boss";
 *
 * const boss = new PgBoss("postgres://localhost/app");
 * boss.on("error", (error) => console.error(error.message)); // a lost connection; pg-boss makes a new one
 * await boss.start();
 * const store = pgBossStore({ boss });
 * ```
 */
export function pgBossStore({
  boss,
  schema: name = "hookproof_outbox",
  timeoutMs = 10_000,
}: PgBossStoreOptions): OutboxStore<PgBossTransaction> {
  if (typeof boss?.getDb !== "function") throw new TypeError("boss must be a PgBoss of pg-boss 12.35");
  if (!Number.isSafeInteger(timeoutMs) || timeoutMs < 1)
    throw new RangeError("timeoutMs must be a whole number, 1 or more");
  const schema = quotedSchema(name);
  const database = boss.getDb();
  const tables: OutboxTables = {
    database,
    jobs: outboxJobs(boss, name),
    events: `${schema}.event`,
    enqueue: `${schema}.enqueue`,
    sequence: `'${schema}.event_seq'`,
    channel: name,
    transaction: (work) => inTransaction(database, work),
  };
  let prepared: Promise<void> | undefined;
  const listening = new Set<() => void>();

  /** Runs a call once the tables are there. */
  function run<Value>(call: () => Promise<Value>): Promise<Value> {
    const prepareAndCall = async () => {
      prepared ??= prepareSchema(database, name).catch((error) => {
        prepared = undefined;
        throw error;
      });
      await prepared;
      return call();
    };
    return withinLimit(timeoutMs, prepareAndCall, outboxFailure);
  }

  return {
    async enqueue(events, tx) {
      const db = tx === undefined ? undefined : sqlRunner(tx);
      if (events.length === 0) return;
      await run(async () => {
        await tables.jobs.prepare(events.map(({ listener }) => listener));
        if (db) await storeEvents(tables, db, events);
        else await rerun(() => storeEvents(tables, database, events));
      });
    },
    claim: (request) => run(() => claimEvents(tables, request)),
    complete: (completions) => run(() => completeEvents(tables, completions)),
    reschedule: (lease, at, attempt) => run(() => rescheduleEvent(tables, lease, at, attempt)),
    bury: (lease, burial) => run(() => buryEvent(tables, lease, burial)),
    expire: (windows) => run(() => expireEvents(tables, windows)),
    release: (leases) => run(() => releaseEvents(tables, leases)),
    redrive: (filter, options) => run(() => redriveEvents(tables, filter, options)),
    drop: (filter, options) => run(() => dropEvents(tables, filter, options)),
    async *dead(filter = {}, { limit = Number.POSITIVE_INFINITY } = {}) {
      for (let page = deadLetters(tables, filter, limit); ; ) {
        const { done, value } = await run(() => page.next());
        if (done) return;
        yield value;
      }
    },
    find: (id) => run(() => findEvent(tables, id)),
    stats: () => run(() => statsOf(tables)),
    now: () => run(() => nowOf(tables)),
    onWork(wake) {
      const stop = listenForWork(database, tables.channel, wake);
      listening.add(stop);
      return () => {
        listening.delete(stop);
        stop();
      };
    },
    prune: (before) => run(() => pruneEvents(tables, before)),
    async close() {
      for (const stop of listening) stop();
      listening.clear();
    },
  };
}
