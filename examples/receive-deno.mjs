// deno run --allow-net --allow-env examples/receive-deno.mjs
import { createReceiver } from "hookproof/receiver";

const receiver = createReceiver({
  listener: {
    id: "lst_offboarding",
    baseUrl: Deno.env.get("LISTENER_BASE_URL") ?? "https://tenant.example.com",
    auth: {
      method: "hmac",
      secret: Deno.env.get("LISTENER_SECRET") ?? "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8",
    },
  },
});

const onListen = ({ port }) => console.log(`listening on http://127.0.0.1:${port}`);
Deno.serve(
  { port: Number(Deno.env.get("PORT") ?? 8080), hostname: "127.0.0.1", onListen },
  (request, { remoteAddr }) =>
    receiver.handle(request, async (event) => console.log("run", event.id), {
      sourceAddress: remoteAddr.hostname,
    }),
);
