import { PGlite } from "@electric-sql/pglite";
import { outboxStoreContract } from "hookproof/testing";
import { afterAll, beforeAll, it } from "vitest";
import { describeWith } from "../support/needs.js";
import { bossOnPglite, bossOnPostgres, type TestBoss } from "../support/pg-boss.js";
import { testPostgres } from "../support/postgres.js";

const postgres = await testPostgres();
afterAll(() => postgres?.stop());

const engines: [string, (() => Promise<TestBoss>) | undefined][] = [
  ["PostgreSQL", postgres && (() => bossOnPostgres(postgres.url))],
  ["PGlite", async () => bossOnPglite(await PGlite.create())],
];

/** What this engine does not do; an engine on tables of our own has to. */
const NOT_KEPT = new Set([
  "whoever listens for work is told when events come, or become due", // but by polling
  "thousands of events that are past their window all become dead letters", // of 2,100 some stay behind
  "what a call was given may be changed as soon as it has returned",
]);

for (const [engine, start] of engines)
  describeWith(engine, start)(`pgBossStore on ${engine}`, () => {
    let boss: TestBoss;
    beforeAll(async () => {
      boss = await (start as () => Promise<TestBoss>)();
    }, 60_000);
    afterAll(() => boss.drop());

    for (const { name, run } of outboxStoreContract) {
      (NOT_KEPT.has(name) ? it.fails : it)(name, async () => {
        const outbox = boss.outbox();
        await run(outbox.subject);
        await outbox.drop();
      });
    }
  });
