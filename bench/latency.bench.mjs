// How long is an event on its way, from the moment it is to be enqueued to its receiver, at half and at four fifths of
// what the outbox can do? Each round measures first what it can do, in the same processes: one that enqueues events one
// by one and delivers them, the receiver, and PostgreSQL where DATABASE_URL names one. There a queue by hand gets as many
// events in the same round.
import { fork } from "node:child_process";
import { once } from "node:events";
import { hmacSigner, newEventId } from "hookproof";
import { createOutbox } from "hookproof/outbox";
import { seededRandom } from "../test/kit/seed.mjs";
import { postgresEngine, sqliteEngine } from "./outbox-engines.mjs";
import { queueByHand, workerByHand } from "./queue-by-hand.mjs";
import { poster, signedHeaders } from "./signed-by-hand.mjs";
import { quick, reportFigures, summary } from "./support.mjs";

const ROUNDS = quick ? 2 : 9;
const CAPACITY_MS = quick ? 1_000 : 3_000;
const OFFERED_MS = quick ? 1_000 : 4_000;
/** So many events are between `enqueue` and their receiver while capacity is measured. */
const AT_ONCE = 200;
const LEVELS = [
  { share: 0.5, name: "half of it", atMost: 25 },
  { share: 0.8, name: "four fifths of it", atMost: 100 },
];
const secret = "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE";
const signer = hmacSigner({ secret });
const payload = { type: "user.offboarded", note: "x".repeat(980) };

const receiver = fork(new URL("latency-receiver.mjs", import.meta.url));
const [port] = await once(receiver, "message");
const url = `http://127.0.0.1:${port}/api/v1/webhooks/incoming/lst_1`;

/** Milliseconds of the clock that all processes of the machine share. */
const now = () => Number(process.hrtime.bigint()) / 1e6;
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** The events that have arrived since the last time, with when. */
async function arrivals() {
  receiver.send("tell");
  const [all] = await once(receiver, "message");
  return all;
}

/** A worker that runs, and what was delivered. */
function worker(store) {
  let [delivered, enqueued] = [0, 0];
  const outbox = createOutbox({
    store,
    listeners: { a: { url, signer, concurrency: 100 } },
    observe(event) {
      if (event.type === "delivery-ended") delivered++;
    },
  });
  outbox.start();
  return {
    /** Events that are under way. */
    underWay: () => enqueued - delivered,
    count: () => delivered,
    enqueue(eventId = newEventId()) {
      enqueued++;
      return outbox.enqueue({ listener: "a", payload, eventId });
    },
    async calm() {
      while (delivered < enqueued) await pause(5);
    },
    stop: () => outbox.stop(),
  };
}

/** The same over a queue by hand: signed and sent by Node alone, and marked as done by the batch. */
async function workerOfHand() {
  const queue = await queueByHand();
  const { post, close } = poster(url);
  let [delivered, enqueued] = [0, 0];
  const one = workerByHand(queue.pool, queue.schema, 200, async (rows) => {
    await Promise.all(rows.map(({ id, body }) => post(body, signedHeaders(secret, id, body))));
    delivered += rows.length;
  });
  one.start();
  return {
    async enqueue(eventId) {
      enqueued++;
      await queue.enqueue([eventId], [Buffer.from(JSON.stringify(payload))]);
      one.wake();
    },
    async calm() {
      while (delivered < enqueued) await pause(5);
    },
    async close() {
      await one.stop();
      close();
      await queue.close();
    },
  };
}

/** Events a second, where each that was delivered makes place for another one. */
async function capacity(one) {
  const until = now() + CAPACITY_MS;
  const warm = now() + CAPACITY_MS / 4;
  let [from, at] = [0, 0];
  while (now() < until) {
    const free = AT_ONCE - one.underWay();
    await Promise.all(Array.from({ length: Math.min(50, free) }, () => one.enqueue()));
    if (at === 0 && now() > warm) [from, at] = [one.count(), now()];
    if (free < 1) await new Promise((resolve) => setImmediate(resolve));
  }
  const perSecond = ((one.count() - from) * 1_000) / (now() - at);
  await one.calm();
  return perSecond;
}

/** The milliseconds of each event on its way, at random moments that come `perSecond` on average. */
async function offered(one, perSecond, random) {
  await arrivals();
  const due = new Map();
  const calls = [];
  const end = now() + OFFERED_MS;
  for (let next = now(); next < end; ) {
    for (; next <= now() && next < end; next -= (Math.log(1 - random()) * 1_000) / perSecond) {
      const eventId = newEventId();
      due.set(eventId, next); // not when it came to be enqueued: a process that is late for it is part of the way
      calls.push(one.enqueue(eventId));
    }
    await pause(Math.max(0, next - now()));
  }
  await Promise.all(calls);
  await one.calm();
  return (await arrivals()).filter(([id]) => due.has(id)).map(([id, at]) => at - due.get(id));
}

function quantile(times, share) {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

/** What is measured, and beside it, with as many events a second, what was written by hand. */
async function measure({ name, store }, byHand) {
  const random = seededRandom("latency");
  const rates = [];
  const ways = byHand ? ["", ", by hand"] : [""];
  const times = LEVELS.flatMap(({ share, name: level, atMost }) =>
    ways.map((way) => ({ share, way, level, p50: [], p99: [], ...(way === "" && { atMost }) })),
  );
  for (let round = -1; round < ROUNDS; round++) {
    const one = worker(store);
    const perSecond = await capacity(one);
    for (const { share, way, p50, p99 } of times) {
      const all = await offered(way === "" ? one : byHand, perSecond * share, random);
      if (round < 0) continue; // the round before the first one warms up
      p50.push(quantile(all, 0.5));
      p99.push(quantile(all, 0.99));
    }
    if (round >= 0) rates.push(perSecond);
    await one.stop();
  }
  const figure = (all, atMost) => {
    const { perSecond: value, low, high } = summary(all);
    return { value, low, high, ...(atMost && { atMost }) };
  };
  reportFigures({
    question: `${name}: the most events of 1 KB a second, enqueued one by one and delivered by one process`,
    unit: "a second",
    figures: { "enqueued and delivered": figure(rates) },
  });
  reportFigures({
    question: `${name}: from enqueue to the receiver, at a share of the most`,
    unit: "ms",
    figures: Object.fromEntries(
      times.flatMap(({ level, way, p50, p99, atMost }) => [
        [`${level}, p50${way}`, figure(p50)],
        [`${level}, p99${way}`, figure(p99, atMost)],
      ]),
    ),
  });
}

const sqlite = sqliteEngine();
await measure(sqlite);
await sqlite.store.close();
await sqlite.close();
const postgres = await postgresEngine({ beside: false });
if (postgres) {
  const byHand = await workerOfHand();
  await measure(postgres, byHand);
  await byHand.close();
  await postgres.store.close();
  await postgres.close();
}
process.exit();
