// Receives webhooks with node:http alone.
import { createServer } from "node:http";
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

const server = createServer(toNodeListener(receiver, async (event) => console.log("run", event.id)));
server.listen(Number(process.env.PORT ?? 8080), "127.0.0.1", () =>
  console.log(`listening on http://127.0.0.1:${server.address().port}`),
);
