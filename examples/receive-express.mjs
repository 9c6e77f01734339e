// Receives webhooks in an Express 5 application. The route stands before express.json(): the signature is over
// the bytes as they were sent, and a parsed body has lost them.
import express from "express";
import { toNodeListener } from "hookproof/node";
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

const app = express();
app.all(
  "/api/v1/webhooks/incoming/:listenerId",
  toNodeListener(receiver, async (event) => console.log("run", event.id)),
);
app.use(express.json());

const server = app.listen(Number(process.env.PORT ?? 8080), "127.0.0.1", () =>
  console.log(`listening on http://127.0.0.1:${server.address().port}`),
);
