// Sends a webhook from an Express application. The sender is made once: it keeps connections and what it learns
// about the listener. Where an event must survive a crash of this process, store it in an outbox instead.
import express from "express";
import { createSender, hmacSigner } from "hookproof";

const secret = process.env.LISTENER_SECRET;
if (!secret) throw new Error("LISTENER_SECRET is missing: the secret of the listener.");

const sender = createSender({
  url: process.env.LISTENER_URL ?? "https://tenant.example.com/api/v1/webhooks/incoming/lst_offboarding",
  signer: hmacSigner({ secret }),
});

const app = express();
app.post("/users/:id/offboard", async (req, res) => {
  const result = await sender.trySend({ type: "user.offboarded", userId: req.params.id });
  if (result.ok) res.status(202).json({ eventId: result.eventId });
  else res.status(502).json({ code: result.code, eventId: result.eventId });
});

const server = app.listen(Number(process.env.PORT ?? 3000), "127.0.0.1", () =>
  console.log(`listening on http://127.0.0.1:${server.address().port}`),
);
