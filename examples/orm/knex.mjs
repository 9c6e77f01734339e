// Stores a user and an event in one transaction of Knex.
import knex from "knex";
import { connectionString, offboarded, outbox } from "./outbox.mjs";

const database = knex({ client: "pg", connection: connectionString });

export const offboard = (userId) =>
  database.transaction(async (trx) => {
    await outbox.enqueue(offboarded(userId), {
      tx: (text, values) => trx.raw(text.replace(/\$\d+/g, "?"), values), // Knex wants question marks
    });
    await trx("users").insert({ id: userId, active: false });
  });

export const close = () => database.destroy();
