// How late are a worker's events at healthy listeners next to other people's trouble: a dead listener, names that nobody
// has, ordering keys that are blocked, a held snapshot? In turns with a worker that has no such neighbours, on each engine.
import { fork } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { hmacSigner, newEventId } from "hookproof";
import { createOutbox } from "hookproof/outbox";
import pg from "pg";
import { seededRandom } from "../test/kit/seed.mjs";
import { postgresEngine, sqliteEngine } from "./outbox-engines.mjs";
import { quick, reportFigures, summary } from "./support.mjs";

const ROUNDS = quick ? 2 : 5;
const OFFERED_MS = quick ? 1_000 : 3_000;
const PER_SECOND = 100;
const HEALTHY = 10;
/** The neighbours are noticed before it is measured. */
const SETTLE_MS = 1_000;
const share = quick ? 0.05 : 1;
const DEAD = 20_000 * share;
const STRANGERS = 10_000 * share;
const KEYS = 1_000 * share;
const DELIVERED = 100_000 * share;
const BULK = Math.min(DELIVERED, 10_000);

const secret = "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE";
const signer = hmacSigner({ secret });
const payload = { type: "user.offboarded", note: "x".repeat(980) };
const receiver = fork(new URL("latency-receiver.mjs", import.meta.url));
const [port] = await once(receiver, "message");
const urlOf = (at, id) => `http://127.0.0.1:${at}/api/v1/webhooks/incoming/${id}`;
const closed = await portNobodyListensAt();

/** Every name is asked for, as those of tenants are. */
async function listenerOf(name) {
  if (name === "dead") return { url: urlOf(closed, "lst_dead"), signer };
  if (name === "poison") return { url: urlOf(port, "lst_poison"), signer, onDead: "block" };
  if (name.startsWith("healthy")) return { url: urlOf(port, "lst_healthy"), signer };
  return undefined;
}

/** What each trouble leaves in a store; the result ends what it holds. */
const TROUBLES = {
  [`${DEAD.toLocaleString("en")} events of a dead listener`]: ({ outbox }) =>
    inHundreds(outbox, DEAD, () => ({ listener: "dead", payload })),
  [`${STRANGERS.toLocaleString("en")} names that nobody has`]: ({ outbox }) =>
    inHundreds(outbox, STRANGERS, (n) => ({ listener: `stranger ${n}`, payload })),
  [`${KEYS.toLocaleString("en")} blocked ordering keys`]: ({ outbox }) =>
    inHundreds(outbox, KEYS * 5, (n) => ({ listener: "poison", payload, orderingKey: `key ${n % KEYS}` })),
  [`a snapshot held over ${DELIVERED.toLocaleString("en")} deliveries`]: heldSnapshot,
};

async function inHundreds(outbox, count, messageOf) {
  for (let n = 0; n < count; n += 100)
    await outbox.enqueue(Array.from({ length: 100 }, (_, more) => messageOf(n + more)));
}

/** Only PostgreSQL keeps what a snapshot might see. */
async function heldSnapshot({ engine }) {
  if (!engine.schema) return undefined;
  const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, connectionTimeoutMillis: 10_000 });
  const holder = await pool.connect();
  await holder.query("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM pg_class LIMIT 1");
  const event = `${engine.schema}.event`;
  for (let n = 0; n < DELIVERED; n += BULK) {
    await pool.query(`INSERT INTO ${event} (id, listener, state, digest, due_at)
      SELECT gen_random_uuid(), 'healthy ' || n % ${HEALTHY}, 'waiting', 'bulk', clock_timestamp() FROM generate_series(1, ${BULK}) n`);
    await pool.query(`UPDATE ${event} SET state = 'leased', token = id, leased_until = clock_timestamp() + interval '1 s'
      WHERE digest = 'bulk' AND state = 'waiting'`);
    await pool.query(`UPDATE ${event} SET state = 'delivered', token = NULL, leased_until = NULL, ended_at = clock_timestamp()
      WHERE digest = 'bulk' AND state = 'leased'`);
  }
  await pool.query("ANALYZE"); // what autovacuum does by itself within a minute
  return async () => {
    await holder.query("ROLLBACK");
    holder.release();
    await pool.end();
  };
}

const now = () => Number(process.hrtime.bigint()) / 1e6;
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const random = seededRandom("neighbours");

/** The milliseconds from when an event was to be enqueued to its receiver, 99 of 100, for a worker over this store. */
async function lateness(store) {
  const outbox = createOutbox({ store, listeners: listenerOf, quiet: true });
  outbox.start();
  await pause(SETTLE_MS);
  await arrivals();
  const due = new Map();
  const calls = [];
  const end = now() + OFFERED_MS;
  for (let next = now(); next < end; ) {
    for (; next <= now() && next < end; next -= (Math.log(1 - random()) * 1_000) / PER_SECOND) {
      const eventId = newEventId();
      due.set(eventId, next);
      calls.push(outbox.enqueue({ listener: `healthy ${due.size % HEALTHY}`, payload, eventId }));
    }
    await pause(Math.max(0, next - now()));
  }
  await Promise.all(calls);
  const times = [];
  while (times.length < due.size) {
    for (const [id, at] of await arrivals()) if (due.has(id)) times.push(at - due.get(id));
    await pause(20);
  }
  await outbox.stop();
  return times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)];
}

async function arrivals() {
  receiver.send("tell");
  const [all] = await once(receiver, "message");
  return all;
}

async function portNobodyListensAt() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port: free } = server.address();
  server.close();
  return free;
}

async function measure(engineOf) {
  const figures = {};
  let name = "";
  for (const [trouble, make] of Object.entries(TROUBLES)) {
    const engines = [await engineOf(), await engineOf()];
    if (!engines[1]) return;
    name = engines[1].name;
    const outbox = createOutbox({ store: engines[1].store, listeners: listenerOf, quiet: true });
    await engines[1].store.stats(); // makes the tables
    const end = make === heldSnapshot ? await make({ engine: engines[1] }) : await make({ outbox });
    if (make === heldSnapshot && !end) continue;
    const rounds = [];
    for (let round = -1; round < ROUNDS; round++) {
      const [alone, beside] = [await lateness(engines[0].store), await lateness(engines[1].store)];
      if (round >= 0) rounds.push({ alone, beside, times: beside / alone }); // the first one warms up
    }
    for (const [of, unit] of [
      ["alone", "ms"],
      ["beside", "ms"],
      ["times", "times"],
    ]) {
      const { perSecond: value, low, high } = summary(rounds.map((one) => one[of]));
      figures[unit] ??= {};
      const label = of === "alone" ? `without: ${trouble}` : trouble;
      figures[unit][label] = { value, low, high, ...(unit === "times" && { atMost: 2 }) };
    }
    await end?.();
    for (const engine of engines) {
      await engine.store.close();
      await engine.close();
    }
  }
  for (const [unit, all] of Object.entries(figures))
    reportFigures({
      question: `${name}: from enqueue to a healthy listener, 99 of 100 events, ${unit === "ms" ? "next to" : "over what it takes without"}`,
      unit,
      figures: all,
    });
}

await measure(async () => sqliteEngine());
await measure(() => postgresEngine({ beside: false }));
process.exit();
