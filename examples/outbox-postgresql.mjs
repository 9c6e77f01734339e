// Offboards a user and tells a listener of it, in one transaction on PostgreSQL. Any number of these programs, on any
// number of machines, may run at once. The outbox keeps its tables in the schema hookproof.
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
  observe(event) {
    if (event.type === "delivery-ended") console.log(event.outcome, event.eventId);
    if (event.type === "warning") console.warn(event.message);
  },
});

/** @returns whether the user was active; if not, nothing is stored and nothing is sent */
async function offboard(userId) {
  const client = await pool.connect();
  try {
    await client.query("BEGIN");
    await outbox.enqueue(
      { listener: "offboarding", payload: { type: "user.offboarded", userId } },
      { tx: client },
    );
    await client.query("INSERT INTO users VALUES ($1, false)", [userId]);
    await client.query("COMMIT");
    return true;
  } catch (error) {
    await client.query("ROLLBACK");
    if (error.code === "23505") return false;
    throw error;
  } finally {
    client.release();
  }
}

outbox.start();
for (const userId of process.argv.slice(2))
  console.log((await offboard(userId)) ? "offboarded" : "knew", userId);
process.once("SIGTERM", async () => {
  await outbox.stop();
  await pool.end();
  process.exit();
});
