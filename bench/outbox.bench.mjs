// The outbox: what do enqueueing and delivering cost over the bare engine, how long does an event take, and does a
// backlog change it? `--long` adds a backlog of 10^6 and a million events through SQLite, for their memory.
// PostgreSQL takes part where DATABASE_URL names a server.
import { fork } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { createSender, hmacSigner, newEventId } from "hookproof";
import { createOutbox } from "hookproof/outbox";
import { postgresEngine, sqliteEngine } from "./outbox-engines.mjs";
import { long, report, reportFigures, reportGrowth, summary } from "./support.mjs";

const signer = hmacSigner({ secret: "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE" });
const payload = { type: "user.offboarded", note: "x".repeat(980) };
const BATCH = 100;

const receiver = fork(new URL("send-receiver.mjs", import.meta.url));
const [port] = await once(receiver, "message");
const urlAt = (on) => `http://127.0.0.1:${on}/api/v1/webhooks/incoming/lst_1`;
const sender = createSender({ url: urlAt(port), signer });

function outboxOf(store, options = {}) {
  const a = { url: urlAt(port), signer, concurrency: 100, ...options };
  return createOutbox({ store, listeners: { a } });
}

const events = (count) => Array.from({ length: count }, () => ({ listener: "a", payload }));

/** Operations a second, in rounds that alternate between ours and the bare engine's. */
async function compare(cases, rounds) {
  const rates = Object.fromEntries(Object.keys(cases).map((name) => [name, []]));
  for (let round = -2; round < rounds; round++)
    for (const [name, { before, work }] of Object.entries(cases)) {
      await before?.();
      const start = performance.now();
      const count = await work();
      if (round >= 0) rates[name].push((count * 1000) / (performance.now() - start));
    }
  return Object.fromEntries(Object.entries(rates).map(([name, all]) => [name, summary(all)]));
}

/** The outbox by hand: see outbox-by-hand.mjs. */
const PROMISED = "by hand to the same promises";

/** What of the bare engine's rate is to be reached. */
const GOALS = {
  SQLite: { "enqueue one": 0.7, "enqueue 100": 0.8, "sign, POST, complete": 0.85 },
  PostgreSQL: { "enqueue one": 0.7, "enqueue 100": 0.7, "sign, POST, complete": 1.2 },
};

async function throughput({ name, store, bare, byHand, promised, analyze }) {
  const outbox = outboxOf(store);
  const payloads = Array(BATCH).fill(payload);
  const times = (calls, perCall, enqueue) => async () => {
    for (let i = 0; i < calls; i++) await enqueue();
    return calls * perCall;
  };
  const results = await compare(
    {
      "enqueue one, bare": { work: times(50, 1, () => bare.enqueue(payload)) },
      "enqueue one, outbox": { work: times(50, 1, () => outbox.enqueue({ listener: "a", payload })) },
      "enqueue 100, bare": { work: times(5, BATCH, () => bare.enqueueMany(payloads)) },
      [`enqueue 100, ${PROMISED}`]: { work: times(5, BATCH, () => promised.enqueueMany(payloads)) },
      "enqueue 100, outbox": { work: times(5, BATCH, () => outbox.enqueue(events(BATCH))) },
    },
    31,
  );
  await bare.consume(async () => {});
  await promised.consume(async () => ({ attempts: [{ status: 200 }] }));
  await outboxOf(store, { transport: answerAtOnce }).drain();
  await analyze?.();
  const count = 1_000;
  const sending = (queue) => ({
    before: times(count / BATCH, BATCH, () => queue.enqueueMany(payloads)),
    work: () => queue.consume((given) => sender.send(given)),
  });
  const delivering = await compare(
    {
      "sign, POST, complete, bare": sending(bare),
      ...(byHand && { "sign, POST, complete, by hand": sending(byHand) }),
      [`sign, POST, complete, ${PROMISED}`]: {
        before: times(count / BATCH, BATCH, () => promised.enqueueMany(payloads)),
        work: () => promised.consume(({ id, body }) => sender.send({ id, body })),
      },
      "sign, POST, complete, outbox": {
        before: times(count / BATCH, BATCH, () => outbox.enqueue(events(BATCH))),
        work: () => outbox.drain().then(() => count),
      },
    },
    9,
  );
  report({
    question: `${name}: enqueue and deliver 1 KB`,
    results: { ...results, ...delivering },
    ratios: [
      ...Object.entries(GOALS[name.split(" ")[0]]).map(([what, goal]) => ({
        of: `${what}, outbox`,
        to: `${what}, bare`,
        goal,
      })),
      ...["enqueue 100", "sign, POST, complete"].flatMap((what) => [
        { of: `${what}, ${PROMISED}`, to: `${what}, bare` },
        { of: `${what}, outbox`, to: `${what}, ${PROMISED}` },
      ]),
      ...(byHand ? [{ of: "sign, POST, complete, by hand", to: "sign, POST, complete, bare" }] : []),
    ],
  });
}

