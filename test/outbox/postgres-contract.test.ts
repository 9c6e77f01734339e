import { outboxStoreContract } from "hookproof/testing";
import { afterAll, it } from "vitest";
import { describeWith } from "../support/needs.js";
import { testPostgres } from "../support/postgres.js";
import { testOutbox } from "../support/postgres-outbox.js";

const postgres = await testPostgres();
afterAll(() => postgres?.stop());

describeWith("postgresql", postgres)("postgresStore", () => {
  for (const { name, run } of outboxStoreContract) {
    it(name, async () => {
      const outbox = testOutbox(postgres?.url ?? "", { max: 5 });
      try {
        await run(outbox.subject);
      } finally {
        await outbox.drop();
      }
    });
  }
});
