// Stores a user and an event in one transaction of Drizzle, over the pool that the outbox has.
import { sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import { boolean, pgTable, text } from "drizzle-orm/pg-core";
import { offboarded, outbox, pool } from "./outbox.mjs";

const users = pgTable("users", { id: text().primaryKey(), active: boolean().notNull() });
const database = drizzle(pool);

/** Drizzle has no statement of a text and values: this puts the values between the parts of the text. */
const statement = (text, values) =>
  sql.join(
    text
      .split(/\$\d+/)
      .flatMap((part, n) => (n === 0 ? [sql.raw(part)] : [sql`${values[n - 1]}`, sql.raw(part)])),
  );

export const offboard = (userId) =>
  database.transaction(async (tx) => {
    await outbox.enqueue(offboarded(userId), {
      tx: (text, values) => tx.execute(statement(text, values)),
    });
    await tx.insert(users).values({ id: userId, active: false });
  });

export async function close() {}
