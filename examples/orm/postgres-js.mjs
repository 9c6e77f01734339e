// Stores a user and an event in one transaction of postgres.js.
import postgres from "postgres";
import { connectionString, offboarded, outbox } from "./outbox.mjs";

const sql = postgres(connectionString);

export const offboard = (userId) =>
  sql.begin(async (tx) => {
    await outbox.enqueue(offboarded(userId), { tx: (text, values) => tx.unsafe(text, values) });
    await tx`INSERT INTO users VALUES (${userId}, false)`;
  });

export const close = () => sql.end();
