// Sends events of a catalogue: a schema for each type, here by zod. What does not fit is not sent. With the word
// "schema" it prints the catalogue as JSON Schema, for receivers.
import { createSender, eventCatalogue, hmacSigner } from "hookproof";
import * as z from "zod";

const events = {
  "user.offboarded": z.object({
    type: z.literal("user.offboarded"),
    userId: z.string(),
    reason: z.string().default("left"),
  }),
};

if (process.argv[2] === "schema") {
  console.log(JSON.stringify(eventCatalogue(events)));
  process.exit();
}

const secret = process.env.LISTENER_SECRET;
if (!secret) throw new Error("LISTENER_SECRET is missing: the secret of the listener.");

const sender = createSender({
  url: process.env.LISTENER_URL ?? "https://tenant.example.com/api/v1/webhooks/incoming/lst_offboarding",
  signer: hmacSigner({ secret }),
  events,
});

for (const userId of ["u_123", 5]) {
  const result = await sender.trySend({ type: "user.offboarded", userId });
  console.log(result.ok ? `sent ${result.eventId}` : `${result.code}: ${result.error.message}`);
}
