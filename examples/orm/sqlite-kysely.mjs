// Stores a user and an event in one transaction of Kysely on SQLite.
import { Kysely, SqliteDialect } from "kysely";
import { connection, offboarded, outbox } from "./sqlite-outbox.mjs";

const database = new Kysely({ dialect: new SqliteDialect({ database: connection }) });

export const offboard = (userId) =>
  database.transaction().execute(async (trx) => {
    await outbox.enqueue(offboarded(userId), { tx: connection });
    await trx.insertInto("users").values({ id: userId, active: 0 }).execute();
  });

export const close = () => database.destroy();
