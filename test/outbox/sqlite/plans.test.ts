import type { OpenSqliteDatabase } from "hookproof/node";
import { sqliteStore } from "hookproof/outbox/sqlite";
import type { OutboxStore } from "hookproof/outbox/store";
import { expect } from "vitest";
import { itOn, newOutboxFile, SQLITE_DRIVERS, storedEvent } from "./files.js";

/** The steps of a list of what waits. */
const READS_WAITING =
  /INDEX hookproof_outbox_(?:due|key|aside|later)\b|^SEARCH hookproof_outbox USING INTEGER PRIMARY KEY|^SCAN \(?(?:subquery|SUBQUERY)|^(?:LIST SUBQUERY|CO-ROUTINE|COMPOUND QUERY|LEFT-MOST SUBQUERY|UNION ALL|USE TEMP B-TREE FOR ORDER BY|MATERIALIZE)/;

const ATTEMPT = { number: 1, startedAt: 1_767_225_600_000, durationMs: 3, status: 200 };

/** A connection that notes every query it is asked to prepare. */
function noting(db: OpenSqliteDatabase, noted: Set<string>): OpenSqliteDatabase {
  return {
    exec: (sql) => db.exec(sql),
    prepare(sql) {
      noted.add(sql);
      return db.prepare(sql);
    },
    close: () => db.close(),
  };
}

/** Has the store do everything it can. */
async function useAll(store: OutboxStore, now: number): Promise<void> {
  const listeners = new Map([["lst_1", { most: 10, windowMs: 604_800_000 }]]);
  const claim = () => store.claim({ limit: 10, leaseMs: 60_000, listeners });
  const keyed = () => storedEvent("lst_1", { orderingKey: "k" });
  await store.enqueue([storedEvent("lst_1"), keyed(), keyed()]);
  const [one, two] = await claim();
  if (!one || !two) throw new Error("nothing was claimed");
  await store.markDelivered([{ lease: one.lease, outcome: "delivered", attempt: ATTEMPT }]);
  await store.reschedule(two.lease, now, ATTEMPT);
  const [three] = await claim();
  if (three) await store.release([three.lease]);
  const [four] = await claim();
  if (four)
    await store.fail(four.lease, {
      reason: "refused",
      code: "REQUEST_REFUSED",
      attempt: ATTEMPT,
      blocksKey: true,
    });
  for (const filter of [{}, { listener: "lst_1" }]) for await (const _ of store.deadLetters(filter));
  await store.redrive({ ids: [two.event.id] }, 1);
  await store.find(two.event.id);
  await store.stats();
  await store.now();
  await store.drop({ ids: [] });
  await store.expire(new Map([["lst_1", { windowMs: 1, blocksKey: false }]]));
  await store.prune({ delivered: now + 1, dead: now + 1 });
  for (const filter of [{}, { listener: "lst_1" }, { ids: [two.event.id] }])
    for (const more of [{}, { listener: "lst_1" }]) {
      await store.pending({ ...filter, ...more }, 10);
      await store.cancel({ ...filter, ...more });
    }
}

for (const [driver, openFile] of Object.entries(SQLITE_DRIVERS))
  itOn(driver)(
    `no query reads through the events, so that a backlog slows nothing down: ${driver}`,
    async () => {
      const { file, remove } = newOutboxFile();
      const noted = new Set<string>();
      const store = sqliteStore({ open: () => noting(openFile(file), noted) });
      const db = openFile(file);
      try {
        await useAll(store, Date.now());
        const queries = [...noted].filter((sql) => /hookproof_outbox\b/.test(sql));
        expect(queries.length).toBeGreaterThan(15);
        const found = new Set<string>();
        for (const sql of queries) {
          // A plan does not depend on the values; not null, as libsql takes no null that stands alone.
          const values = Array.from(sql.matchAll(/\?/g), () => 0);
          const plan = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values) as { detail: string }[];
          const steps = plan.map(({ detail }) => detail);
          const isById = sql.includes("json_each"); // those few are sorted
          if (sql.includes("INDEXED BY hookproof_outbox_due")) {
            // A list of what waits is sorted, but reads nothing that has ended.
            expect([sql, steps.filter((step) => !READS_WAITING.test(step))]).toEqual([sql, []]);
            continue;
          }
          // `waiting` has a row for each listener, and `sqlite_master` one for each table and index.
          const slow = steps.filter((step) =>
            (isById
              ? /^SCAN h|_ended/
              : /^SCAN (?!waiting$|given$|sqlite_master$|CONSTANT ROW$)|TEMP B-TREE/
            ).test(step),
          );
          expect([sql, slow]).toEqual([sql, []]);
          if (sql.includes("due_at = visible_at, visible_at = ?"))
            expect(steps).toContainEqual(
              expect.stringContaining("USING INDEX hookproof_outbox_due (listener=? AND"),
            );
          // A listener's dead letters are found without those of others, and all of them in the order of their ends.
          if (/^SELECT .* WHERE state = 2 AND ended_at IS NOT NULL (?:AND|ORDER)/s.test(sql)) {
            const index = sql.includes("listener = ?") ? "dead (listener=? AND" : "ended (state=? AND";
            expect([sql, steps.join()]).toEqual([sql, expect.stringContaining(`hookproof_outbox_${index}`)]);
            found.add(index);
          }
          // An event whose result is stored is found without the index of ids.
          if (sql.includes("lease_token = ? AND"))
            expect(steps).toContainEqual(
              expect.stringContaining("hookproof_outbox USING INTEGER PRIMARY KEY (rowid=?)"),
            );
        }
      } finally {
        await store.close();
        db.close();
        remove();
      }
    },
  );
