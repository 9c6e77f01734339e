import { randomUUID } from "node:crypto";

/**
 * The bare engine the PostgreSQL outbox is measured against: pg-boss with its own fetch and complete, in batches, and a
 * handler of the caller's. It enqueues in a transaction, as an outbox is there for.
 *
 * @param {import("pg-boss").PgBoss} boss started
 */
export async function barePgBoss(boss) {
  const queue = `bare_${randomUUID()}`;
  await boss.createQueue(queue, { retryLimit: 1_000_000, expireInSeconds: 3_600 });
  const enqueueMany = async (payloads) => {
    const { db, commit } = await boss.getDb().beginTransaction();
    await boss.insert(
      queue,
      payloads.map((data) => ({ data })),
      { db },
    );
    await commit();
  };
  return {
    enqueue: (payload) => enqueueMany([payload]),
    enqueueMany,
    /** Takes and ends everything; resolves to how many there were. */
    async consume(handle, batchSize = 100) {
      for (let done = 0; ; ) {
        const jobs = await boss.fetch(queue, { batchSize });
        if (jobs.length === 0) return done;
        await Promise.all(jobs.map(({ data }) => handle(data)));
        await boss.complete(queue, jobs);
        done += jobs.length;
      }
    },
  };
}
