import { createHash, createHmac } from "node:crypto";
import { createEvent, generateSecret, hmacSigner, jwtSigner, newEventId, signRequest } from "hookproof";
import { diagnose, mistakes as mistakesOfScheme } from "hookproof/diagnose";
import { createKeySet, generateKey } from "hookproof/jwks";
import { fixedClock } from "hookproof/testing";
import { describe, expect, it } from "vitest";
import { SERIALISING_MISTAKES } from "../../../src/doctor/diagnose/mistakes/body.js";
import { ENCODING_MISTAKES } from "../../../src/doctor/diagnose/mistakes/encoding.js";
import { LAYOUT_MISTAKES } from "../../../src/doctor/diagnose/mistakes/layout.js";
import { aroundBody } from "../../../src/doctor/diagnose/mistakes/layout-text.js";
import { SECRET_MISTAKES } from "../../../src/doctor/diagnose/mistakes/secret.js";
import {
  EVENT_ID_MISTAKES,
  TIMESTAMP_MISTAKES,
} from "../../../src/doctor/diagnose/mistakes/signing-input.js";
import type { RepeatableMistake } from "../../../src/doctor/rows/mistake.js";
import { readJson } from "../../../src/doctor/texts/json-shapes.js";
import fc from "../../kit/fast-check.js";
import { runs } from "../../kit/property-runs.js";

const nowSeconds = 1_767_225_600;
const clock = fixedClock(nowSeconds * 1000);
const baseUrl = "https://tenant.example.com";
const url = `${baseUrl}/api/v1/webhooks/incoming/lst_1`;

describe("a request that is right", () => {
  const keyRecords = Promise.all((["RS256", "ES256", "EdDSA"] as const).map((alg) => generateKey({ alg })));

  it("by HMAC has no mistake, whatever its body and secret, and whatever else the caller knows", async () => {
    const secrets = fc.oneof(fc.constant(undefined), fc.string({ minLength: 1, unit: "grapheme" }));
    await fc.assert(
      fc.asyncProperty(
        fc.jsonValue(),
        secrets,
        fc.integer({ min: -300, max: 300 }),
        async (value, given, away) => {
          const secret = given ?? generateSecret();
          const event = createEvent(JSON.stringify(value));
          const signer = hmacSigner({ secret });
          const request = await signRequest({ url, signer, event, timestamp: nowSeconds + away });
          for (const known of [
            { secret },
            { secret: ["another", secret] },
            { listener: { auth: { method: "hmac", secret } } } as const,
          ])
            expect((await diagnose({ request, clock, ...known })).mistakes).toEqual([]);
        },
      ),
      { numRuns: Math.min(runs.numRuns, 500) },
    );
  });

  it("by token has none either, in all three algorithms", async () => {
    const jwks = await createKeySet(await keyRecords).publicJwks();
    for (const { kid, alg, privateJwk } of await keyRecords) {
      const event = createEvent({ alg });
      const signer = jwtSigner({ key: privateJwk, kid, alg });
      const request = await signRequest({ url, signer, event });
      const input = { request, listener: { id: "lst_1", baseUrl }, jwks };
      expect((await diagnose(input)).mistakes).toEqual([]);
      expect((await diagnose({ ...input, listener: undefined })).mistakes).toEqual([]);
    }
  });
});

/** What was signed, and with which key; a mistake of the tables changes one of these. */
interface Parts {
  key: Uint8Array;
  layout: string;
  timestamp: string;
  eventId: string;
  body: Uint8Array;
}

interface Step {
  readonly id: string;
  readonly weight: number;
  readonly part: string;
  apply(parts: Parts, secret: string): Partial<Parts> | undefined;
}

function steps<Repeat>(
  part: string,
  table: readonly RepeatableMistake<Repeat>[],
  apply: (repeat: Repeat, parts: Parts, secret: string) => Partial<Parts> | undefined,
): Step[] {
  return table.flatMap(({ id, ways }) =>
    ways.map(([weight, repeat]) => ({
      id,
      weight,
      part,
      apply: (parts: Parts, secret: string) => apply(repeat, parts, secret),
    })),
  );
}

