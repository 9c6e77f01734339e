// One process of the chaos run, until it is killed or told to end: a producer, which enqueues in transactions and
// tells what it is about to commit and what it has, or a dispatcher, which delivers.
import { createHash, randomUUID } from "node:crypto";
import { setTimeout as pass } from "node:timers/promises";
import { hmacSigner } from "hookproof";
import { createOutbox } from "hookproof/outbox";
import { seededRandom } from "../kit/seed.mjs";
import { tellStandstills, watched } from "./hindrances.mjs";
import { ENGINES } from "./outbox-engines.mjs";

const task = JSON.parse(process.argv[2]);
const { role, name, engine, place, urls, secret, startedAt, speed, leaseMs } = task;
const clock = { now: () => startedAt + (Date.now() - startedAt) * speed };
const random = seededRandom(`${role} ${name}`);
const below = (limit) => Math.floor(random() * limit);
const tell = (line) => new Promise((resolve) => process.stdout.write(`${JSON.stringify(line)}\n`, resolve));
/** For the history of a run that breaks a promise. */
const observe = (activity) => {
  const { type, available, code, cause, message } = activity;
  if (type === "store-changed")
    tell({ said: available ? "has its store back" : `cannot use its store: ${code}: ${cause?.message}` });
  else if (type === "warning") tell({ said: `warns: ${message}` });
};
tellStandstills(tell);
let isTold = false;
process.stdin.on("data", () => {
  isTold = true;
});

const { store, transaction } = await ENGINES[engine](place, clock);
const signer = hmacSigner({ secret });
const outbox = createOutbox({
  store: role === "dispatcher" ? watched(store, tell) : store,
  // The machine of each dispatcher has a clock of its own, which is off; the store's is right.
  clock: { now: () => clock.now() + (task.clockOffMs ?? 0) },
  wait: (ms, signal) => pass(ms / speed, undefined, { signal }).catch(() => {}),
  random,
  observe,
  concurrency: task.concurrency,
  pollMs: 20 * speed,
  leaseMs: leaseMs * speed,
  listeners: Object.fromEntries(
    Object.entries(urls).map(([listener, url]) => [
      listener,
      {
        url,
        signer,
        concurrency: 3 * task.concurrency, // so that the limit over all listeners is the one that counts
        attemptTimeoutMs: task.attemptTimeoutMs,
        retry: {
          firstDelayMs: task.firstDelayMs * speed,
          maxDelayMs: 500 * speed,
          maxRetryAfterMs: task.maxRetryAfterMs * speed,
        },
        // Opened by the outage, and not by the 30 %.
        breaker: { failureShare: 0.8, windowMs: 500 * speed, openMs: 200 * speed },
      },
    ]),
  ),
});
await tell({ ready: true });
await (role === "producer" ? produce() : deliver());
process.exit();

async function produce() {
  const mine = randomUUID().slice(0, 8);
  for (let number = 0; !isTold; ) {
    const events = Array.from({ length: 1 + below(19) }, () => {
      const listener = below(50) === 0 ? "refusing" : "taking";
      const orderingKey = below(5) === 0 ? `${mine}-${below(3)}` : undefined;
      const payload = { key: orderingKey, place: number++, by: mine, note: "ü".repeat(below(300)) };
      return { listener, eventId: randomUUID(), orderingKey, payload };
    });
    const of = (listener) =>
      events
        .filter((event) => event.listener === listener)
        .map(({ eventId, payload }) => [
          eventId,
          createHash("sha256").update(JSON.stringify(payload)).digest("base64url"),
        ]);
    const said = { taking: of("taking"), refusing: of("refusing") };
    const end = below(15) === 0 ? "ROLLBACK" : "COMMIT";
    if (end === "COMMIT") await tell({ offered: said });
    const isEnded = await transaction(randomUUID(), end, (tx) => outbox.enqueue(events, { tx })).then(
      () => true,
      () => false, // the store was cut off: whether it committed is not known
    );
    if (isEnded) await tell({ [end === "COMMIT" ? "acknowledged" : "undone"]: said });
    await pass(below(30));
  }
}

async function deliver() {
  outbox.start();
  while (!isTold) await pass(20);
  await outbox.stop();
}
