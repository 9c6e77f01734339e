// Runs the contract on the SQLite of the runtime itself, against the built library: node:sqlite or bun:sqlite.
import { openSqlite, sqliteStore } from "hookproof/node";
import { fixedClock, outboxStoreContract } from "hookproof/testing";

for (const [index, { name, run }] of outboxStoreContract.entries()) {
  const clock = fixedClock("2026-01-01T00:00:00Z");
  const open = () => openSqlite(`${process.argv[2]}/${index}.db`);
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
