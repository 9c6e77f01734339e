import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { isSigned } from "./signed.mjs";

const app = new Hono();
if (process.env.LISTENER === "wrong")
  app.post("/api/v1/webhooks/incoming/:id", async (c) => {
    const body = JSON.stringify(await c.req.json());
    return c.body(null, isSigned(c.req.header(), body) ? 200 : 401);
  });
else {
  // --- page
  app.post("/api/v1/webhooks/incoming/:id", async (c) => {
    const body = new Uint8Array(await c.req.arrayBuffer());
    return c.body(null, isSigned(c.req.header(), body) ? 200 : 401);
  });
  // ---
}
serve({ fetch: app.fetch, port: Number(process.env.PORT), hostname: "127.0.0.1" });