const STEPS = [
  ...steps("key", SECRET_MISTAKES, (keyOf, { timestamp, eventId, body }, secret) => {
    const key = keyOf(secret, { timestamp, eventId, body, url });
    return key && { key };
  }),
  ...steps("layout", LAYOUT_MISTAKES, (layout) => ({ layout })),
  ...steps("timestamp", TIMESTAMP_MISTAKES, (rewrite, { timestamp }) => {
    const text = rewrite(timestamp);
    return text === undefined ? undefined : { timestamp: text };
  }),
  ...steps("event id", EVENT_ID_MISTAKES, (rewrite, { eventId }) => ({
    eventId: rewrite(eventId) ?? eventId,
  })),
  ...steps("writing", SERIALISING_MISTAKES, (write, { body }) => {
    const text = write(readJson(body));
    return text === undefined ? undefined : { body: new TextEncoder().encode(text) };
  }),
  ...steps("encoding", ENCODING_MISTAKES, (encode, { body }) => {
    const bytes = encode(body);
    return bytes && { body: bytes };
  }),
];
const ORDER = ["key", "layout", "timestamp", "event id", "writing", "encoding"];

// Every row of the tables changes this body, and no two of them in the same way.
const sent = new TextEncoder().encode('{"z":"Zo\u00eb <a&b> c/d","y":[1.50,true,null],\r\n "a":{}}');

function signed({ key, layout, timestamp, eventId, body }: Parts): string {
  const bodyHash = () => createHash("sha256").update(sent).digest("hex");
  const [head, tail] = aroundBody(layout, { timestamp, eventId, url, bodyHash });
  const mac = createHmac("sha256", key).update(head);
  const signedBody = layout.includes("{j}") ? JSON.stringify(new TextDecoder().decode(body)) : body;
  if (tail !== undefined) mac.update(signedBody).update(tail);
  return mac.digest("base64url");
}

describe("a request with one mistake of the tables, or two of which one is of every day", () => {
  it("is explained by them, or by as few others that do the same", async () => {
    const any = fc.constantFrom(...STEPS);
    await fc.assert(
      fc.asyncProperty(any, any, async (one, two) => {
        fc.pre(one.part === two.part || one.weight + two.weight <= 3);
        const secret = `${generateSecret().slice(0, 40)}-_8`;
        const right: Parts = {
          key: new TextEncoder().encode(secret),
          layout: "{t}.{i}.{b}",
          timestamp: String(nowSeconds),
          eventId: newEventId(),
          body: sent,
        };
        const chosen = [one, two].sort((a, b) => ORDER.indexOf(a.part) - ORDER.indexOf(b.part));
        let parts = right;
        const made: string[] = [];
        for (const step of one.part === two.part ? [one] : chosen) {
          const changed = step.apply(parts, secret);
          if (changed === undefined) continue;
          const next = { ...parts, ...changed };
          if (signed(next) !== signed(parts)) made.push(step.id);
          parts = next;
        }
        const signature = signed(parts);
        fc.pre(made.length > 0 && signature !== signed(right));
        const headers = {
          "Content-Type": "application/json",
          "Webhook-Timestamp": right.timestamp,
          "Webhook-Event-Id": right.eventId,
          "Webhook-Signature": signature,
        };
        const { mistakes } = await diagnose({ request: { url, headers, body: sent }, secret, clock });
        const ids = mistakes.map(({ id }) => id);
        expect(ids).not.toContain("signature-unexplained");
        expect(ids.length).toBeLessThanOrEqual(made.length);
        // Two ways that lead to the same bytes have two names; the key's and, around a body, the layout's have one each.
        const isCertain =
          parts.body.length > 0
            ? /^(?:secret-(?!base64-)|input-(?!without-body|body-only))/
            : /^secret-(?!base64-)/;
        const certain = made.filter((id) => isCertain.test(id));
        expect(ids).toEqual(expect.arrayContaining(certain));
        const said = JSON.stringify(mistakes);
        expect(said).not.toContain(secret);
        expect(said).not.toContain(signature);
        expect(said).not.toContain(signed(right));
      }),
      runs,
    );
  });
});

describe("the list of mistakes", () => {
  it("says one thing under one id, in whole sentences", async () => {
    const allMistakes = await mistakesOfScheme();
    const ids = new Set(allMistakes.map(({ id }) => id));
    for (const { id, title, message, fix } of allMistakes) {
      expect(id).toMatch(/^[a-z0-9-]+$/);
      expect(title.length, id).toBeLessThan(60);
      expect(message, id).toMatch(/\.$/);
      expect(fix, id).toMatch(/\.$/);
    }
    expect(ids.size).toBe(allMistakes.length);
    expect(ids.size).toBeGreaterThan(130);
  });
});

