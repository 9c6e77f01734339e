import { createReceiver, type Receiver, type Verdict } from "hookproof/receiver";
import { describe, expect, it } from "vitest";
import { isEventId } from "../../src/core/event.js";
import { isTimestamp } from "../../src/core/protocol.js";
import fc from "../kit/fast-check.js";
import {
  clock,
  hmac,
  hmacListener,
  hmacParts,
  NOW,
  type Parts,
  replaced,
  SECRET,
} from "../kit/hostile-target.js";
import {
  authorized,
  claimsFor,
  compactToken,
  jwtListener,
  jwtParts,
  testKey,
} from "../kit/hostile-tokens.js";
import { runs } from "./property-runs.js";
import { received } from "./received.js";

const key = testKey("EdDSA");
const id = "lst_1";
const hmacReceiver = createReceiver({ ...hmacListener(id), clock });
const jwtReceiver = createReceiver({ ...jwtListener(id, [key]), clock });

const verify = (receiver: Receiver, parts: Parts): Promise<Verdict> => receiver.verify(received(parts));

/** A text changed in one place: a character replaced, put in, taken out, or its letter case turned. */
function bent(original: string): fc.Arbitrary<string> {
  const character = fc.oneof(
    fc.constantFrom(..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".split("")),
    fc.constantFrom(..." \t\n\r\u00a0\u0000.,;:-_+/=0aAfF{}\"'".split("")),
    fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
  );
  // The last character of a segment holds unused bits, which is where second spellings hide.
  const ends = fc.constantFrom(
    ...original.split(".").map((_, i, all) => all.slice(0, i + 1).join(".").length - 1),
  );
  return fc
    .tuple(
      fc.oneof(fc.nat(original.length), ends),
      character,
      fc.constantFrom("put", "take", "replace", "case", "end"),
    )
    .map(([at, one, how]) => {
      const rest = original.slice(at + 1);
      const letter = original.charAt(at);
      if (how === "put") return original.slice(0, at) + one + original.slice(at);
      if (how === "take") return original.slice(0, at) + rest;
      if (how === "end") return original + one;
      if (how === "replace") return original.slice(0, at) + one + rest;
      const turned = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase();
      return original.slice(0, at) + turned + rest;
    })
    .filter((text) => text !== original);
}

/** A good request's own value of a header. */
function headerOf(parts: Parts, name: string): string {
  return parts.headers.find(([one]) => one === name)?.[1] ?? "";
}

describe("no value has two spellings", () => {
  it("a signature", async () => {
    const parts = hmacParts(id, { eventId: "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10" });
    expect((await verify(hmacReceiver, parts)).ok).toBe(true);
    await fc.assert(
      fc.asyncProperty(bent(headerOf(parts, "Webhook-Signature")), async (signature) => {
        const headers = replaced(parts.headers, "Webhook-Signature", signature);
        expect(await verify(hmacReceiver, { ...parts, headers })).toMatchObject({ ok: false, status: 401 });
      }),
      runs(),
    );
  });

  it("a timestamp: even one that is signed as it is spelled", async () => {
    const eventId = "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10";
    await fc.assert(
      fc.asyncProperty(bent(String(NOW)), async (timestamp) => {
        const verdict = await verify(hmacReceiver, hmacParts(id, { eventId, timestamp }));
        // What is accepted is another time, in that time's own one spelling.
        if (verdict.ok) expect(String(verdict.event.timestamp)).toBe(timestamp);
        else expect(verdict.status).toBe(400);
      }),
      runs(),
    );
  });

  it("a timestamp: of all texts for a number only the plain one is well formed", () => {
    fc.assert(
      fc.property(fc.oneof(fc.nat().map(String), fc.string(), bent(String(NOW))), (timestamp) => {
        if (isTimestamp(timestamp)) expect(String(Number(timestamp))).toBe(timestamp);
      }),
      runs(),
    );
  });

  it("an event id: letter case apart, which is folded before it is remembered", async () => {
    const eventId = "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10";
    await fc.assert(
      fc.asyncProperty(bent(eventId), async (spelled) => {
        const verdict = await verify(hmacReceiver, hmacParts(id, { eventId: spelled }));
        if (verdict.ok) expect(verdict.event.id).toBe(spelled.toLowerCase());
        else expect(verdict.status).toBe(400);
        expect(isEventId(spelled)).toBe(
          /^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/.test(spelled) &&
            /^.{14}4.{4}[89abAB]/.test(spelled),
        );
      }),
      runs(),
    );
  });

  it("a token", async () => {
    const parts = jwtParts(id, key, { eventId: "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10" });
    const token = compactToken(key, claimsFor(id, parts));
    expect((await verify(jwtReceiver, authorized(parts, `Bearer ${token}`))).ok).toBe(true);
    await fc.assert(
      fc.asyncProperty(bent(token), async (spelled) => {
        const verdict = await verify(jwtReceiver, authorized(parts, `Bearer ${spelled}`));
        expect(verdict).toMatchObject({ ok: false, status: 401 });
      }),
      runs(),
    );
  });

  it("a body: any change is 401 under either method", async () => {
    const change = fc.tuple(
      fc.nat(),
      fc.integer({ min: 1, max: 255 }),
      fc.constantFrom("flip", "put", "take"),
    );
    await fc.assert(
      fc.asyncProperty(fc.json(), change, async (json, [place, mask, how]) => {
        const body = Buffer.from(json);
        const at = place % body.length;
        const changed =
          how === "flip"
            ? Buffer.from(body.map((byte, index) => (index === at ? byte ^ mask : byte)))
            : how === "put"
              ? Buffer.concat([body.subarray(0, at), Buffer.of(mask), body.subarray(at)])
              : Buffer.concat([body.subarray(0, at), body.subarray(at + 1)]);
        fc.pre(!changed.equals(body));
        for (const [receiver, parts] of [
          [hmacReceiver, hmacParts(id, { body })],
          [jwtReceiver, jwtParts(id, key, { body })],
        ] as const) {
          expect(await verify(receiver, { ...parts, body: changed })).toMatchObject({
            ok: false,
            status: 401,
          });
        }
      }),
      runs(),
    );
  });
});

describe("what is correctly signed is accepted", () => {
  it("for any JSON, id, time in the window and secret", async () => {
    const secret = fc.string({ unit: "grapheme", minLength: 1, maxLength: 60 });
    const away = fc.integer({ min: -300, max: 300 });
    await fc.assert(
      fc.asyncProperty(
        fc.json(),
        fc.uuid({ version: 4 }),
        away,
        secret,
        async (json, eventId, seconds, text) => {
          const receiver = createReceiver({ ...hmacListener(id, { secret: text }), clock });
          const timestamp = String(NOW + seconds);
          const verdict = await verify(
            receiver,
            hmacParts(id, { body: json, eventId, timestamp, secret: text }),
          );
          expect(verdict).toMatchObject({ ok: true, event: { id: eventId, payload: JSON.parse(json) } });
        },
      ),
      runs(),
    );
  });

  it("and with another secret it is not", async () => {
    const secret = fc.string({ unit: "grapheme", minLength: 1, maxLength: 60 });
    const parts = hmacParts(id);
    await fc.assert(
      fc.asyncProperty(secret, async (other) => {
        fc.pre(other !== SECRET);
        const signature = hmac(other, `${NOW}.${parts.eventId}.`, parts.body);
        const headers = replaced(parts.headers, "Webhook-Signature", signature);
        expect(await verify(hmacReceiver, { ...parts, headers })).toMatchObject({
          code: "SIGNATURE_MISMATCH",
        });
      }),
      runs(),
    );
  });
});
