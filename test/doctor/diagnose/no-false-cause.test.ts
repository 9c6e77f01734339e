import { createHmac } from "node:crypto";
import { generateSecret, newEventId } from "hookproof";
import { diagnose } from "hookproof/diagnose";
import { fixedClock } from "hookproof/testing";
import { describe, expect, it } from "vitest";
import fc from "../../kit/fast-check.js";

const nowSeconds = 1_767_225_600;
const clock = fixedClock(nowSeconds * 1000);
const url = "https://tenant.example.com/api/v1/webhooks/incoming/lst_1";
/** The long form is 100,000 requests in parts, so that it shows how far it is. */
const [parts, numRuns] = process.env.HOOKPROOF_LONG ? [20, 5_000] : [1, 120];

/** Bodies as programs write them: names of every style, nulls, dates, empty strings, and all the ways to print them. */
const names = fc.constantFrom("id", "userId", "user_name", "Type", "at", "z", "a", "note", "größe", "x-y");
const leaves = fc.oneof(
  fc.jsonValue({ maxDepth: 0 }),
  fc.constantFrom("", " trimmed ", "2026-01-01T00:00:00Z", "a/b?c=<d>&e", "Zoë", 3, 1.5, 1e25, null, "12"),
);
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    leaves,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(names, tie("value"), { maxKeys: 7 }),
  ),
}));
const printed = fc.tuple(value, fc.constantFrom(0, 2, " : ")).map(([payload, how]) => {
  if (how === " : ") return JSON.stringify(payload).replaceAll('":', '" : ').replaceAll(",", ", ");
  return JSON.stringify(payload, null, how);
});

const secrets = fc.constantFrom("generated", "whsec_c2VjcmV0", "0f".repeat(32), "two words", '"quoted"');

interface Sent {
  readonly body: string;
  readonly secret: string;
  readonly timestamp: string;
  readonly eventId: string;
}

function signatureOf({ body, secret, timestamp, eventId }: Sent): string {
  return createHmac("sha256", secret).update(`${timestamp}.${eventId}.${body}`).digest("base64url");
}

/** What nobody can name: another secret, a body with one other character, other parts, or no HMAC at all. */
const WRONG: readonly ((sent: Sent, seed: number) => string)[] = [
  (sent) => signatureOf({ ...sent, secret: generateSecret() }),
  (sent, seed) =>
    signatureOf({ ...sent, body: `${sent.body.slice(0, seed % 7)}#${sent.body.slice(seed % 7)}` }),
  (sent) => signatureOf({ ...sent, eventId: newEventId() }),
  (sent, seed) => signatureOf({ ...sent, timestamp: String(nowSeconds - 1_000 - (seed % 2_000)) }),
  (_, seed) => createHmac("sha512", String(seed)).digest().subarray(0, 32).toString("base64url"),
  (_, seed) => createHmac("sha256", String(seed)).digest("hex"),
];

/** What may be said where nothing is known: how the digest is spelled, and that nothing explains it. */
const NO_CAUSE = new Set(["signature-unexplained", "signature-hex"]);

describe("no false cause", () => {
  const numbers = Array.from({ length: parts }, (_, part) => part + 1);
  it.each(numbers)(
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
        { numRuns, seed: (fc.readConfigureGlobal().seed ?? 0) + part },
      );
    },
    3_600_000,
  );
});
