import { newEventId } from "../protocol/event-id.js";
import type { Lease } from "./outbox-store.js";
import type { Boss, FetchedJob, SqlRunner } from "./pg-boss-database.js";

/**
 * A queue's settings: pg-boss never gives a job up and never drops a waiting one. Leases are the store's own, as
 * pg-boss looks for expired jobs once a minute; its expiry, at its maximum, is the net under them.
 */
const QUEUE = {
  policy: "standard",
  retryLimit: 2_147_483_647,
  retryDelay: 0,
  expireInSeconds: 24 * 60 * 60,
  retentionSeconds: 2_147_483_647,
  deleteAfterSeconds: 60 * 60,
};

/** An event's job: which one it is now, and which fetch of it holds the lease. */
export interface EventJob {
  readonly listener: string;
  readonly id: string;
  readonly jobId: string;
  readonly fetched: number;
  /** Of its ordering key, if it has one. */
  readonly lock?: string | null | undefined;
}

/** A job to be added for an event, from its time on. */
interface AddedJob {
  readonly listener: string;
  readonly id: string;
  readonly jobId: string;
  readonly at?: string;
}

/** pg-boss's queues, one for each listener, and the jobs in them. */
export interface OutboxJobs {
  /** Makes the queues of listeners that have none; to be called outside of transactions. */
  prepare(listeners: Iterable<string>): Promise<void>;
  /** Adds a job for each event. */
  add(db: SqlRunner, events: readonly AddedJob[]): Promise<void>;
  /** What pg-boss would run to add a job for each event: a statement with one parameter for each queue. */
  adding(events: readonly AddedJob[]): Promise<{ sql: string; jobs: string }[]>;
  fetch(db: SqlRunner, listener: string, most: number): Promise<readonly EventJob[]>;
  complete(db: SqlRunner, jobs: readonly EventJob[]): Promise<void>;
  /** Makes fetched jobs due again. */
  giveBack(db: SqlRunner, jobs: readonly EventJob[]): Promise<void>;
  /** Whether pg-boss will hand a job out, or has. */
  isAlive(listener: string, jobId: string): Promise<boolean>;
}

export function outboxJobs(boss: Boss, prefix: string): OutboxJobs {
  const ready = new Map<string, Promise<void>>();
  const queueOf = (listener: string) => `${prefix}/${listener.replace(/[^A-Za-z0-9.-]/gu, escaped)}`;

  async function makeQueue(listener: string): Promise<void> {
    await boss.createQueue(queueOf(listener), QUEUE);
    // Whatever asks for a queue first makes pg-boss look it up on a connection of its own; inside a transaction
    // that could wait for ever, with every connection of the pool in a transaction that waits alike.
    await boss.findJobs(queueOf(listener), { id: newEventId() });
  }

  async function ofEach(
    jobs: readonly EventJob[],
    settle: (queue: string, fetched: FetchedJob[]) => Promise<unknown>,
  ): Promise<void> {
    for (const [listener, those] of byListener(jobs))
      await settle(
        queueOf(listener),
        those.map(({ jobId, fetched }) => ({ id: jobId, retryCount: fetched })),
      );
  }

  function insert(db: SqlRunner, listener: string, events: readonly AddedJob[]): Promise<string[] | null> {
    const jobs = events.map(({ id, jobId, at }) => ({
      id: jobId,
      data: { id },
      ...(at === undefined ? {} : { startAfter: at }),
    }));
    return boss.insert(queueOf(listener), jobs, { db, returnId: true });
  }

  return {
    async prepare(listeners) {
      const missing = [...new Set(listeners)].filter((listener) => !ready.has(listener));
      for (const listener of missing) {
        const made = makeQueue(listener);
        ready.set(listener, made);
        made.catch(() => ready.delete(listener));
      }
      await Promise.all([...listeners].map((listener) => ready.get(listener)));
    },
    async add(db, events) {
      for (const [listener, those] of byListener(events)) {
        const added = await insert(db, listener, those);
        // A transaction that began before the queue was made, at a level that does not see it.
        if (added?.length !== those.length) throw new Error("pg-boss did not take every job; try again");
      }
    },
    async adding(events) {
      const statements: { sql: string; jobs: string }[] = [];
      const noting: SqlRunner = {
        async executeSql(sql, [jobs] = []) {
          statements.push({ sql, jobs: String(jobs) });
          return { rows: [] };
        },
      };
      for (const [listener, those] of byListener(events)) await insert(noting, listener, those);
      return statements;
    },
    async fetch(db, listener, most) {
      const jobs = await boss.fetch(queueOf(listener), { db, batchSize: most });
      return jobs.map(({ id, retryCount, data }) => ({
        listener,
        id: (data as { id: string }).id,
        jobId: id,
        fetched: retryCount,
      }));
    },
    complete: (db, jobs) => ofEach(jobs, (queue, fetched) => boss.complete(queue, fetched, null, { db })),
    giveBack: (db, jobs) => ofEach(jobs, (queue, fetched) => boss.fail(queue, fetched, null, { db })),
    async isAlive(listener, jobId) {
      const [job] = await boss.findJobs(queueOf(listener), { id: jobId });
      return job?.state === "created" || job?.state === "retry" || job?.state === "active";
    },
  };
}

/** A lease's token names the job, its fetch, and the lock of the event's ordering key. */
export function tokenOf({ jobId, fetched, lock }: EventJob, isFirst: boolean): string {
  return `${jobId}:${fetched}:${lock ?? ""}:${isFirst}`;
}

/** The job a lease is about. */
export function jobOf({ listener, id, token }: Lease): EventJob & { isFirst: boolean } {
  const [jobId = "", fetched, lock, isFirst] = token.split(":");
  return {
    listener,
    id,
    jobId,
    fetched: Number(fetched),
    lock: lock || undefined,
    isFirst: isFirst === "true",
  };
}

function byListener<Item extends { readonly listener: string }>(items: readonly Item[]): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(item.listener);
    if (group) group.push(item);
    else groups.set(item.listener, [item]);
  }
  return groups;
}

/** pg-boss's names have letters, digits and a few signs only. */
function escaped(character: string): string {
  return `_${character.codePointAt(0)?.toString(16)}_`;
}
