// Runs the contract on the SQLite of the runtime itself, against the built library: node:sqlite or bun:sqlite.
import { sqliteReplayStore } from "hookproof/node";
import { fixedClock, replayStoreContract } from "hookproof/testing";

const open = process.versions.bun
  ? await import("bun:sqlite").then(
      ({ Database }) =>
        (file) =>
          new Database(file),
    )
  : await import("node:sqlite").then(
      ({ DatabaseSync }) =>
        (file) =>
          new DatabaseSync(file),
    );

for (const [index, { name, run }] of replayStoreContract.entries()) {
  const clock = fixedClock("2026-01-01T00:00:00Z");
  const opened = [];
  await run({
    open() {
      const db = open(`${process.argv[2]}/${index}.db`);
      opened.push(db);
      db.exec("PRAGMA busy_timeout = 5000");
      const store = sqliteReplayStore(db, { clock });
      store.createTable();
      return store;
    },
    passTime: (ms) => clock.advance(ms),
  });
  for (const db of opened) db.close();
  console.log(`ok ${name}`);
}
