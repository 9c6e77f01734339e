// The outbox inside a transaction of Drizzle: what enqueue needs of it is a function that runs a statement.
import { sql, TransactionRollbackError } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import { boolean, pgTable, text } from "drizzle-orm/pg-core";
import { hmacSigner } from "hookproof";
import { createOutbox } from "hookproof/outbox";
import { postgresStore } from "hookproof/outbox/postgres";
import pg from "pg";

const secret = process.env.LISTENER_SECRET;
if (!secret) throw new Error("LISTENER_SECRET is missing: the secret of the listener.");

const connectionString = process.env.DATABASE_URL ?? "postgres://localhost/app";
const pool = new pg.Pool({ connectionString, connectionTimeoutMillis: 5_000 });
const db = drizzle(pool);
const users = pgTable("users", { id: text().primaryKey(), active: boolean().notNull() });
await db.execute(sql`CREATE TABLE IF NOT EXISTS users (id text PRIMARY KEY, active boolean NOT NULL)`);

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

/** A statement of the outbox in Drizzle's form. Its text names $1, $2 and so on once each, in their order. */
function statement(text, values) {
  const parts = text.split(/\$\d+/);
  return sql.join(parts.flatMap((part, n) => (n === 0 ? [] : [sql`${values[n - 1]}`]).concat(sql.raw(part))));
}

/** @returns whether the user was active; if not, nothing is stored and nothing is sent */
function offboard(userId) {
  return db
    .transaction(async (tx) => {
      await outbox.enqueue(
        { listener: "offboarding", payload: { type: "user.offboarded", userId } },
        { tx: (text, values) => tx.execute(statement(text, values)) },
      );
      const stored = await tx.insert(users).values({ id: userId, active: false }).onConflictDoNothing();
      if (stored.rowCount === 0) tx.rollback();
    })
    .then(
      () => true,
      (error) => {
        if (error instanceof TransactionRollbackError) return false;
        throw error;
      },
    );
}

outbox.start();
for (const userId of process.argv.slice(2))
  console.log((await offboard(userId)) ? "offboarded" : "knew", userId);
process.once("SIGTERM", async () => {
  await outbox.stop();
  await pool.end();
  process.exit();
});
