// The SQLite outbox of the programs of this folder, and the application's own connection to the same file.
import { hmacSigner } from "hookproof";
import { openSqlite } from "hookproof/node";
import { createOutbox } from "hookproof/outbox";
import { sqliteStore } from "hookproof/outbox/sqlite";

const secret = process.env.LISTENER_SECRET;
if (!secret) throw new Error("LISTENER_SECRET is missing: the secret of the listener.");

export const file = process.env.DATABASE ?? "app.db";
const open = () => {
  const db = openSqlite(file, { driver: "libsql", from: import.meta.url });
  db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  return db;
};
/** The connection that the application's layer has as well: its transaction is this connection's. */
export const connection = open();
export const outbox = createOutbox({
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

/** What a listener is told of a user who leaves. */
export const offboarded = (userId) => ({
  listener: "offboarding",
  payload: { type: "user.offboarded", userId },
});
