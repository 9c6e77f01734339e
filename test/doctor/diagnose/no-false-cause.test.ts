import { createHmac } from "node:crypto";
import { generateSecret, newEventId } from "hookproof";
import { diagnose } from "hookproof/diagnose";
import { fixedClock } from "hookproof/testing";
import { describe, expect, it } from "vitest";
import { drawnIn, PARTS, printed, withOneBitChanged, withOneByteChanged } from "../../kit/drawn-bodies.js";
import fc from "../../kit/fast-check.js";

const nowSeconds = 1_767_225_600;
const clock = fixedClock(nowSeconds * 1000);
const url = "https://tenant.example.com/api/v1/webhooks/incoming/lst_1";

const secrets = fc.constantFrom("generated", "whsec_c2VjcmV0", "0f".repeat(32), "two words", '"quoted"');

interface Sent {
  readonly body: string | Uint8Array;
  readonly secret: string;
  readonly timestamp: string;
  readonly eventId: string;
}

function signatureOf({ body, secret, timestamp, eventId }: Sent): string {
  return createHmac("sha256", secret).update(`${timestamp}.${eventId}.`).update(body).digest("base64url");
}

/** What nobody can name: another secret, a body with one other character, other parts, or no HMAC at all. */
const WRONG: readonly ((sent: Sent, seed: number) => string)[] = [
  (sent) => signatureOf({ ...sent, secret: generateSecret() }),
  (sent, seed) =>
    signatureOf({ ...sent, body: `${sent.body.slice(0, seed % 7)}#${sent.body.slice(seed % 7)}` }),
  (sent, seed) => {
    // One byte makes False of false, which is what Python prints.
    fc.pre(sent.body.length > 8);
    return signatureOf({ ...sent, body: withOneByteChanged(Buffer.from(sent.body as string), seed) });
  },
  (sent, seed) => withOneBitChanged(signatureOf(sent), seed),
  (sent) => signatureOf({ ...sent, eventId: newEventId() }),
  (sent, seed) => signatureOf({ ...sent, timestamp: String(nowSeconds - 1_000 - (seed % 2_000)) }),
  (_, seed) => createHmac("sha512", String(seed)).digest().subarray(0, 32).toString("base64url"),
  (_, seed) => createHmac("sha256", String(seed)).digest("hex"),
];

/** What may be said where nothing is known: how the digest is spelled, and that nothing explains it. */
const NO_CAUSE = new Set(["signature-unexplained", "signature-hex"]);

describe("no false cause", () => {
  it.each(PARTS)(
    "is given for requests that are right, or wrong for no known reason (%i)",
    async (part) => {
      const wrong = fc.option(fc.constantFrom(...WRONG));
      await fc.assert(
        fc.asyncProperty(printed, secrets, wrong, fc.nat(1_000_000), async (body, kind, how, seed) => {
          const secret = kind === "generated" ? generateSecret() : kind;
          const sent = { body, secret, timestamp: String(nowSeconds - (seed % 250)), eventId: newEventId() };
          const headers = {
            "Content-Type": "application/json",
            "Webhook-Timestamp": sent.timestamp,
            "Webhook-Event-Id": sent.eventId,
            "Webhook-Signature": how === null ? signatureOf(sent) : how(sent, seed),
          };
          const { mistakes } = await diagnose({ request: { url, headers, body }, secret, clock });
          const causes = mistakes.map(({ id }) => id);
          if (how === null) expect(causes).toEqual([]);
          else {
            expect(causes).toContain("signature-unexplained");
            expect(causes.filter((id) => !NO_CAUSE.has(id))).toEqual([]);
          }
        }),
        drawnIn(part),
      );
    },
    3_600_000,
  );
});