/** A transport that goes nowhere: what is left is the outbox. */
async function answerAtOnce() {
  return { status: 200, headers: [], body: new Uint8Array(), truncated: false };
}

/** From `enqueue` to the receiver, at 50 events a second for 6 s. */
async function latency({ name, store }) {
  const arrived = [];
  const sentAt = new Map();
  const server = createServer((request, response) => {
    arrived.push(performance.now() - sentAt.get(request.headers["webhook-event-id"]));
    request.resume().on("end", () => response.end("{}"));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const outbox = outboxOf(store, { url: urlAt(server.address().port) });
  outbox.start();
  const begin = performance.now();
  for (let n = 0; n < 300; n++) {
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, begin + n * 20 - performance.now())));
    const eventId = newEventId();
    sentAt.set(eventId, performance.now());
    await outbox.enqueue({ listener: "a", payload, eventId });
  }
  while (arrived.length < 300) await new Promise((resolve) => setTimeout(resolve, 20));
  await outbox.stop();
  server.close();
  reportFigures({
    question: `${name}: from enqueue to the receiver, at 50 events a second`,
    unit: "ms",
    figures: {
      "p50 of 300": { value: quantile(arrived, 0.5) },
      "p99 of 300": { value: quantile(arrived, 0.99) },
    },
  });
}

/** What a claim, its attempts and their completion cost an event while others wait behind it. */
async function backlog({ fill, turn }, { analyze }, sizes) {
  const cost = [];
  let held = 0;
  for (const size of sizes) {
    for (; held < size; held += 1_000) await fill(1_000);
    await analyze?.();
    const rounds = [];
    // A second of them: what the server does by itself after so many inserts is not what is asked.
    for (let round = 0; round < 200; round++) {
      const start = performance.now();
      const count = await turn();
      if (round >= 10) rounds.push(((performance.now() - start) * 1000) / count);
      held -= count;
      if (held < BATCH) for (; held < size; held += BATCH) await fill(BATCH);
    }
    cost.push([size, summary(rounds).perSecond]);
  }
  return cost;
}

/** The turns of an outbox's worker. */
function turnsOf({ store }) {
  const filler = outboxOf(store);
  return {
    fill: (count) => filler.enqueue(events(count)),
    async turn() {
      const claimed = await store.claim({
        limit: BATCH,
        leaseMs: 60_000,
        listeners: new Map([["a", { most: BATCH, windowMs: 604_800_000 }]]),
      });
      const attempt = { number: 1, startedAt: Date.now(), durationMs: 1, status: 200 };
      await store.markDelivered(claimed.map(({ lease }) => ({ lease, outcome: "delivered", attempt })));
      return claimed.length;
    },
  };
}

/** The same by hand; in SQLite that is the bare engine. */
function turnsByHand({ bare, byHand = bare }) {
  return {
    fill: (count) => byHand.enqueueMany(Array(count).fill(payload)),
    turn: () => byHand.turn(async () => {}, BATCH),
  };
}

