// bun examples/receive-bun.mjs
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

const server = Bun.serve({
  port: Number(process.env.PORT ?? 8080),
  hostname: "127.0.0.1",
  fetch: (request, bun) =>
    receiver.handle(request, async (event) => console.log("run", event.id), {
      sourceAddress: bun.requestIP(request)?.address,
    }),
});
console.log(`listening on http://127.0.0.1:${server.port}`);
