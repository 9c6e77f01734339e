import { randomUUID } from "node:crypto";
import { type OutboxStore, postgresStore } from "hookproof/outbox";
import type { OutboxStoreSubject } from "hookproof/testing";
import pg from "pg";

/** An outbox in a schema of its own. */
export interface TestOutbox {
  readonly schema: string;
  readonly pool: pg.Pool;
  /** Another store over the same events. */
  store(options?: Partial<Parameters<typeof postgresStore>[0]>): ReturnType<typeof postgresStore>;
  readonly subject: OutboxStoreSubject<pg.PoolClient>;
  /** How many events there are in each state of the table. */
  states(): Promise<Record<string, number>>;
  drop(): Promise<void>;
}

const TIMES = ["enqueued_at", "due_at", "claimed_at", "leased_until", "first_attempt_at", "ended_at"];

export function testOutbox(connectionString: string, options: pg.PoolConfig = {}): TestOutbox {
  const schema = `outbox_${randomUUID().replaceAll("-", "")}`;
  const pool = new pg.Pool({ connectionString, ...options });
  pool.on("error", () => {}); // end() returns before its connections are closed, and the server may stop first
  const store: TestOutbox["store"] = (given = {}) => postgresStore({ pool, schema, ...given });
  return {
    schema,
    pool,
    store,
    subject: {
      open: () => store() as OutboxStore<pg.PoolClient>,
      async passTime(ms) {
        const earlier = TIMES.map((column) => `${column} = ${column} - ${ms} * interval '1 ms'`);
        await pool.query(`UPDATE ${schema}.event SET ${earlier.join()}`);
      },
      async transaction(end, work) {
        const client = await pool.connect();
        try {
          await client.query("BEGIN");
          await work(client);
          await client.query(end);
        } finally {
          client.release();
        }
      },
    },
    async states() {
      const { rows } = await pool.query(`SELECT state, count(*)::int FROM ${schema}.event GROUP BY state`);
      return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
    },
    async drop() {
      await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
      await pool.end();
    },
  };
}
