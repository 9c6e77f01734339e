// Sends a webhook from a Fastify application; Fastify's logger gets what the sender tells.
import Fastify from "fastify";
import { createSender, hmacSigner } from "hookproof";

const secret = process.env.LISTENER_SECRET;
if (!secret) throw new Error("LISTENER_SECRET is missing: the secret of the listener.");

const app = Fastify({ logger: { level: "warn" } });
const sender = createSender({
  url: process.env.LISTENER_URL ?? "https://tenant.example.com/api/v1/webhooks/incoming/lst_offboarding",
  signer: hmacSigner({ secret }),
  observe: (event) => app.log.debug(event),
});

app.post("/users/:id/offboard", async (request, reply) => {
  const result = await sender.trySend({ type: "user.offboarded", userId: request.params.id });
  if (result.ok) return reply.code(202).send({ eventId: result.eventId });
  return reply.code(502).send({ code: result.code, eventId: result.eventId });
});

console.log(
  `listening on ${await app.listen({ port: Number(process.env.PORT ?? 3000), host: "127.0.0.1" })}`,
);
