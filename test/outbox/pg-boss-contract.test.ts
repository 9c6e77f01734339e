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

for (const [engine, start] of engines)
  describeWith(engine, start)(`pgBossStore on ${engine}`, () => {
    let boss: TestBoss;
    beforeAll(async () => {
      boss = await (start as () => Promise<TestBoss>)();
    }, 60_000);
    afterAll(() => boss.drop());

    for (const { name, run } of outboxStoreContract) {
      it(name, async () => {
        const outbox = boss.outbox();
        await run(outbox.subject);
        await outbox.drop();
      });
    }
  });