describe("hostile input", () => {
  const deep = "[".repeat(32_000) + "]".repeat(32_000);
  const wide = `{${Array.from({ length: 5_000 }, (_, n) => `"k${n % 7}":"\\ud800"`).join(",")}}`;
  const bodies: readonly (readonly [string, string | Uint8Array])[] = [
    ["nothing", ""],
    ["binary", createHash("sha512").update("x").digest()],
    ["64 KB of zeros", new Uint8Array(65_536)],
    ["1 MB", "x".repeat(1_000_000)],
    ["JSON nested 32,000 deep", deep],
    ["objects nested 8,000 deep", `${'{"a":'.repeat(8_000)}1${"}".repeat(8_000)}`],
    ["one name a thousand times, lone surrogates", wide],
    ["half a text", '{"a":"'],
    ["a lone surrogate", '"\ud800"'],
  ];
  const signatures = [
    "",
    "a".repeat(43),
    "é".repeat(43),
    `v1,${"=".repeat(10_000)}`,
    "0".repeat(128),
    "sha256=",
    "v1= ".repeat(2_000),
  ];

  it.each(bodies)("%s never throws", async (_, body) => {
    for (const signature of signatures) {
      const headers = {
        "Webhook-Timestamp": "{i}$&",
        "Webhook-Event-Id": "{b}".repeat(3),
        "Webhook-Signature": signature,
      };
      const { mistakes } = await diagnose({ request: { headers, body }, secret: ["s", "", "\ud800"] });
      expect(mistakes.length).toBeGreaterThan(0);
    }
  });

  it("any headers never throw, and what is said stays short and keeps the secret", async () => {
    const secret = generateSecret();
    const value = fc.oneof(
      fc.string(),
      fc.string({ unit: "binary", maxLength: 10_000 }),
      fc.constant(secret),
    );
    const names = [
      "Webhook-Timestamp",
      "Webhook-Event-Id",
      "Webhook-Signature",
      "Authorization",
      "Content-Type",
      "X-Signature",
    ];
    const headers = fc.array(fc.tuple(fc.constantFrom(...names), value), { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(headers, fc.uint8Array({ maxLength: 200 }), async (lines, body) => {
        const { mistakes } = await diagnose({ request: { headers: lines, body, url: "::" }, secret });
        expect(JSON.stringify(mistakes)).not.toContain(secret);
        for (const { message } of mistakes) expect(message.length).toBeLessThan(1_000);
      }),
      { numRuns: 100 },
    );
  });

  it("any token and key set never throw", async () => {
    const segment = fc.oneof(
      fc.string(),
      fc.jsonValue().map((value) => Buffer.from(JSON.stringify(value)).toString("base64url")),
      fc
        .dictionary(
          fc.constantFrom("alg", "kid", "sub", "aud", "exp", "nbf", "jti", "htm", "htb_s256", "crit"),
          fc.jsonValue(),
        )
        .map((value) => Buffer.from(JSON.stringify(value)).toString("base64url")),
    );
    const token = fc
      .array(segment, { minLength: 1, maxLength: 5 })
      .map((parts) => `Bearer ${parts.join(".")}`);
    const jwks = fc.oneof(fc.jsonValue(), fc.record({ keys: fc.array(fc.jsonValue(), { maxLength: 60 }) }));
    await fc.assert(
      fc.asyncProperty(token, jwks, async (Authorization, set) => {
        const request = { headers: { Authorization }, body: "{}" };
        const { mistakes } = await diagnose({
          request,
          jwks: set as never,
          listener: { baseUrl, id: "lst_1" },
        });
        expect(mistakes.length).toBeGreaterThan(0);
      }),
      { numRuns: 200 },
    );
  });

  it.each<[what: string, input: unknown, says: string]>([
    ["no headers", { request: { body: "" } }, "request.headers"],
    ["a parsed body", { request: { headers: {}, body: {} } }, "request.body"],
    ["a secret of another type", { request: { headers: {}, body: "" }, secret: 1 }, "secret"],
    ["a list with something else", { request: { headers: {}, body: "" }, secret: ["a", null] }, "secret"],
  ])("%s is a wrong call and named", async (_, input, says) => {
    await expect(diagnose(input as never)).rejects.toThrow(new RegExp(`^${says.replace(".", "\\.")}`));
    await expect(diagnose(input as never)).rejects.toBeInstanceOf(TypeError);
  });
});
