import type { DeadLetterFilter, OutboxStore } from "../outbox/outbox-store.js";
import { type Clock, systemClock } from "../primitives/clock.js";
import { inSavepoint, type SqliteDatabase } from "./sqlite-database.js";
import { groupCommit } from "./sqlite-group-commit.js";
import { claiming } from "./sqlite-outbox-claim.js";
import { deadLetters, dropping, redriving } from "./sqlite-outbox-dead.js";
import { enqueueing } from "./sqlite-outbox-enqueue.js";
import { asking, unavailable } from "./sqlite-outbox-failure.js";
import { watchFile } from "./sqlite-outbox-file.js";
import { leaseQueries } from "./sqlite-outbox-leases.js";
import { outboxReads } from "./sqlite-outbox-reads.js";
import { retentionQueries } from "./sqlite-outbox-retention.js";
import { isDurable, type OpenSqliteDatabase, prepareOutboxFile } from "./sqlite-outbox-schema.js";
import { createWaker } from "./sqlite-outbox-wake.js";
import { checkMs } from "./store-failure.js";

/** Options of `sqliteStore`. */
export interface SqliteStoreOptions {
  /** Opens a connection to the file, which belongs to the store from then on. */
  open: () => OpenSqliteDatabase;
  /** How often the store looks for what other processes have enqueued; 50 ms by default. */
  pollMs?: number | undefined;
  /** How long it waits, without blocking the process, while others write to the file; 10,000 ms by default. */
  patienceMs?: number | undefined;
  clock?: Clock | undefined;
}

/**
 * The outbox in a SQLite file on a local disk, for one machine with any number of processes. It makes its tables
 * by itself, and sets WAL and `synchronous = FULL`.
 *
 * The store works over a connection of its own. To enqueue in a transaction of yours, hand over your connection to
 * the same file, with `PRAGMA synchronous = FULL`, and keep the transaction synchronous, as every SQLite driver
 * here is: `enqueue` has done its work when it returns.
 *
 * @throws {HookproofError} OUTBOX_NEWER, OUTBOX_UNAVAILABLE
 * @example
 * ```ts
 * import Database from "better-sqlite3";
 * import { sqliteStore } from "hookproof/node";
 *
 * const store = sqliteStore({ open: () => new Database("app.db") });
 * for (const { listener, pending } of await store.stats()) console.log(listener, pending);
 * ```
 */
export function sqliteStore({
  open,
  pollMs = 50,
  patienceMs = 10_000,
  clock = systemClock,
}: SqliteStoreOptions): OutboxStore<SqliteDatabase> {
  if (typeof open !== "function") throw new TypeError("open must be a function that opens a SQLite file");
  checkMs("pollMs", pollMs);
  checkMs("patienceMs", patienceMs);
  const db = opened(open);
  const checkFile = asking(() => watchFile(db));
  const waker = createWaker(db, { pollMs, checkFile });
  const commit = groupCommit(db, { failure: unavailable, patienceMs });
  const claim = claiming(db);
  const leases = leaseQueries(db);
  const retention = retentionQueries(db);
  const enqueueOver = enqueueingOver(db);
  const reads = outboxReads(db);
  let isClosed = false;

  const inFile =
    <Value>(work: () => Value) =>
    () => {
      checkFile();
      return work();
    };
  const group = <Value>(work: () => Value) => commit(inFile(work));
  const reading = <Value>(work: () => Value) => asking(inFile(work));

  /** What may bring new work. */
  const changing = async <Value>(work: () => Value): Promise<Value> => {
    const value = await group(work);
    waker.wakeSoon();
    return value;
  };

  // Most calls are done a moment later, together with others: until then callers may change what they gave.
  return {
    enqueue(events, tx) {
      if (tx === undefined) {
        const own = [...events];
        return changing(() => enqueueOver(db)(own, clock.now()));
      }
      const add = enqueueOver(tx);
      asking(checkFile);
      asking(() => inSavepoint(tx, () => add(events, clock.now())));
      waker.wakeSoon();
    },
    claim(request) {
      const own = { ...request, listeners: new Map(request.listeners) };
      return group(() => claim(own, clock.now()));
    },
    complete(completions) {
      const own = [...completions];
      return changing(() => leases.complete(own, clock.now()));
    },
    reschedule: (lease, at, attempt) => group(() => leases.reschedule(lease, at, attempt)),
    bury: (lease, burial) => changing(() => leases.bury(lease, burial, clock.now())),
    release(held) {
      const own = [...held];
      return changing(() => own.forEach(leases.release));
    },
    expire(windows) {
      const own = new Map(windows);
      return changing(() => retention.expire(own, clock.now()));
    },
    redrive: (filter, options) => redriving(db, changing, clock, ownFilter(filter), options),
    drop: (filter, options = {}) => dropping(db, changing, ownFilter(filter), options),
    dead: (filter = {}, { limit = Number.POSITIVE_INFINITY } = {}) =>
      deadLetters(db, ownFilter(filter), limit),
    find: async (id) => reading(() => reads.find(id, clock.now())),
    stats: async () => reading(() => reads.stats(clock.now())),
    now: async () => clock.now(),
    onWork: (wake) => waker.subscribe(wake),
    prune: (before) => changing(() => retention.prune(before)),
    async close() {
      if (isClosed) return;
      isClosed = true;
      waker.stop();
      // What was asked for before is done first; how it went, whoever asked is told.
      await commit(() => {}).catch(() => {});
      db.close();
    },
  };
}

const ownFilter = ({ ids, ...filter }: DeadLetterFilter): DeadLetterFilter =>
  ids === undefined ? filter : { ...filter, ids: [...ids] };

function opened(open: SqliteStoreOptions["open"]): OpenSqliteDatabase {
  return asking(() => {
    const db = open();
    try {
      prepareOutboxFile(db);
      return db;
    } catch (error) {
      db?.close?.();
      throw error;
    }
  });
}

/** The enqueueing of each connection, which is looked at when it is first handed over. */
function enqueueingOver(own: SqliteDatabase): (db: SqliteDatabase) => ReturnType<typeof enqueueing> {
  const known = new WeakMap([[own, enqueueing(own)]]);
  return (db) => {
    const found = known.get(db);
    if (found) return found;
    if (typeof db?.prepare !== "function" || typeof db.exec !== "function")
      throw new TypeError("tx must be a SQLite connection with exec() and prepare()");
    if (!asking(() => isDurable(db)))
      throw new TypeError(
        "tx needs PRAGMA synchronous = FULL: without it a power failure can undo what was committed",
      );
    const made = enqueueing(db);
    known.set(db, made);
    return made;
  };
}
