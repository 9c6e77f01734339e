// A queue in a table of PostgreSQL as people write it by hand: one statement takes a batch of rows, one marks them as
// done. No limit over all workers, no lease, no history, no order: what is left is the least that workers can cost.
import { randomUUID } from "node:crypto";
import pg from "pg";

const POLL_MS = 100;

/** Its tables on the PostgreSQL of DATABASE_URL, in a schema of their own, and what fills them. */
export async function queueByHand() {
  const pool = new pg.Pool({ connectionTimeoutMillis: 10_000, connectionString: process.env.DATABASE_URL });
  const schema = `hand_${randomUUID().slice(0, 8)}`;
  await pool.query(`
    CREATE SCHEMA ${schema};
    CREATE TABLE ${schema}.job (
      seq bigserial PRIMARY KEY, id uuid NOT NULL UNIQUE, body bytea, state int NOT NULL DEFAULT 0);
    CREATE INDEX ON ${schema}.job (seq) WHERE state = 0;
    CREATE TABLE ${schema}.hold AS SELECT false AS held;`);
  const hold = (held) => pool.query(`UPDATE ${schema}.hold SET held = $1`, [held]);
  return {
    pool,
    schema,
    enqueue: (ids, bodies) =>
      pool.query({
        name: "enqueue",
        text: `INSERT INTO ${schema}.job (id, body) SELECT * FROM unnest($1::uuid[], $2::bytea[])`,
        values: [ids, bodies],
      }),
    pause: () => hold(true),
    resume: () => hold(false),
    async close() {
      await pool.query(`DROP SCHEMA ${schema} CASCADE`);
      await pool.end();
    },
  };
}

/** Its two statements: `take` gives so many rows at most, `done` ends them. */
export function batchesByHand(pool, schema, size) {
  // Planned each time: a plan of when the table was empty would read all of it.
  const take = {
    text: `UPDATE ${schema}.job SET state = 1 WHERE seq IN (
        SELECT seq FROM ${schema}.job WHERE state = 0 AND NOT (SELECT held FROM ${schema}.hold)
        ORDER BY seq LIMIT ${size} FOR UPDATE SKIP LOCKED)
      RETURNING seq, id, body`,
  };
  return {
    take: async () => (await pool.query(take)).rows,
    done: (rows) =>
      pool.query({
        name: "done",
        text: `UPDATE ${schema}.job SET state = 2, body = NULL WHERE seq = ANY ($1)`,
        values: [rows.map(({ seq }) => seq)],
      }),
  };
}

/**
 * A worker of it: hands each batch, of so many rows at most, to `deliver`, and marks it as done. Without work it asks
 * again when it is woken.
 */
export function workerByHand(pool, schema, size, deliver) {
  const { take, done } = batchesByHand(pool, schema, size);
  let [runs, ended, wake] = [false, Promise.resolve(), () => {}];
  async function run() {
    while (runs) {
      const rows = await take();
      if (rows.length === 0) await woken();
      else {
        await deliver(rows);
        await done(rows);
      }
    }
  }
  const woken = () =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, POLL_MS);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  return {
    start() {
      runs = true;
      ended = run();
    },
    wake: () => wake(),
    async stop() {
      runs = false;
      wake();
      await ended;
    },
  };
}
