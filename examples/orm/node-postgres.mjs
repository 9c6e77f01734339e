// Stores a user and an event in one transaction of node-postgres.
import { offboarded, outbox, pool } from "./outbox.mjs";

export async function offboard(userId) {
  const client = await pool.connect();
  try {
    await client.query("BEGIN");
    await outbox.enqueue(offboarded(userId), { tx: client });
    await client.query("INSERT INTO users VALUES ($1, false)", [userId]);
    await client.query("COMMIT");
  } catch (error) {
    await client.query("ROLLBACK");
    throw error;
  } finally {
    client.release();
  }
}

export async function close() {}
