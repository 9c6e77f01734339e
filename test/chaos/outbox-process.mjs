// One process of the chaos run, until it is killed or told to end: a producer, which enqueues in transactions and
// tells what it is about to commit and what it has, or a dispatcher, which delivers.
import { randomInt, randomUUID } from "node:crypto";
import { setTimeout as pass } from "node:timers/promises";
import { hmacSigner } from "hookproof";
import { createOutbox } from "hookproof/outbox";
import { ENGINES } from "./outbox-engines.mjs";

const { role, engine, place, urls, secret, startedAt, speed } = JSON.parse(process.argv[2]);
const clock = { now: () => startedAt + (Date.now() - startedAt) * speed };
const tell = (line) => new Promise((resolve) => process.stdout.write(`${JSON.stringify(line)}\n`, resolve));
let isTold = false;
process.stdin.on("data", () => {
  isTold = true;
});

const { store, transaction } = await ENGINES[engine](place, clock);
const signer = hmacSigner({ secret });
const outbox = createOutbox({
  store,
  clock,
  wait: (ms, signal) => pass(ms / speed, undefined, { signal }).catch(() => {}),
  pollMs: 20 * speed,
  leaseMs: Math.max(2_000 * speed, 6_000),
  listeners: Object.fromEntries(
    Object.entries(urls).map(([name, url]) => [
      name,
      {
        url,
        signer,
        concurrency: 30,
        attemptTimeoutMs: 600,
        retry: { firstDelayMs: 25 * speed, maxDelayMs: 500 * speed, maxRetryAfterMs: 10 * speed },
        // Opened by the outage, and not by the 30 %.
        breaker: { failureShare: 0.8, windowMs: 500 * speed, openMs: 200 * speed, maxOpenMs: 400 * speed },
      },
    ]),
  ),
});
await tell({ ready: true });
await (role === "producer" ? produce() : deliver());
process.exit();

async function produce() {
  const mine = randomUUID().slice(0, 8);
  for (let place = 0; !isTold; ) {
    const events = Array.from({ length: randomInt(1, 20) }, () => {
      const listener = randomInt(50) === 0 ? "refusing" : "taking";
      const orderingKey = randomInt(5) === 0 ? `${mine}-${randomInt(3)}` : undefined;
      return { listener, eventId: randomUUID(), orderingKey, payload: { key: orderingKey, place: place++ } };
    });
    const idsOf = (name) => events.filter(({ listener }) => listener === name).map(({ eventId }) => eventId);
    const said = { taking: idsOf("taking"), refusing: idsOf("refusing") };
    const end = randomInt(15) === 0 ? "ROLLBACK" : "COMMIT";
    if (end === "COMMIT") await tell({ offered: said });
    const isEnded = await transaction(randomUUID(), end, (tx) => outbox.enqueue(events, { tx })).then(
      () => true,
      () => false, // the server was killed: whether it committed is not known
    );
    if (isEnded) await tell({ [end === "COMMIT" ? "acknowledged" : "undone"]: said });
    await pass(randomInt(30));
  }
}

async function deliver() {
  outbox.start();
  while (!isTold) await pass(20);
  await outbox.stop();
}
