// @ts-check
// Enqueues, claims, begins, ends and redrives events in one file, as fast as it can, until it is killed. It tells
// which events it had stored, and which it had seen end.
import { createHash, randomUUID } from "node:crypto";
import { openSqlite } from "hookproof/node";
import { sqliteStore } from "hookproof/outbox/sqlite";
import { seededRandom } from "../../kit/seed.mjs";

const [file = "", driver, from, name = ""] = process.argv.slice(2);
const random = seededRandom(name);
/** A whole number from `from` up to, but not including, `to`. @param {number} from @param {number} to */
const between = (from, to) => from + Math.floor(random() * (to - from));
const store = sqliteStore({
  open: () => openSqlite(file, /** @type {Parameters<typeof openSqlite>[1]} */ ({ driver, from })),
});
/** @param {object} line */
const report = (line) => new Promise((resolve) => process.stdout.write(`${JSON.stringify(line)}\n`, resolve));
const listeners = new Map([
  ["lst_1", { most: 20, windowMs: 604_800_000 }],
  ["lst_2", { most: 20, windowMs: 604_800_000 }],
]);
const attempt = { number: 1, startedAt: Date.now(), durationMs: 1, status: 200 };

/**
 * @param {Awaited<ReturnType<typeof store.claim>>[number]} claimed
 * @returns {Promise<string[]>}
 */
async function end({ lease, event, now }) {
  switch (between(0, 7)) {
    case 0:
      await store.reschedule(lease, now, attempt);
      return [];
    case 1:
      await store.release([lease]);
      return [];
    case 2:
      await store.fail(lease, {
        reason: "refused",
        code: "REQUEST_REFUSED",
        attempt,
        blocksKey: between(0, 2) === 0,
      });
      return [];
    default:
      return (await store.markDelivered([{ lease, outcome: "delivered", attempt }])) === 1 ? [event.id] : [];
  }
}

await report({ stored: [], ended: [] });
for (;;) {
  const events = Array.from({ length: 5 }, () => {
    const body = Buffer.from(JSON.stringify({ filler: "x".repeat(between(0, 5_000)) }));
    const orderingKey = between(0, 2) === 0 ? undefined : `key-${between(0, 3)}`;
    const digest = createHash("sha256").update(body).digest("base64url");
    return { id: randomUUID(), listener: `lst_${between(1, 3)}`, body, digest, orderingKey };
  });
  await store.enqueue(events);
  const claimed = await store.claim({ limit: 12, leaseMs: 30, listeners });
  const ended = (await Promise.all(claimed.map(end))).flat();
  if (between(0, 4) === 0)
    await store.redrive({}, 60_000, { limit: 5, place: between(0, 2) ? "end" : "kept" });
  await report({ stored: events.map(({ id }) => id), ended });
}
