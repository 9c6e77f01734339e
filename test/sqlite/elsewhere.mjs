// @ts-check
// Runs the contracts of the SQLite stores on the SQLite of the runtime itself (node:sqlite or bun:sqlite), against the
// built library: elsewhere.mjs <folder>
import { openSqlite } from "hookproof/node";
import { sqliteStore } from "hookproof/outbox/sqlite";
import { sqliteReplayStore } from "hookproof/replay";
import { fixedClock, outboxStoreContract, replayStoreContract } from "hookproof/testing";

const [folder] = process.argv.slice(2);

for (const [index, { name, run }] of replayStoreContract.entries()) {
  const clock = fixedClock("2026-01-01T00:00:00Z");
  /** @type {ReturnType<typeof sqliteReplayStore>[]} */
  const stores = [];
  await run({
    open() {
      const store = sqliteReplayStore({ open: () => openSqlite(`${folder}/ids-${index}.db`), clock });
      stores.push(store);
      return store;
    },
    passTime: (ms) => clock.advance(ms),
  });
  for (const store of stores) store.close();
  console.log(`ok ${name}`);
}

for (const [index, { name, run }] of outboxStoreContract.entries()) {
  const clock = fixedClock("2026-01-01T00:00:00Z");
  const open = () => openSqlite(`${folder}/outbox-${index}.db`);
  await run({
    open: () => sqliteStore({ open, clock }),
    passTime: (ms) => clock.advance(ms),
    async transaction(end, work) {
      const db = open();
      db.exec("PRAGMA synchronous = FULL; PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE");
      await work(db);
      db.exec(end === "commit" ? "COMMIT" : "ROLLBACK");
      db.close();
    },
  });
  console.log(`ok ${name}`);
}
