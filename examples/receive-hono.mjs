// Receives webhooks in a Hono application, here on Node; c.req.raw is the request with its body unread.
import { serve } from "@hono/node-server";
import { getConnInfo } from "@hono/node-server/conninfo";
import { Hono } from "hono";
import { createReceiver } from "hookproof/receiver";

const secret = process.env.LISTENER_SECRET;
if (!secret) throw new Error("LISTENER_SECRET is missing: the secret of the listener.");

const receiver = createReceiver({
  listener: {
    id: "lst_offboarding",
    baseUrl: process.env.LISTENER_BASE_URL ?? "https://tenant.example.com",
    auth: { method: "hmac", secret },
  },
});

const app = new Hono();
app.all("/api/v1/webhooks/incoming/:listenerId", (c) =>
  receiver.handle(c.req.raw, async (event) => console.log("run", event.id), {
    sourceAddress: getConnInfo(c).remote.address,
  }),
);

serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 8080), hostname: "127.0.0.1" }, ({ port }) =>
  console.log(`listening on http://127.0.0.1:${port}`),
);
