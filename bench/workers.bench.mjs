// What does an event cost when 1, 2, 4 and 8 worker processes share one PostgreSQL, with the listener's limits on, and
// do they share the work fairly? The same of a queue by hand, which has no limits. Processor time of the workers and of
// the server together. Needs DATABASE_URL.
import { fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { hmacSigner } from "hookproof";
import { createOutbox } from "hookproof/outbox";
import { postgresEngine } from "./outbox-engines.mjs";
import { postgresCost } from "./postgres-cost.mjs";
import { queueByHand } from "./queue-by-hand.mjs";
import { quick, reportFigures, summary } from "./support.mjs";

const COUNTS = [1, 2, 4, 8];
/** How many events a worker may have under way by default. */
const PLACES = 250;
/** The listener's limit over all workers; see workers-case.mjs. */
const LIMIT = 400;
/** Enough that a share of an eighth is more than a few claims. */
const EVENTS = quick ? 4_000 : 16_000;
const ROUNDS = quick ? 3 : 7;
/** Events of each worker before the first round: code that is not compiled yet costs several times as much. */
const WARM = quick ? 500 : 2_000;
/** How often the workers are asked how far they are: that is work of theirs too. */
const ASK_MS = 100;

if (!process.env.DATABASE_URL) {
  console.error("workers: DATABASE_URL names no server, so nothing is measured.");
  process.exit();
}
const server = await postgresCost();
const url = "https://tenant.example.com/api/v1/webhooks/incoming/lst_1";
const signer = hmacSigner({ secret: "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE" });
const payload = { type: "user.offboarded", note: "x".repeat(980) };

/** What fills the outbox and lets it go. */
async function outboxQueue() {
  const engine = await postgresEngine({ beside: false });
  const outbox = createOutbox({ store: engine.store, listeners: { limited: { url, signer } } });
  await outbox.stats(); // makes the tables
  return {
    schema: engine.schema,
    enqueue: (count) => outbox.enqueue(Array(count).fill({ listener: "limited", payload })),
    pause: () => outbox.pause("limited"),
    resume: () => outbox.resume("limited"),
    async close() {
      await engine.store.close();
      await engine.close();
    },
  };
}

/** The same by hand. */
async function handQueue() {
  const queue = await queueByHand();
  const body = Buffer.from(JSON.stringify(payload));
  return {
    ...queue,
    enqueue: (count) => queue.enqueue(Array.from({ length: count }, randomUUID), Array(count).fill(body)),
  };
}

const KINDS = { outbox: outboxQueue, "by hand": handQueue };

/** A queue with so many worker processes of so many places each, which stand until a round begins. */
async function team(kind, count, places) {
  const queue = await KINDS[kind]();
  const workers = Array.from({ length: count }, () =>
    fork(new URL("workers-case.mjs", import.meta.url), [kind, queue.schema, String(places)]),
  );
  await Promise.all(workers.map((worker) => once(worker, "message")));
  return { kind, count, places, queue, workers, costs: [], unfair: [] };
}

/** Every worker's answer to an order. */
function ordered(workers, order) {
  return Promise.all(
    workers.map(async (worker) => {
      worker.send(order);
      const [answer] = await once(worker, "message");
      return answer;
    }),
  );
}

const sum = (all, of) => all.reduce((total, one) => total + one[of], 0);

/** Asks the workers until this is so of what each of them has delivered since an earlier answer. */
async function until(isSo, workers, earlier) {
  for (;;) {
    const answers = await ordered(workers, "tell");
    if (isSo(answers.map(({ delivered }, n) => delivered - earlier[n].delivered))) return answers;
    await new Promise((resolve) => setTimeout(resolve, ASK_MS));
  }
}

const totalOf = (delivered) => delivered.reduce((total, one) => total + one);

/** One round: the workers are warm, and a backlog that was stored during a pause is let go all at once. */
async function round({ count, queue, workers, costs, unfair }, isMeasured) {
  const began = await ordered(workers, "start");
  const warming = (isMeasured ? 100 : WARM / 2) * count;
  for (let n = 0; n < warming; n += 100) await queue.enqueue(100);
  await until((all) => totalOf(all) >= warming, workers, began);
  await queue.pause();
  for (let n = 0; n < EVENTS; n += 100) await queue.enqueue(100);
  const warm = await ordered(workers, "tell");
  const before = await server.now();
  await queue.resume();
  const done = await until((all) => totalOf(all) >= EVENTS, workers, warm);
  const after = await server.now();
  await ordered(workers, "stop");
  if (!isMeasured) return;
  costs.push((after.micros - before.micros + sum(done, "micros") - sum(warm, "micros")) / EVENTS);
  const shares = done.map(({ delivered }, n) => (delivered - warm[n].delivered) / EVENTS);
  unfair.push(Math.max(...shares.map((share) => Math.abs(share * count - 1))));
}

const teams = [];
for (const kind of Object.keys(KINDS)) {
  for (const count of COUNTS) teams.push(await team(kind, count, PLACES));
  // Each with no more places than its part of the listener's limit.
  for (const count of COUNTS.filter((count) => LIMIT / count < PLACES))
    teams.push(await team(kind, count, LIMIT / count));
}
for (let n = -2; n < ROUNDS; n++) for (const one of teams) await round(one, n >= 0);

/** A figure for each number of workers, of each kind; goals are the outbox's. */
const figures = (valuesOf, goal) =>
  Object.fromEntries(
    teams.map((one) => {
      const { perSecond: value, low, high } = summary(valuesOf(one));
      const workers = one.count === 1 ? "1 worker" : `${one.count} workers`;
      const part = one.places < PLACES ? ` of ${one.places} places` : "";
      const name = `${workers}${part}${one.kind === "outbox" ? "" : `, ${one.kind}`}`;
      return [name, { value, low, high, ...(one.count > 1 && one.kind === "outbox" && goal) }];
    }),
  );
const aloneOf = ({ kind }) => teams.find((one) => one.kind === kind && one.count === 1);
reportFigures({
  question:
    "Workers on one PostgreSQL: processor time of an event delivered from a backlog, workers and server, no network",
  unit: "µs",
  figures: figures(({ costs }) => costs),
});
reportFigures({
  question: "Workers on one PostgreSQL: what an event costs over what it costs with one",
  unit: "times",
  figures: figures((one) => one.costs.map((micros, n) => micros / aloneOf(one).costs[n]), { atMost: 1.15 }),
});
reportFigures({
  question: "Workers on one PostgreSQL: how far the share of one is from an equal share",
  unit: "of it",
  figures: figures(({ unfair }) => unfair, { atMost: 0.1 }),
});
for (const { workers, queue } of teams) {
  for (const worker of workers) worker.disconnect();
  await queue.close();
}
await server.end();
process.exit();
