// Stores a user and an event in one transaction of Knex on SQLite.
import knex from "knex";
import { file, offboarded, outbox } from "./sqlite-outbox.mjs";

/** Knex has one connection to a file of SQLite, and a transaction is that connection's. */
let connection;
const database = knex({
  client: "better-sqlite3",
  connection: { filename: file },
  useNullAsDefault: true,
  pool: {
    afterCreate(made, done) {
      connection = made;
      made.exec("PRAGMA synchronous = FULL");
      done();
    },
  },
});

export const offboard = (userId) =>
  database.transaction(async (trx) => {
    await trx("users").insert({ id: userId, active: false });
    await outbox.enqueue(offboarded(userId), { tx: connection });
  });

export const close = () => database.destroy();
