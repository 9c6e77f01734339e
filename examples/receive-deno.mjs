// deno run --allow-net --allow-env examples/receive-deno.mjs
import { createReceiver } from "hookproof/receiver";

const secret = Deno.env.get("LISTENER_SECRET");
if (!secret) throw new Error("LISTENER_SECRET is missing: the secret of the listener.");

const receiver = createReceiver({
  listener: {
    id: "lst_offboarding",
    baseUrl: Deno.env.get("LISTENER_BASE_URL") ?? "https://tenant.example.com",
    auth: { method: "hmac", secret },
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
