// An application on Express that shares its pool with the outbox, and ends on SIGTERM in its own order.
import express from "express";
import { hmacSigner } from "hookproof";
import { createOutbox } from "hookproof/outbox";
import { postgresStore } from "hookproof/outbox/postgres";
import pg from "pg";

const secret = process.env.LISTENER_SECRET;
if (!secret) throw new Error("LISTENER_SECRET is missing: the secret of the listener.");

const connectionString = process.env.DATABASE_URL ?? "postgres://localhost/app";
const pool = new pg.Pool({ connectionString, connectionTimeoutMillis: 5_000 });
await pool.query("CREATE TABLE IF NOT EXISTS users (id text PRIMARY KEY, active boolean NOT NULL)");

const outbox = createOutbox({
  store: postgresStore({ pool }),
  listeners: {
    offboarding: {
      url: process.env.LISTENER_URL ?? "https://tenant.example.com/api/v1/webhooks/incoming/lst_offboarding",
      signer: hmacSigner({ secret }),
    },
  },
});

const app = express();
app.post("/users/:userId/offboard", async (request, response) => {
  const { userId } = request.params;
  const client = await pool.connect();
  try {
    await client.query("BEGIN");
    await client.query("INSERT INTO users VALUES ($1, false)", [userId]);
    const payload = { type: "user.offboarded", userId };
    await outbox.enqueue({ listener: "offboarding", payload }, { tx: client });
    await client.query("COMMIT");
    response.json({ offboarded: userId });
  } catch (error) {
    await client.query("ROLLBACK").catch(() => {});
    throw error;
  } finally {
    client.release();
  }
});

outbox.start();
const server = app.listen(Number(process.env.PORT ?? 3000), "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${server.address().port}`);
});

// Anyone who handles SIGTERM takes Node's own end away: what follows has to end all that keeps the process alive.
process.once("SIGTERM", async () => {
  await new Promise((closed) => server.close(closed)); // no more requests; those that run are answered
  await outbox.stop(); // no more deliveries; those that run end. The pool is left as it is
  await pool.end(); // last, as both have needed it
  console.log("ended");
});
