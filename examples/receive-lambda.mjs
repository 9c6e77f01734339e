// AWS Lambda behind a function URL or an API Gateway HTTP API. Instances share no memory: give the receiver a
// replayStore over a database, and "once" holds for all of them.
import { createReceiver, lambdaHandler } from "hookproof/receiver";

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

export const handler = lambdaHandler(receiver, async (event) => console.log("run", event.id));
