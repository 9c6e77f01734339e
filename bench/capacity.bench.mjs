// What does an event through the PostgreSQL outbox cost its worker and its database? Processor time, transactions
// and what is written; docs/performance.md works out from it what many events a second need. Needs DATABASE_URL.
import { fork } from "node:child_process";
import { once } from "node:events";
import { createSender, hmacSigner } from "hookproof";
import { createOutbox } from "hookproof/outbox";
import { postgresEngine } from "./outbox-engines.mjs";
import { postgresCost } from "./postgres-cost.mjs";
import { long, reportFigures, summary } from "./support.mjs";

const EVENTS = long ? 20_000 : 4_000;
const ROUNDS = 5;
const engine = await postgresEngine({ beside: false });
if (!engine) {
  console.error("capacity: DATABASE_URL names no server, so nothing is measured.");
  process.exit();
}
const receiver = fork(new URL("send-receiver.mjs", import.meta.url));
const [port] = await once(receiver, "message");
const url = `http://127.0.0.1:${port}/api/v1/webhooks/incoming/lst_bench`;
const signer = hmacSigner({ secret: "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE" });
const payload = { type: "user.offboarded", note: "x".repeat(980) };
const outbox = createOutbox({ store: engine.store, listeners: { a: { url, signer, concurrency: 100 } } });
const sender = createSender({ url, signer });
const server = await postgresCost();

/** What an event costs in a step. */
async function costOf(work) {
  const before = await server.now();
  const cpu = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(cpu);
  const after = await server.now();
  return {
    worker: (user + system) / EVENTS,
    server: (after.micros - before.micros) / EVENTS,
    commits: (after.commits - before.commits) / EVENTS,
    wal: (after.wal - before.wal) / EVENTS,
  };
}

const steps = {
  "sign and send": async () => {
    let left = EVENTS;
    const worker = async () => {
      while (left-- > 0) await sender.send(payload);
    };
    await Promise.all(Array.from({ length: 50 }, worker));
  },
  enqueue: async () => {
    const batch = Array.from({ length: 100 }, () => ({ listener: "a", payload }));
    for (let n = 0; n < EVENTS; n += batch.length) await outbox.enqueue(batch);
  },
  deliver: () => outbox.drain(),
};
const measured = Object.fromEntries(Object.keys(steps).map((name) => [name, []]));
for (let round = -1; round < ROUNDS; round++) {
  for (const [name, work] of Object.entries(steps)) {
    const cost = await costOf(work);
    if (round >= 0) measured[name].push(cost);
  }
}
const figures = (of, names) =>
  Object.fromEntries(
    names.map((name) => {
      const { perSecond: value, low, high } = summary(measured[name].map((cost) => cost[of]));
      return [name, { value, low, high }];
    }),
  );
const both = ["enqueue", "deliver"];
const event = "an event of 1 KB through the PostgreSQL outbox, enqueued by the hundred";
reportFigures({
  question: `Worker: processor time of ${event}`,
  unit: "µs",
  figures: figures("worker", Object.keys(steps)),
});
reportFigures({
  question: `PostgreSQL: processor time of ${event}`,
  unit: "µs",
  figures: figures("server", both),
});
const inServer = (round) => both.reduce((sum, name) => sum + measured[name][round].server, 0);
const { perSecond: value, low, high } = summary(measured.deliver.map((_, round) => inServer(round)));
reportFigures({
  question: `PostgreSQL: processor time from enqueueing to the end, of ${event}`,
  unit: "µs",
  figures: { "enqueue and deliver": { value, low, high, atMost: 200 } },
});
reportFigures({
  question: `PostgreSQL: transactions that write, of ${event}`,
  unit: "transactions",
  figures: figures("commits", both),
});
reportFigures({
  question: `PostgreSQL: write-ahead log of ${event}`,
  unit: "bytes",
  figures: figures("wal", both),
});
await server.end();
await engine.store.close();
await engine.close();
process.exit();
