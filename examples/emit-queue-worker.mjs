// A worker that sends a webhook for each job of a Redis list. The job carries its event id from the moment it was
// queued, so that a job which is taken twice, after a crash for instance, is still one event.
import { createSender, hmacSigner } from "hookproof";
import Redis from "ioredis";

const secret = process.env.LISTENER_SECRET;
if (!secret) throw new Error("LISTENER_SECRET is missing: the secret of the listener.");

const redis = new Redis(process.env.REDIS_URL ?? "redis://127.0.0.1:6379");
const queue = process.env.QUEUE ?? "webhooks";
const [taken, dead] = [`${queue}:taken`, `${queue}:dead`];
const sender = createSender({
  url: process.env.LISTENER_URL ?? "https://tenant.example.com/api/v1/webhooks/incoming/lst_offboarding",
  signer: hmacSigner({ secret }),
});

// What an earlier worker had taken when it died goes back to the end that is taken from.
while (await redis.lmove(taken, queue, "LEFT", "RIGHT"));

for (;;) {
  const job = await redis.blmove(queue, taken, "RIGHT", "LEFT", 0);
  const { eventId, payload } = JSON.parse(job);
  const result = await sender.trySend(payload, { eventId });
  if (!result.ok) await redis.lpush(dead, JSON.stringify({ eventId, payload, code: result.code }));
  await redis.lrem(taken, 1, job);
  console.log(result.ok ? result.outcome : result.code, eventId);
}
