// A process of the hosts bench: node hosts-process.mjs <role> <task as JSON>. It answers each order of its parent.
import { randomUUID } from "node:crypto";
import { createServer } from "node:https";
import { setTimeout as pass } from "node:timers/promises";
import { hmacSigner } from "hookproof";
import { toNodeListener } from "hookproof/node";
import { createOutbox } from "hookproof/outbox";
import { postgresStore } from "hookproof/outbox/postgres";
import { createReceiver, memoryReplayStore } from "hookproof/receiver";
import pg from "pg";

const SECRET = "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE";
const ID = "lst_far";
const task = JSON.parse(process.argv[3]);
const note = "x".repeat(900);

/** As docs/guides/outbox-postgresql.md has it. */
function openOutbox() {
  const pool = new pg.Pool({
    connectionTimeoutMillis: 10_000,
    host: task.database,
    user: "postgres",
    database: "postgres",
    ...task.pool,
  });
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  const signer = hmacSigner({ secret: SECRET });
  const url = `${task.listener}/api/v1/webhooks/incoming/${ID}`;
  const outbox = createOutbox({
    store: postgresStore({ pool }),
    listeners: { far: { url, signer, concurrency: 200 } },
    quiet: true,
  });
  return { pool, outbox };
}

const ROLES = {
  /** Enqueues in transactions of its own, and repeats what was not acknowledged under its id. */
  producer() {
    const { pool, outbox } = openOutbox();
    /** By id: when it was to be enqueued, and when the answer to COMMIT came. */
    const acknowledged = new Map();
    /** What waits for a connection, first come first served: the times at which events were to be enqueued. */
    const waiting = [];
    let underWay = 0;
    let timer;

    async function once(ids, at) {
      const client = await pool.connect();
      let failure;
      try {
        await client.query("BEGIN");
        await client.query("INSERT INTO orders SELECT unnest($1::text[]) ON CONFLICT DO NOTHING", [ids]);
        const events = ids.map((eventId) => ({ listener: "far", eventId, payload: { at, note } }));
        await outbox.enqueue(events, { tx: client });
        await client.query("COMMIT");
      } catch (error) {
        failure = error;
        throw error;
      } finally {
        client.release(failure);
      }
    }

    async function untilAcknowledged(count, at) {
      const ids = Array.from({ length: count }, () => randomUUID());
      const isStored = () =>
        once(ids, at).then(
          () => true,
          () => false,
        );
      while (!(await isStored())) await pass(100);
      for (const id of ids) acknowledged.set(id, [at, Date.now()]);
    }

    async function work() {
      underWay++;
      while (waiting.length > 0) await untilAcknowledged(1, waiting.shift());
      underWay--;
    }

    return {
      async prepare() {
        await pool.query("CREATE TABLE orders (id text PRIMARY KEY)");
        await outbox.stats(); // makes the tables
      },
      /** An event at a time, so many a second, whatever becomes of those before. */
      steady({ perSecond }) {
        const began = performance.now();
        let begun = 0;
        timer = setInterval(() => {
          for (; begun < ((performance.now() - began) * perSecond) / 1000; begun++) {
            waiting.push(Date.now());
            if (underWay < task.pool.max) work();
          }
        }, 1);
      },
      async rest() {
        clearInterval(timer);
        while (underWay > 0) await pass(10);
      },
      /** So many at once, twenty in a transaction. */
      async burst({ events }) {
        const of = Array.from({ length: 8 }, async () => {
          for (let n = 0; n < events / 8; n += 20) await untilAcknowledged(20, Date.now());
        });
        await Promise.all(of);
      },
      async isEmpty() {
        const stats = await outbox.stats();
        return stats.every(({ pending, inFlight }) => pending + inFlight === 0);
      },
      told: () => [...acknowledged],
    };
  },

  worker() {
    const { outbox } = openOutbox();
    return { start: () => outbox.start() };
  },

  listener() {
    /** By id: when it first ran, and how often it did. */
    const runs = new Map();
    const statuses = {};
    const receiver = createReceiver({
      listener: { id: ID, baseUrl: task.listener, auth: { method: "hmac", secret: SECRET } },
      replayStore: memoryReplayStore(),
    });
    const listen = toNodeListener(receiver, async ({ id }) => {
      const seen = runs.get(id);
      if (seen) seen[1] += 1;
      else runs.set(id, [Date.now(), 1]);
    });
    const server = createServer({ cert: task.cert, key: task.key }, (request, response) => {
      response.on("finish", () => {
        statuses[response.statusCode] = (statuses[response.statusCode] ?? 0) + 1;
      });
      return listen(request, response);
    });
    return {
      listen: () => new Promise((resolve) => server.listen(443, resolve)),
      count: () => runs.size,
      told: () => ({ runs: [...runs], statuses }),
    };
  },
};

const orders = ROLES[process.argv[2]]();
process.on("message", async ({ order, ...given }) => {
  process.send({ order, answer: (await orders[order](given)) ?? null });
});
process.on("disconnect", () => process.exit());
process.send({ order: "ready" });
