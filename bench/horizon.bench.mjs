// What does it cost to take ten due events while a transaction holds its snapshot, after so many were delivered meanwhile
// (a million with `--long`)? The outbox, pg-boss and graphile-worker, in turns on one PostgreSQL. Needs DATABASE_URL.
import { createHash, randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { makeWorkerUtils, runTaskListOnce } from "graphile-worker";
import { newEventId } from "hookproof";
import { postgresStore } from "hookproof/outbox/postgres";
import pg from "pg";
import { PgBoss } from "pg-boss";
import { long, quick, reportFigures, reportGrowth, summary } from "./reporting.mjs";

/** How many were delivered under the snapshot when it is measured. */
const POINTS = long
  ? [0, 30_000, 100_000, 300_000, 1_000_000]
  : quick
    ? [0, 20_000]
    : [0, 30_000, 100_000, 300_000];
/** Delivered by SQL at once, with a take of each library's own after it. */
const BULK = 10_000;
const TAKEN = 10;
/** A queue is asked all the time: so long at this pace, of which the second half is measured. */
const FLOW_MS = quick ? 4_000 : 16_000;
const PACE_MS = 200;
/** Where one takes seconds, so many are measured all the same. */
const MIN_ROUNDS = 3;

const connectionString = process.env.DATABASE_URL;
if (!connectionString) {
  console.error("horizon: DATABASE_URL names no server, so nothing is measured.");
  process.exit();
}
const suffix = randomUUID().slice(0, 8);
const pool = new pg.Pool({ connectionString, connectionTimeoutMillis: 10_000 });
pool.on("error", (error) => console.error(error.message));
const schemaOf = (name) => `${name}_${suffix}`;

/** Three statements, each in a transaction of its own, as the jobs of a flow are stored, taken and ended. */
async function inBulk(client, { insert, take, end }) {
  await client.query("CREATE TEMP TABLE IF NOT EXISTS moved (id text PRIMARY KEY); TRUNCATE moved");
  await client.query(`WITH stored AS (${insert} RETURNING id) INSERT INTO moved SELECT id::text FROM stored`);
  await client.query("ANALYZE moved");
  await client.query(take);
  await client.query(end);
}

async function outbox() {
  const schema = schemaOf("outbox");
  const store = postgresStore({ pool, schema });
  await store.stats(); // makes the tables
  const body = Buffer.from("{}");
  const digest = createHash("sha256").update(body).digest("base64url");
  let after;
  return {
    schema,
    bulk: {
      insert: `INSERT INTO ${schema}.event (id, listener, state, digest, due_at)
        SELECT gen_random_uuid(), 'a', 'waiting', 'bulk', clock_timestamp() FROM generate_series(1, ${BULK})`,
      take: `UPDATE ${schema}.event SET state = 'leased', token = id, leased_until = clock_timestamp() + interval '1 s'
        WHERE id IN (SELECT id::uuid FROM moved) AND listener = 'a'`,
      end: `UPDATE ${schema}.event SET state = 'delivered', token = NULL, leased_until = NULL, ended_at = clock_timestamp()
        WHERE id IN (SELECT id::uuid FROM moved) AND listener = 'a'`,
    },
    put: () =>
      store.enqueue(Array.from({ length: TAKEN }, () => ({ id: newEventId(), listener: "a", body, digest }))),
    /** A worker looks who has due events and claims; both are counted. */
    async take() {
      const looked = await store.due(after, 100);
      after = looked.next;
      const listeners = new Map([["a", { most: 100, windowMs: 604_800_000 }]]);
      const claimed = await store.claim({ limit: 100, leaseMs: 60_000, listeners });
      return { count: claimed.length, jobs: claimed };
    },
    end: (claimed) =>
      store.markDelivered(
        claimed.map(({ lease }) => ({
          lease,
          outcome: "delivered",
          attempt: { number: 1, startedAt: Date.now(), durationMs: 1, status: 200 },
        })),
      ),
    close: () => store.close(),
  };
}

async function pgBoss() {
  const schema = schemaOf("boss");
  const boss = new PgBoss({ connectionString, schema });
  boss.on("error", (error) => console.error(error.message));
  await boss.start();
  const queue = "a";
  await boss.createQueue(queue, { expireInSeconds: 3_600 });
  return {
    schema,
    bulk: {
      insert: `INSERT INTO ${schema}.job (name, data) SELECT '${queue}', '{}' FROM generate_series(1, ${BULK})`,
      take: `UPDATE ${schema}.job SET state = 'active', started_on = clock_timestamp()
        WHERE name = '${queue}' AND id IN (SELECT id::uuid FROM moved)`,
      end: `UPDATE ${schema}.job SET state = 'completed', completed_on = clock_timestamp()
        WHERE name = '${queue}' AND id IN (SELECT id::uuid FROM moved)`,
    },
    put: () =>
      boss.insert(
        queue,
        Array.from({ length: TAKEN }, () => ({ data: {} })),
      ),
    async take() {
      const jobs = await boss.fetch(queue, { batchSize: 100 });
      return { count: jobs.length, jobs };
    },
    end: (jobs) => boss.complete(queue, jobs),
    close: () => boss.stop({ graceful: false }),
  };
}

/** It takes one job with each statement where it is not left to run by itself; the first of the ten is counted. */
async function graphileWorker() {
  const schema = schemaOf("graphile");
  const utils = await makeWorkerUtils({ connectionString, schema });
  await utils.migrate();
  await utils.addJob("a", {}); // makes the task's row
  const client = await pool.connect();
  const took = [];
  const ask = client.query.bind(client);
  client.query = async (query, ...more) => {
    const startedAt = performance.now();
    const result = await ask(query, ...more);
    if (/\blocked_at\b[\s\S]*skip locked/i.test(query.text ?? query) && result.rows.length > 0)
      took.push(performance.now() - startedAt);
    return result;
  };
  const logger = await silentLogger();
  return {
    schema,
    bulk: {
      insert: `INSERT INTO ${schema}._private_jobs (task_id, payload)
        SELECT (SELECT min(id) FROM ${schema}._private_tasks), '{}' FROM generate_series(1, ${BULK})`,
      take: `UPDATE ${schema}._private_jobs SET attempts = attempts + 1, locked_by = 'bulk', locked_at = clock_timestamp()
        WHERE id IN (SELECT id::bigint FROM moved)`,
      end: `DELETE FROM ${schema}._private_jobs WHERE id IN (SELECT id::bigint FROM moved)`,
    },
    put: () => utils.addJobs(Array.from({ length: TAKEN }, () => ({ identifier: "a", payload: {} }))),
    async take() {
      took.length = 0;
      let count = 0;
      await runTaskListOnce({ schema, logger }, { a: () => void count++ }, client);
      return { count, ms: took[0] };
    },
    end: async () => {},
    async close() {
      client.release(true);
      await utils.release();
    },
  };
}

async function silentLogger() {
  const { Logger } = await import("graphile-worker");
  return new Logger(() => () => {});
}

/** Puts ten and takes them; gives the milliseconds of the take. */
async function round(queue) {
  await queue.put();
  for (;;) {
    const startedAt = performance.now();
    const { count, jobs, ms = performance.now() - startedAt } = await queue.take();
    await queue.end(jobs);
    if (count > 0) return ms;
  }
}

/** Rounds at a worker's pace; gives the milliseconds of the last ones. */
async function flow(queue) {
  const all = [];
  const endsAt = performance.now() + FLOW_MS;
  while (performance.now() < endsAt || all.length < 2 * MIN_ROUNDS) {
    all.push(await round(queue));
    await pause(PACE_MS);
  }
  return all.slice(-Math.ceil(all.length / 2));
}

const queues = {
  outbox: await outbox(),
  "pg-boss": await pgBoss(),
  "graphile-worker": await graphileWorker(),
};
const names = Object.keys(queues);
for (let n = 0; n < 50; n++) for (const name of names) await round(queues[name]);
await pool.query("VACUUM ANALYZE");

const holder = await pool.connect();
await holder.query("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM pg_class LIMIT 1");
const filler = await pool.connect();
const series = Object.fromEntries(names.map((name) => [name, []]));
const rounds = Object.fromEntries(names.map((name) => [name, []]));
let delivered = 0;
for (const point of POINTS) {
  for (; delivered < point; delivered += BULK) {
    for (const name of names) {
      await inBulk(filler, queues[name].bulk);
      await round(queues[name]);
    }
  }
  await pool.query("ANALYZE"); // what autovacuum does by itself within a minute
  // One queue after the other: a slow one would have the others stand still, which no worker does.
  for (const name of names) {
    const measured = await flow(queues[name]);
    rounds[name].push(measured);
    const { perSecond: median } = summary(measured);
    series[name].push([point, median]);
    if (!quick) console.error(`${point.toLocaleString("en")} delivered, ${name}: ${median.toFixed(2)} ms`);
  }
}
await holder.query("ROLLBACK");
holder.release();
filler.release(true);

reportGrowth({
  plot: "held-snapshot",
  question: "Taking ten due events while a snapshot is held",
  x: { label: "delivered since the snapshot" },
  y: { label: "ms", log: true },
  series,
});
reportFigures({
  question: `Taking ten due events after ${POINTS.at(-1).toLocaleString("en")} were delivered under a held snapshot, over what it took before them`,
  unit: "times",
  figures: Object.fromEntries(
    names.map((name) => {
      const before = summary(rounds[name][0]).perSecond;
      const { perSecond: value, low, high } = summary(rounds[name].at(-1).map((ms) => ms / before));
      return [name, { value, low, high, ...(name === "outbox" && { atMost: 3 }) }];
    }),
  ),
});
for (const name of names) await queues[name].close();
for (const name of names) await pool.query(`DROP SCHEMA IF EXISTS ${queues[name].schema} CASCADE`);
await pool.end();
process.exit();