/** The others' time from enqueueing to the end, with and without one listener of 50 that hangs, in turn. */
async function hanging({ store }) {
  const silent = createServer(() => {});
  silent.listen(0, "127.0.0.1");
  await once(silent, "listening");
  const names = Array.from({ length: 49 }, (_, n) => `l${n}`);
  const others = Object.fromEntries(names.map((name) => [name, { url: urlAt(port), signer }]));
  const ages = { "none hangs": [], "one of 50 hangs": [] };
  for (let round = 0; round < 4; round++)
    for (const [state, all] of Object.entries(ages)) {
      const of = [];
      const a = { url: urlAt(state === "none hangs" ? port : silent.address().port), signer };
      const outbox = createOutbox({
        store,
        listeners: { ...others, a },
        observe(event) {
          if (event.type === "delivery-ended" && event.listener !== "a") of.push(event.ageMs);
        },
      });
      outbox.start();
      await outbox.enqueue(events(200));
      for (let n = 0; n < 20; n++) {
        await outbox.enqueue(names.map((listener) => ({ listener, payload })));
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      while (of.length < 49 * 20) await new Promise((resolve) => setTimeout(resolve, 20));
      await outbox.stop({ timeoutMs: 0 });
      if (round > 0) all.push(...of);
    }
  silent.close();
  const figures = Object.entries(ages).flatMap(([state, all]) => [
    [`${state}, p50`, { value: quantile(all, 0.5) }],
    [`${state}, p99`, { value: quantile(all, 0.99) }],
  ]);
  reportFigures({
    question: "One hanging listener among 50: the others' events, from enqueueing to their end",
    unit: "ms",
    figures: Object.fromEntries(figures),
  });
}

/** A million events through the outbox, and what the process holds meanwhile. */
async function memory({ store }) {
  const outbox = outboxOf(store, { transport: answerAtOnce });
  const megabytes = [];
  for (let sent = 50_000; sent <= 1_000_000; sent += 50_000) {
    for (let n = 0; n < 50; n++) await outbox.enqueue(events(1_000));
    await outbox.drain();
    megabytes.push([sent, process.memoryUsage.rss() / 2 ** 20]);
  }
  reportGrowth({
    plot: "memory-outbox",
    question: "Memory of a process that brings a million events through the SQLite outbox",
    x: { label: "events delivered" },
    y: { label: "MB" },
    series: { "resident set": megabytes },
  });
  const [first, second] = [megabytes.slice(4, 12), megabytes.slice(12)].map((part) =>
    quantile(
      part.map(([, size]) => size),
      0.5,
    ),
  );
  reportFigures({
    question:
      "Is it flat? The median resident set of the last 400,000 events over that of the 400,000 before",
    unit: "times",
    figures: { "SQLite outbox": { value: second / first, atMost: 1.05 } },
  });
}

function quantile(times, share) {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

const sizes = long ? [1_000, 10_000, 100_000, 1_000_000] : [1_000, 10_000, 100_000];
const series = {};
for (const open of [sqliteEngine, postgresEngine]) {
  await on(open, throughput);
  await on(open, latency);
  await on(open, async (engine) => {
    series[engine.name] = await backlog(turnsOf(engine), engine, sizes);
  });
  await on(open, async (engine) => {
    series[`${engine.name}, by hand`] = await backlog(turnsByHand(engine), engine, sizes);
  });
}
reportGrowth({
  plot: "outbox-backlog",
  question: "Claim, begin and complete, while others wait behind it",
  x: { label: "events waiting", log: true },
  y: { label: "µs an event" },
  series,
});
reportFigures({
  question: `Is it flat? The cost at a backlog of ${sizes.at(-1).toLocaleString("en")} over that at 1,000`,
  unit: "times",
  figures: Object.fromEntries(
    Object.entries(series).map(([name, cost]) => [
      name,
      { value: cost.at(-1)[1] / cost[0][1], ...(!name.endsWith("by hand") && { atMost: 1.2 }) },
    ]),
  ),
});
await on(sqliteEngine, hanging);
if (long) await on(sqliteEngine, memory);
process.exit();

/** Measures over an engine of its own, if there is one. */
async function on(open, measure) {
  const engine = await open();
  if (!engine) return;
  await measure(engine);
  await engine.store.close();
  await engine.close();
}
