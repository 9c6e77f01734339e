// A worker process of the workers bench: node workers-case.mjs <kind> <schema> <places>. It delivers while it is told to,
// without a network, and answers every order with how many events it has delivered and its processor time.
import { hmacSigner } from "hookproof";
import { createOutbox } from "hookproof/outbox";
import { postgresStore } from "hookproof/outbox/postgres";
import pg from "pg";
import { workerByHand } from "./queue-by-hand.mjs";

const [kind, schema, places] = process.argv.slice(2);
// While other workers have their round, this one holds no connection: the server has not enough for all of them.
const pool = new pg.Pool({
  connectionTimeoutMillis: 10_000,
  connectionString: process.env.DATABASE_URL,
  idleTimeoutMillis: 200,
});
const signer = hmacSigner({ secret: "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE" });
let delivered = 0;

const workers = {
  outbox: () =>
    createOutbox({
      store: postgresStore({ pool, schema }),
      concurrency: Number(places),
      listeners: {
        limited: {
          url: "https://tenant.example.com/api/v1/webhooks/incoming/lst_1",
          signer,
          concurrency: 400,
          rate: { perSecond: 100_000 },
          async transport() {
            delivered++;
            return { status: 200, headers: [], body: new Uint8Array(), truncated: false };
          },
        },
      },
    }),
  "by hand": () =>
    workerByHand(pool, schema, Number(places), (rows) => {
      delivered += rows.length;
    }),
};
const worker = workers[kind]();
process.on("message", async (order) => {
  if (order === "start") worker.start();
  if (order === "stop") await worker.stop();
  const { user, system } = process.cpuUsage();
  process.send({ delivered, micros: user + system });
});
process.on("disconnect", () => process.exit());
process.send("ready");
