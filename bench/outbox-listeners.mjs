// What an event costs an outbox by the number of its listeners: the same events for 10 and for 10,000 of them, through
// each engine, enqueued by the hundred and delivered by a worker that runs, without a network.
import { hmacSigner } from "hookproof";
import { createOutbox, memoryStore } from "hookproof/outbox";
import { postgresEngine, sqliteEngine } from "./outbox-engines.mjs";
import { quick, reportFigures, reportGrowth, summary } from "./reporting.mjs";

const signer = hmacSigner({ secret: "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE" });
const url = "https://tenant.example.com/api/v1/webhooks/incoming/lst_bench";
const payload = { type: "user.offboarded", note: "x".repeat(980) };
const BATCH = 100;
const BATCHES = quick ? 5 : 20;

/** A worker over an empty store; `round` gives the microseconds that an event took of the wall clock. */
function workerOf(store, count) {
  let left = 0;
  let delivered = () => {};
  const listener = {
    url,
    signer,
    transport: async () => {
      left -= 1;
      if (left === 0) setImmediate(delivered);
      return { status: 200, headers: [], body: new Uint8Array(), truncated: false };
    },
  };
  const listeners = Object.fromEntries(Array.from({ length: count }, (_, n) => [`l${n}`, listener]));
  const outbox = createOutbox({ store, listeners });
  let turn = 0;
  const event = () => ({ listener: `l${turn++ % count}`, payload });
  return {
    async round() {
      left = BATCH * BATCHES;
      const done = new Promise((resolve) => {
        delivered = resolve;
      });
      const start = performance.now();
      outbox.start();
      for (let n = 0; n < BATCHES; n++) await outbox.enqueue(Array.from({ length: BATCH }, event));
      await done;
      const micros = ((performance.now() - start) * 1000) / (BATCH * BATCHES);
      await outbox.stop();
      return micros;
    },
  };
}

const ENGINES = {
  memory: async () => ({ store: memoryStore(), close: async () => {} }),
  SQLite: async () => sqliteEngine(),
  PostgreSQL: () => postgresEngine({ beside: false }),
};

/** Reports the cost by the number of listeners, and what ten thousand cost over ten. */
export async function reportListeners() {
  const counts = quick ? [10, 10_000] : [10, 100, 1_000, 10_000];
  const series = {};
  const figures = {};
  for (const [name, open] of Object.entries(ENGINES)) {
    const engines = [];
    for (const count of counts) {
      const engine = await open();
      if (engine) engines.push({ count, engine, worker: workerOf(engine.store, count), times: [] });
    }
    if (engines.length === 0) continue;
    for (let round = -1; round < (quick ? 7 : 15); round++)
      for (const { worker, times } of engines) {
        const micros = await worker.round();
        if (round >= 0) times.push(micros); // the round before the first one warms up
      }
    series[name] = engines.map(({ count, times }) => [count, summary(times).perSecond]);
    const [few, many] = [engines[0].times, engines.at(-1).times];
    const { perSecond: value, low, high } = summary(many.map((micros, round) => micros / few[round]));
    figures[name] = { value, low, high, atMost: 1.2 };
    for (const { engine } of engines) await engine.close();
  }
  reportGrowth({
    plot: "outbox-listeners",
    question: "An event of 1 KB through an outbox by the number of its listeners, no network",
    x: { label: "listeners", log: true },
    y: { label: "µs an event", log: true },
    series,
  });
  reportFigures({
    question: "What an event costs among 10,000 listeners over what it costs among 10",
    unit: "times",
    figures,
  });
}
