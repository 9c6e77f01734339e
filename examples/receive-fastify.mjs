// Receives webhooks in a Fastify 5 application. Inside this plugin bodies are left unread, whatever their type,
// and the receiver answers on Node's own response; routes outside of it parse JSON as before.
import fastify from "fastify";
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
const listener = toNodeListener(receiver, async (event) => console.log("run", event.id));

const app = fastify();
app.register(async (scope) => {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser("*", (_request, _payload, done) => done(null));
  scope.all("/api/v1/webhooks/incoming/:listenerId", async (request, reply) => {
    reply.hijack();
    await listener(request.raw, reply.raw);
  });
});

const url = await app.listen({ port: Number(process.env.PORT ?? 8080), host: "127.0.0.1" });
console.log(`listening on ${url}`);
