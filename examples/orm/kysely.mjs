// Stores a user and an event in one transaction of Kysely, over the pool that the outbox has.
import { CompiledQuery, Kysely, PostgresDialect } from "kysely";
import { offboarded, outbox, pool } from "./outbox.mjs";

const database = new Kysely({ dialect: new PostgresDialect({ pool }) });

export const offboard = (userId) =>
  database.transaction().execute(async (trx) => {
    await outbox.enqueue(offboarded(userId), {
      tx: (text, values) => trx.executeQuery(CompiledQuery.raw(text, values)),
    });
    await trx.insertInto("users").values({ id: userId, active: false }).execute();
  });

export async function close() {} // destroy() would end the pool, which is the outbox's as well
