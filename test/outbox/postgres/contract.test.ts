import { outboxStoreContract } from "hookproof/testing";
import { afterAll, it } from "vitest";
import { describeWith } from "../../kit/needs.js";
import { testPostgres } from "../../kit/postgres.js";
import { testOutboxBehindProxy } from "../../kit/postgres-outbox.js";

const postgres = await testPostgres();
afterAll(() => postgres?.stop());

describeWith("postgresql", postgres).each(["read committed", "repeatable read", "serializable"])(
  "postgresStore where the default is %s",
  (isolation) => {
    const options = `-c default_transaction_isolation=${isolation.replace(" ", "\\ ")}`;
    for (const { name, run } of outboxStoreContract) {
      const timeoutMs = name === "a store whose connections hang comes back by itself" ? 3_000 : undefined;
      it(name, async () => {
        const outbox = await testOutboxBehindProxy(postgres?.url ?? "", { max: 5, options, timeoutMs });
        try {
          await run(outbox.subject);
        } finally {
          await outbox.drop();
        }
      });
    }
  },
);
