// A function of listeners that fails, over PostgreSQL.
import { afterAll, it, onTestFinished } from "vitest";
import { describeWith } from "../../kit/needs.js";
import { testPostgres } from "../../kit/postgres.js";
import { testOutbox } from "../../kit/postgres-outbox.js";
import { drainsAndForgets, failsForAll, failsForMany } from "../failing-lookups.js";

const postgres = await testPostgres();
afterAll(() => postgres?.stop());

describeWith("postgresql", postgres)("a function of listeners, over PostgreSQL", () => {
  const open = () => {
    const outbox = testOutbox(postgres?.url ?? "");
    onTestFinished(() => outbox.drop());
    return outbox.store() as never;
  };

  it("that fails for all is asked 100 times a second at most, and its first answer lets all go", () =>
    failsForAll(open));
  it("that fails for thousands holds up none of the others, and is asked about each ever less", () =>
    failsForMany(open));
  it("that fails for the first names is asked about all before a drain ends, and at once after forget", () =>
    drainsAndForgets(open));
});
