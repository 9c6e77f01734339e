// Stores a user and an event in one transaction of Drizzle on SQLite.
import { drizzle } from "drizzle-orm/better-sqlite3";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { connection, offboarded, outbox } from "./sqlite-outbox.mjs";

const users = sqliteTable("users", { id: text().primaryKey(), active: integer({ mode: "boolean" }) });
const database = drizzle({ client: connection });

export const offboard = async (userId) =>
  database.transaction(
    (tx) => {
      outbox.enqueue(offboarded(userId), { tx: connection }); // stored when it returns: SQLite is synchronous
      tx.insert(users).values({ id: userId, active: false }).run();
    },
    { behavior: "immediate" },
  );

export const close = () => connection.close();
