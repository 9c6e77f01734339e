import { type Activity, hmacSigner } from "hookproof";
import { createOutbox } from "hookproof/outbox";
import { afterAll, expect } from "vitest";
import { itWith } from "../../kit/needs.js";
import { outboxEvent } from "../../kit/outbox-event.js";
import { hasPgBouncer, pgBouncer } from "../../kit/pgbouncer.js";
import { testPool, testPostgres } from "../../kit/postgres.js";
import { testOutbox } from "../../kit/postgres-outbox.js";
import { receiverServer, SECRET } from "../../kit/receiver-server.js";

const postgres = await testPostgres();
afterAll(() => postgres?.stop());

itWith("postgresql and pgbouncer", postgres && hasPgBouncer)(
  "behind PgBouncer in transaction mode everything works, and listening is given up without a word",
  async () => {
    const pooler = await pgBouncer(postgres?.url ?? "");
    const outbox = testOutbox(postgres?.url ?? "");
    const pool = testPool({ connectionString: pooler.url, max: 20 });
    const failures: Error[] = [];
    pool.on("error", (error) => failures.push(error));
    const receiver = await receiverServer({});
    const told: Activity[] = [];
    const store = outbox.store({ pool });
    const worker = createOutbox({
      store,
      listeners: { orders: { url: receiver.url, signer: hmacSigner({ secret: SECRET }) } },
      observe: (event) => told.push(event),
    });
    try {
      worker.start();
      const producer = async (n: number) => {
        for (let m = 0; m < 10; m++) {
          const client = await pool.connect();
          try {
            await client.query("BEGIN");
            await store.enqueue([outboxEvent(`${n} ${m}`, m % 2 ? { orderingKey: `key ${n}` } : {})], client);
            await client.query("COMMIT");
          } finally {
            client.release();
          }
          await store.enqueue([outboxEvent("one"), outboxEvent("two")]);
        }
      };
      await Promise.all(Array.from({ length: 8 }, (_, n) => producer(n)));
      await expect.poll(() => receiver.runs.size).toBe(240);
      await expect.poll(async () => (await store.stats())[0]?.delivered).toBe(240);
      const listens = `SELECT FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND query LIKE '%' || $1 || '%'`;
      expect((await outbox.pool.query(listens, [outbox.schema])).rows).toEqual([]);
      await expect.poll(() => pool.totalCount - pool.idleCount).toBe(0); // none is kept for listening
      expect(failures).toEqual([]);
      expect(told.filter(({ type }) => type === "store-changed" || type === "warning")).toEqual([]);
    } finally {
      await worker.stop();
      await receiver.stop();
      await pool.end();
      await pooler.stop();
      await outbox.drop();
    }
  },
);
