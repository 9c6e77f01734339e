// AWS Lambda behind a function URL, API Gateway (HTTP or REST API) or an Application Load Balancer. Instances share no
// memory: give the receiver a replayStore over a database, and "once" holds for all of them.
import { createReceiver, lambdaHandler } from "hookproof/receiver";

const secret = process.env.LISTENER_SECRET;
if (!secret) throw new Error("LISTENER_SECRET is missing: the secret of the listener.");

const receiver = createReceiver({
  listener: {
    id: "lst_offboarding",
    baseUrl: process.env.LISTENER_BASE_URL ?? "https://tenant.example.com",
    auth: { method: "hmac", secret },
  },
});

export const handler = lambdaHandler(receiver, async (event) => console.log("run", event.id));
