// A Cloudflare Worker that sends a webhook after its answer: waitUntil keeps the Worker alive until the event
// arrived or the sender gave up.
import { createEvent, createSender, hmacSigner } from "hookproof";

let sender;

export default {
  fetch(request, env, context) {
    const userId = /^\/users\/([^/]+)\/offboard$/.exec(new URL(request.url).pathname)?.[1];
    if (request.method !== "POST" || !userId) return new Response(null, { status: 404 });

    sender ??= createSender({ url: env.LISTENER_URL, signer: hmacSigner({ secret: env.LISTENER_SECRET }) });
    const event = createEvent({ type: "user.offboarded", userId });
    context.waitUntil(
      sender.trySend(event).then((result) => {
        if (!result.ok) console.error("not confirmed", result.eventId, result.code);
      }),
    );
    return Response.json({ eventId: event.id }, { status: 202 });
  },
};
