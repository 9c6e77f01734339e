// What a worker over PostgreSQL holds while it signs and posts, next to those of other queues. Needs DATABASE_URL.
import { fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { makeWorkerUtils } from "graphile-worker";
import { hmacSigner } from "hookproof";
import { createOutbox } from "hookproof/outbox";
import { postgresStore } from "hookproof/outbox/postgres";
import pg from "pg";
import { PgBoss } from "pg-boss";
import { queueByHand } from "./queue-by-hand.mjs";
import { quick, reportFigures, summary } from "./support.mjs";

const SECRET = "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE";

/** The highest resident set of a worker of each queue, three times in turns, each in a process and a schema of its own. */
export async function measureWorkers({ url, payload, port }) {
  const connectionString = process.env.DATABASE_URL;
  if (!connectionString) {
    console.error("memory: DATABASE_URL names no server, so no worker is measured.");
    return;
  }
  const events = quick ? 5_000 : 50_000;
  const fillers = fillersOn(connectionString, { url, payload });
  const rounds = Object.fromEntries(Object.keys(fillers).map((kind) => [kind, []]));
  for (let round = 0; round < (quick ? 1 : 3); round++) {
    for (const [kind, fill] of Object.entries(fillers)) {
      const { schema, put, close } = await fill();
      for (let stored = 0; stored < events; stored += 500) await put(500);
      rounds[kind].push(await highestOf([kind, schema, String(port)], events));
      await close();
    }
  }
  reportFigures({
    question: `The highest resident set of a worker that signs and posts ${events.toLocaleString("en")} events of 1 KB, 100 at once, from a backlog in PostgreSQL`,
    unit: "MB",
    figures: Object.fromEntries(
      Object.entries(rounds).map(([kind, all]) => {
        const { perSecond: value, low, high } = summary(all);
        return [kind, { value, low, high }];
      }),
    ),
  });
}

async function highestOf(args, events) {
  const worker = fork(new URL("memory-worker.mjs", import.meta.url), args, { execArgv: [] });
  try {
    return await new Promise((resolve, reject) => {
      worker.on("exit", (code) => reject(new Error(`the worker of ${args[0]} ended with ${code}`)));
      worker.on("message", ({ delivered, megabytes }) => delivered >= events && resolve(megabytes));
    });
  } finally {
    worker.kill("SIGKILL");
  }
}

/** How each queue gets its events. */
function fillersOn(connectionString, { url, payload }) {
  const schemaOf = (name) => `${name}_${randomUUID().slice(0, 8)}`;
  const openPool = () => new pg.Pool({ connectionString, connectionTimeoutMillis: 10_000 });
  const drop = async (schema) => {
    const pool = openPool();
    await pool.query(`DROP SCHEMA ${schema} CASCADE`);
    await pool.end();
  };
  const many = (count, one) => Array.from({ length: count }, one);
  return {
    outbox() {
      const schema = schemaOf("outbox");
      const store = postgresStore({ pool: openPool(), schema });
      const outbox = createOutbox({
        store,
        listeners: { a: { url, signer: hmacSigner({ secret: SECRET }) } },
      });
      const put = (count) => outbox.enqueue(many(count, () => ({ listener: "a", payload })));
      const close = async () => {
        await store.close();
        await drop(schema);
      };
      return { schema, put, close };
    },
    async "pg-boss"() {
      const schema = schemaOf("boss");
      const boss = new PgBoss({ connectionString, schema });
      boss.on("error", (error) => console.error(error.message));
      await boss.start();
      await boss.createQueue("a", { expireInSeconds: 3_600 });
      const put = (count) =>
        boss.insert(
          "a",
          many(count, () => ({ data: payload })),
        );
      const close = async () => {
        await boss.stop({ graceful: false });
        await drop(schema);
      };
      return { schema, put, close };
    },
    async "graphile-worker"() {
      const schema = schemaOf("graphile");
      const utils = await makeWorkerUtils({ connectionString, schema });
      await utils.migrate();
      const put = (count) => utils.addJobs(many(count, () => ({ identifier: "a", payload })));
      const close = async () => {
        await utils.release();
        await drop(schema);
      };
      return { schema, put, close };
    },
    async "by hand"() {
      const { schema, enqueue, close } = await queueByHand();
      const body = Buffer.from(JSON.stringify(payload));
      const put = (count) =>
        enqueue(
          many(count, () => randomUUID()),
          many(count, () => body),
        );
      return { schema, put, close };
    },
  };
}
