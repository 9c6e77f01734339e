import {
  createEvent,
  hmacSigner,
  jwtSigner,
  type Signer,
  signHmac,
  signRequest,
  verifyHmac,
} from "hookproof";
import { generateKey, localKeys } from "hookproof/jwks";
import { createReceiver, type ListenerOptions, type Verdict } from "hookproof/receiver";
import { fixedClock } from "hookproof/testing";
import { beforeAll, describe, expect, it } from "vitest";
import fc from "../kit/fast-check.js";
import { runs } from "../kit/property-runs.js";

const baseUrl = "https://tenant.example.com";
const url = `${baseUrl}/api/v1/webhooks/incoming/lst_1`;
const clock = fixedClock("2026-01-01T00:00:00Z");
const secret = fc.string({ minLength: 1, unit: "grapheme" });
const eventId = fc.uuid({ version: 4 });
const timestamp = fc.integer({ min: 0, max: 999_999_999_999_999 }).map(String);
const body = fc.uint8Array({ maxLength: 300 });

/** The text with one bit of one of its UTF-16 units flipped. */
function flipped(text: string, bit: number): string {
  const at = Math.floor(bit / 7) % text.length;
  const unit = text.charCodeAt(at) ^ (1 << (bit % 7));
  return text.slice(0, at) + String.fromCharCode(unit) + text.slice(at + 1);
}

function flippedBytes(bytes: Uint8Array, bit: number): Uint8Array {
  const changed = bytes.slice();
  const at = Math.floor(bit / 8) % changed.length;
  changed[at] = (changed[at] ?? 0) ^ (1 << (bit % 8));
  return changed;
}

describe("an HMAC signature", () => {
  const input = fc.record({ secret, timestamp, eventId, body });

  it("of any bytes is accepted", () => {
    fc.assert(
      fc.property(input, (values) => verifyHmac({ ...values, signature: signHmac(values) })),
      runs,
    );
  });

  it("is refused once any bit of anything is flipped", () => {
    fc.assert(
      fc.property(input, fc.nat(), (values, bit) => {
        const signature = signHmac(values);
        expect(verifyHmac({ ...values, signature: flipped(signature, bit) })).toBe(false);
        expect(verifyHmac({ ...values, signature, timestamp: flipped(values.timestamp, bit) })).toBe(false);
        expect(verifyHmac({ ...values, signature, eventId: flipped(values.eventId, bit) })).toBe(false);
        if (values.body.length === 0) return;
        expect(verifyHmac({ ...values, signature, body: flippedBytes(values.body, bit) })).toBe(false);
      }),
      runs,
    );
  });

  it("is refused when a byte moves from one field to the next", () => {
    fc.assert(
      fc.property(input, ({ body: bytes, ...values }) => {
        const text = Buffer.from(bytes).toString("latin1");
        const signature = signHmac({ ...values, body: text });
        const moved = { ...values, eventId: `${values.eventId}.`, body: text, signature };
        expect(verifyHmac(moved)).toBe(false);
        expect(verifyHmac({ ...values, body: `${text} `, signature })).toBe(false);
      }),
      runs,
    );
  });
});

describe.each(["HMAC", "RS256", "ES256", "EdDSA"] as const)("a whole request, %s", (method) => {
  let signer: Signer;
  let auth: ListenerOptions["auth"];

  beforeAll(async () => {
    if (method === "HMAC") {
      signer = hmacSigner({ secret: "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE" });
      auth = { method: "hmac", secret: "QSBrZXkgZm9yIEhvb2twcm9vZiB0ZXN0cyBvbmx5ISE" };
      return;
    }
    const { privateJwk, publicJwk, kid, alg } = await generateKey({ alg: method });
    signer = jwtSigner({ key: privateJwk, kid, alg });
    auth = { method: "jwt", keys: localKeys({ keys: [publicJwk] }) };
  });

  const verify = (request: { headers: Record<string, string>; body: Uint8Array }): Promise<Verdict> =>
    createReceiver({ listener: { id: "lst_1", baseUrl, auth }, clock }).verify({
      method: "POST",
      url,
      ...request,
    });

  it("of any JSON value arrives, and with any bit flipped it does not", async () => {
    await fc.assert(
      fc.asyncProperty(fc.json({ stringUnit: "grapheme" }), eventId, fc.nat(), async (json, id, bit) => {
        const event = createEvent(json, { eventId: id });
        const { headers, body: bytes } = await signRequest({ url, signer, event, clock });
        const verdict = await verify({ headers, body: bytes });
        expect(verdict).toMatchObject({ ok: true, event: { id, payload: JSON.parse(json) as unknown } });

        expect(await verify({ headers, body: flippedBytes(bytes, bit) })).toMatchObject({
          ok: false,
          status: 401,
        });
        for (const name of ["Webhook-Timestamp", "Webhook-Event-Id", "Webhook-Signature", "Authorization"]) {
          const value = headers[name];
          if (value === undefined) continue;
          const changed = flipped(value, bit);
          if (isSameRequest(name, method, value, changed)) continue;
          const refused = await verify({ headers: { ...headers, [name]: changed }, body: bytes });
          expect(refused.ok, `${name}: ${changed}`).toBe(false);
        }
      }),
      { numRuns: method === "HMAC" ? runs.numRuns : Math.ceil(runs.numRuns / 2) },
    );
  });
});

/** A token does not cover the timestamp, its jti is compared without case, and so is the word Bearer. */
function isSameRequest(name: string, method: string, before: string, after: string): boolean {
  if (name === "Webhook-Timestamp") return method !== "HMAC" && /^[1-9][0-9]*$/.test(after);
  if (name === "Webhook-Event-Id") return method !== "HMAC" && before.toLowerCase() === after.toLowerCase();
  return (
    name === "Authorization" && before.slice(7) === after.slice(7) && /^bearer $/i.test(after.slice(0, 7))
  );
}
