// A Next.js route handler: app/users/[id]/offboard/route.js
// The event is fixed before the answer and sent after it: the client that waits for the answer does not wait for the
// listener, and the id in the answer is the one that is sent.
import { createEvent, createSender, hmacSigner } from "hookproof";
import { after } from "next/server";

const secret = process.env.LISTENER_SECRET;
if (!secret) throw new Error("LISTENER_SECRET is missing: the secret of the listener.");

const sender = createSender({
  url: process.env.LISTENER_URL ?? "https://tenant.example.com/api/v1/webhooks/incoming/lst_offboarding",
  signer: hmacSigner({ secret }),
});

export async function POST(_request, { params }) {
  const { id } = await params;
  const event = createEvent({ type: "user.offboarded", userId: id });
  after(async () => {
    const result = await sender.trySend(event);
    if (!result.ok) console.error("not confirmed", result.eventId, result.code);
  });
  return Response.json({ eventId: event.id }, { status: 202 });
}
