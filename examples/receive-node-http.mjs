// Receives webhooks with node:http alone.
import { createServer } from "node:http";
import { toNodeListener } from "hookproof/node";
import { createReceiver } from "hookproof/receiver";

const receiver = createReceiver({
  listener: {
    id: "lst_offboarding",
    baseUrl: process.env.LISTENER_BASE_URL ?? "https://tenant.example.com",
    auth: {
      method: "hmac",
      secret: process.env.LISTENER_SECRET ?? "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8",
    },
  },
});

const server = createServer(toNodeListener(receiver, async (event) => console.log("run", event.id)));
server.listen(Number(process.env.PORT ?? 8080), "127.0.0.1", () =>
  console.log(`listening on http://127.0.0.1:${server.address().port}`),
);
