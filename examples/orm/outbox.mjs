// The outbox that every program of this folder uses, and the pool of pg that it delivers over.
import { hmacSigner } from "hookproof";
import { createOutbox } from "hookproof/outbox";
import { postgresStore } from "hookproof/outbox/postgres";
import pg from "pg";

const secret = process.env.LISTENER_SECRET;
if (!secret) throw new Error("LISTENER_SECRET is missing: the secret of the listener.");

export const connectionString = process.env.DATABASE_URL ?? "postgres://localhost/app";
export const pool = new pg.Pool({ connectionString, connectionTimeoutMillis: 5_000 });
export const outbox = createOutbox({
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

/** What a listener is told of a user who leaves. */
export const offboarded = (userId) => ({
  listener: "offboarding",
  payload: { type: "user.offboarded", userId },
});
