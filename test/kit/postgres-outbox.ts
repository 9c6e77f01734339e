import { randomUUID } from "node:crypto";
import { postgresStore } from "hookproof/outbox/postgres";
import type { OutboxStore } from "hookproof/outbox/store";
import type { OutboxStoreSubject } from "hookproof/testing";
import type pg from "pg";
import { testPool } from "./postgres.js";
import { tcpProxy } from "./tcp-proxy.js";

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

/** The columns with times, by table. */
export const TIMES = {
  event: ["enqueued_at", "ready_at", "due_at", "claimed_at", "leased_until", "first_attempt_at", "ended_at"],
  body: ["stored_at", "check_at"],
  listener: ["paused_at", "rest_until", "rested_at", "changed_at", "pace", "unknown_since", "unknown_until"],
  floor: ["due_from", "looked_to", "look_at", "noted_at"],
  key_floor: ["noted_at"],
  clock: ["seen_at"],
  worker: ["started_at", "seen_at"],
};

export function testOutbox(connectionString: string, options: pg.PoolConfig = {}): TestOutbox {
  const schema = `outbox_${randomUUID().replaceAll("-", "")}`;
  const pool = testPool({ connectionString, ...options });
  const store: TestOutbox["store"] = (given = {}) => postgresStore({ pool, schema, ...given });
  return {
    schema,
    pool,
    store,
    subject: {
      open: () => store() as OutboxStore<pg.PoolClient>,
      async passTime(ms) {
        for (const [table, columns] of Object.entries(TIMES)) {
          const earlier = columns.map((column) => `${column} = ${column} - ${ms} * interval '1 ms'`);
          await pool.query(`UPDATE ${schema}.${table} SET ${earlier.join()}`);
        }
        await pool.query(
          `UPDATE ${schema}.floor SET bounds = ARRAY(SELECT b - ${ms} * interval '1 ms' FROM unnest(bounds) b)`,
        );
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

/**
 * An outbox whose store reaches the database through a network that can be made to fail, as its subject does.
 *
 * @param timeoutMs the store's time limit: what hangs ends by it, and everything else has to be done before it
 */
export async function testOutboxBehindProxy(
  connectionString: string,
  { timeoutMs = 10_000, ...options }: pg.PoolConfig & { timeoutMs?: number | undefined } = {},
): Promise<TestOutbox> {
  const url = new URL(connectionString);
  const proxy = await tcpProxy({ host: url.hostname, port: Number(url.port) });
  const outbox = testOutbox(connectionString);
  const through = Object.assign(new URL(url), { hostname: "127.0.0.1", port: String(proxy.port) });
  const far = testPool({ connectionString: through.href, ...options });
  const store: TestOutbox["store"] = (given = {}) => outbox.store({ pool: far, timeoutMs, ...given });
  return {
    ...outbox,
    store,
    subject: {
      ...outbox.subject,
      open: () => store() as OutboxStore<pg.PoolClient>,
      transaction: (end, work) =>
        outbox.subject.transaction?.(end, async (tx) => {
          await tx.query("SET LOCAL statement_timeout = 2000"); // a caller's own limit: the store has none here
          await work(tx);
        }) ?? Promise.resolve(),
      async holdUp() {
        const client = await outbox.pool.connect();
        await client.query(`BEGIN; LOCK TABLE ${outbox.schema}.event`);
        return async () => {
          await client.query("COMMIT");
          client.release();
        };
      },
      hang: () => proxy.forget(),
      async loseAnswers(work) {
        proxy.losesAnswers = true;
        await work().finally(() => {
          proxy.losesAnswers = false;
        });
      },
    },
    async drop() {
      void far.end().catch(() => {});
      await proxy.stop();
      await outbox.drop();
    },
  };
}
