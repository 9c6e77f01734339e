// The outbox inside a transaction of Drizzle: pg-boss's fromDrizzle makes of it what enqueue takes. fromKysely does
// the same for Kysely.
import { sql, TransactionRollbackError } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import { boolean, pgTable, text } from "drizzle-orm/pg-core";
import { hmacSigner } from "hookproof";
import { createOutbox, pgBossStore } from "hookproof/outbox";
import pg from "pg";
import { fromDrizzle, PgBoss } from "pg-boss";

const secret = process.env.LISTENER_SECRET;
if (!secret) throw new Error("LISTENER_SECRET is missing: the secret of the listener.");

const connectionString = process.env.DATABASE_URL ?? "postgres://localhost/app";
const pool = new pg.Pool({ connectionString });
const db = drizzle(pool);
const users = pgTable("users", { id: text().primaryKey(), active: boolean().notNull() });
const boss = new PgBoss(connectionString);
for (const one of [pool, boss]) one.on("error", (error) => console.error(error.message)); // reconnects by itself
await boss.start();
await db.execute(sql`CREATE TABLE IF NOT EXISTS users (id text PRIMARY KEY, active boolean NOT NULL)`);

const outbox = createOutbox({
  store: pgBossStore({ boss }),
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
function offboard(userId) {
  return db
    .transaction(async (tx) => {
      await outbox.enqueue(
        { listener: "offboarding", payload: { type: "user.offboarded", userId } },
        { tx: fromDrizzle(tx, sql) },
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
  await boss.stop();
  await pool.end();
  process.exit();
});
