// AWS Lambda that sends a webhook for each message of an SQS queue. A message that could not be delivered is
// reported back and comes again. It carries its event id from the moment it was queued, so that it stays one event.
import { createSender, DeliveryError, hmacSigner } from "hookproof";

const secret = process.env.LISTENER_SECRET;
if (!secret) throw new Error("LISTENER_SECRET is missing: the secret of the listener.");

const sender = createSender({
  url: process.env.LISTENER_URL ?? "https://tenant.example.com/api/v1/webhooks/incoming/lst_offboarding",
  signer: hmacSigner({ secret }),
});

export async function handler({ Records }) {
  const failed = [];
  for (const { messageId, body } of Records) {
    try {
      const { eventId, payload } = JSON.parse(body);
      await sender.send(payload, { eventId });
    } catch (error) {
      if (!(error instanceof DeliveryError)) throw error;
      failed.push({ itemIdentifier: messageId });
    }
  }
  return { batchItemFailures: failed };
}
