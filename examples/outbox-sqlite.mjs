// Offboards a user and tells a listener of it: both are stored in one transaction, and the event is delivered
// from there, across crashes and outages. Try it: start it, stop the listener, kill this, start it again.
import { hmacSigner } from "hookproof";
import { openSqlite } from "hookproof/node";
import { createOutbox } from "hookproof/outbox";
import { sqliteStore } from "hookproof/outbox/sqlite";

const secret = process.env.LISTENER_SECRET;
if (!secret) throw new Error("LISTENER_SECRET is missing: the secret of the listener.");

const file = process.env.DATABASE ?? "app.db";
const open = () => {
  const db = openSqlite(file, { from: import.meta.url });
  db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  return db;
};
const db = open();
db.exec("CREATE TABLE IF NOT EXISTS users (id TEXT PRIMARY KEY, active INTEGER NOT NULL)");

const outbox = createOutbox({
  store: sqliteStore({ open }),
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
  db.exec("BEGIN IMMEDIATE");
  try {
    db.prepare("INSERT INTO users VALUES (?, 0)").run(userId);
    outbox.enqueue({ listener: "offboarding", payload: { type: "user.offboarded", userId } }, { tx: db });
    db.exec("COMMIT");
    return true;
  } catch (error) {
    db.exec("ROLLBACK");
    if (/UNIQUE/.test(error.message)) return false;
    throw error;
  }
}

outbox.start();
for (const userId of process.argv.slice(2)) console.log(offboard(userId) ? "offboarded" : "knew", userId);
process.once("SIGTERM", async () => {
  await outbox.stop();
  process.exit();
});
