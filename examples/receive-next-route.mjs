// A Next.js route handler: app/api/v1/webhooks/incoming/[listenerId]/route.js
// One process has to remember the ids; where there are several, or on the edge, give the receiver a replayStore
// over a database.
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

export function POST(request) {
  return receiver.handle(request, async (event) => console.log("run", event.id));
}
