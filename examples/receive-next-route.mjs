// A Next.js route handler: app/api/v1/webhooks/incoming/[listenerId]/route.js
// One process has to remember the ids; where there are several, or on the edge, give the receiver a replayStore
// over a database.
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

export function POST(request) {
  return receiver.handle(request, async (event) => console.log("run", event.id));
}
