// Sends a webhook from a Hono application, here on Node.
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { createSender, hmacSigner } from "hookproof";

const secret = process.env.LISTENER_SECRET;
if (!secret) throw new Error("LISTENER_SECRET is missing: the secret of the listener.");

const sender = createSender({
  url: process.env.LISTENER_URL ?? "https://tenant.example.com/api/v1/webhooks/incoming/lst_offboarding",
  signer: hmacSigner({ secret }),
});

const app = new Hono();
app.post("/users/:id/offboard", async (c) => {
  const result = await sender.trySend({ type: "user.offboarded", userId: c.req.param("id") });
  if (result.ok) return c.json({ eventId: result.eventId }, 202);
  return c.json({ code: result.code, eventId: result.eventId }, 502);
});

serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000), hostname: "127.0.0.1" }, ({ port }) =>
  console.log(`listening on http://127.0.0.1:${port}`),
);
