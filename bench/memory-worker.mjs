// A worker of one queue over PostgreSQL: node memory-worker.mjs <kind> <schema> <port>. It signs and posts each event to the
// receiver at this port until it is killed, and says after every thousand how many there were and what it holds.
import { randomUUID } from "node:crypto";
import { Logger, run } from "graphile-worker";
import { hmacSigner } from "hookproof";
import { createOutbox } from "hookproof/outbox";
import { postgresStore } from "hookproof/outbox/postgres";
import pg from "pg";
import { PgBoss } from "pg-boss";
import { workerByHand } from "./queue-by-hand.mjs";
import { poster, signedHeaders } from "./signed-by-hand.mjs";

const IN_FLIGHT = 100;
const SAID_EVERY = 1_000;
const [kind, schema, port] = process.argv.slice(2);
const connectionString = process.env.DATABASE_URL;
const url = `http://127.0.0.1:${port}/api/v1/webhooks/incoming/lst_bench`;
const secret = "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE";
const openPool = () => new pg.Pool({ connectionString, connectionTimeoutMillis: 10_000 });

let delivered = 0;
let highest = 0;
function onDelivered() {
  highest = Math.max(highest, process.memoryUsage.rss());
  if (++delivered % SAID_EVERY === 0) process.send({ delivered, megabytes: highest / 2 ** 20 });
}

const { post } = poster(url);
async function postByHand(bytes) {
  await post(bytes, signedHeaders(secret, randomUUID(), bytes));
  onDelivered();
}
const postJson = (data) => postByHand(Buffer.from(JSON.stringify(data)));

const workers = {
  outbox() {
    const signer = hmacSigner({ secret });
    const outbox = createOutbox({
      store: postgresStore({ pool: openPool(), schema }),
      concurrency: IN_FLIGHT,
      listeners: { a: { url, signer, concurrency: IN_FLIGHT } },
      observe: ({ type }) => type === "delivery-ended" && onDelivered(),
    });
    outbox.start();
  },

  async "pg-boss"() {
    const boss = new PgBoss({ connectionString, schema });
    boss.on("error", (error) => console.error(error.message));
    await boss.start();
    for (;;) {
      const jobs = await boss.fetch("a", { batchSize: IN_FLIGHT });
      await Promise.all(jobs.map(({ data }) => postJson(data)));
      await boss.complete("a", jobs);
    }
  },

  async "graphile-worker"() {
    const logger = new Logger(() => () => {});
    await run({ connectionString, schema, logger, concurrency: IN_FLIGHT, taskList: { a: postJson } });
  },

  "by hand"() {
    const deliver = (rows) => Promise.all(rows.map(({ body }) => postByHand(body)));
    workerByHand(openPool(), schema, IN_FLIGHT, deliver).start();
  },
};
await workers[kind]();
