// bun examples/receive-bun.mjs
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

const server = Bun.serve({
  port: Number(process.env.PORT ?? 8080),
  hostname: "127.0.0.1",
  fetch: (request, bun) =>
    receiver.handle(request, async (event) => console.log("run", event.id), {
      sourceAddress: bun.requestIP(request)?.address,
    }),
});
console.log(`listening on http://127.0.0.1:${server.port}`);
