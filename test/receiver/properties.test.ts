import { createReceiver, type ReceivedRequest, type ReceiverAnswer } from "hookproof/receiver";
import { describe, expect, it } from "vitest";
import { CODES } from "../../src/core/errors.js";
import fc from "../kit/fast-check.js";
import { BASE_URL, clock, hmacListener, NOW, pathOf } from "../kit/hostile-target.js";
import { base64url, jwtListener, testKey } from "../kit/hostile-tokens.js";
import { runs } from "./property-runs.js";

const key = testKey("EdDSA");
const id = "lst_1";
const hmac = createReceiver({ ...hmacListener(id), clock });
const fenced = createReceiver({
  listener: { ...hmacListener(id).listener, allowedCidrs: ["203.0.113.0/24"] },
  clock,
  trustedProxies: ["10.0.0.0/8"],
});
const jwt = createReceiver({ ...jwtListener(id, [key]), clock });

/** The statuses of the table in the specification and of docs/decisions.md. */
const STATUSES = new Set([200, 400, 401, 403, 404, 405, 409, 413, 415, 503]);

/** Texts as a header may hold them, with the characters that matter here more often than chance has them. */
const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 60 }),
  fc.string({
    unit: fc.constantFrom(..." \t\u00a0.,;:-_+/=0123456789abcABC\"'\\{}[]\u0000\u0085\u2028é".split("")),
  }),
  fc.constantFrom(
    "",
    "0",
    String(NOW),
    "application/json",
    "Bearer ",
    "00000000-0000-4000-8000-000000000000",
  ),
);
const headerName = fc.oneof(
  fc.constantFrom(
    ...["Webhook-Timestamp", "webhook-event-id", "WEBHOOK-SIGNATURE", "Authorization", "Content-Type"],
    ...["Content-Encoding", "X-Forwarded-For", "__proto__", "constructor", "Host"],
  ),
  text,
);
const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 300 }),
  fc.json().map((json) => Buffer.from(json)),
);
const source = fc.option(fc.oneof(fc.ipV4(), fc.ipV6(), text), { nil: undefined });

/** What must hold for every answer whatsoever. */
function expectOrderly(answer: ReceiverAnswer): void {
  expect(STATUSES.has(answer.status)).toBe(true);
  const { code } = JSON.parse(answer.body) as { code?: string };
  if (answer.status === 200) expect(answer.verdict.ok).toBe(true);
  else expect(CODES[code as keyof typeof CODES]?.[0]).toBe(answer.status);
  const { checks } = answer.verdict;
  expect(checks.every(({ ok }, index) => ok === (answer.verdict.ok || index < checks.length - 1))).toBe(true);
  expect(JSON.stringify(checks.map(({ seen }) => seen))).not.toMatch(/[\p{Cc}\u2028\u202e]/u);
}

async function answerOf(request: ReceivedRequest): Promise<void> {
  for (const receiver of [hmac, fenced, jwt]) {
    let ran = 0;
    const answer = await receiver.receive(request, async () => ran++);
    expectOrderly(answer);
    // Nothing here is signed with a key an attacker has not, so nothing may ever run.
    expect([answer.status === 200, ran]).toEqual([false, 0]);
  }
}

describe("a receiver under arbitrary input never throws and answers with a status of the table", () => {
  it("for any method, URL, headers, body and source", async () => {
    const request = fc.record({
      method: fc.oneof(fc.constant("POST"), text),
      url: fc.oneof(fc.constant(pathOf(id)), fc.webUrl(), text),
      headers: fc.array(fc.tuple(headerName, text), { maxLength: 12 }),
      body: fc.oneof(bytes, text),
      sourceAddress: source,
    });
    await fc.assert(fc.asyncProperty(request, answerOf), runs());
  });

  it("for requests that are right up to the credential", async () => {
    const credential = fc.oneof(
      text,
      fc.string({ unit: fc.constantFrom(..."aZ09-_"), minLength: 43, maxLength: 43 }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.uuid({ version: 4 }),
        bytes,
        credential,
        credential,
        (eventId, body, signature, token) =>
          answerOf({
            method: "POST",
            url: pathOf(id),
            headers: [
              ["Webhook-Timestamp", String(NOW)],
              ["Webhook-Event-Id", eventId],
              ["Content-Type", "application/json"],
              ["Webhook-Signature", signature],
              ["Authorization", `Bearer ${token}`],
            ],
            body,
            sourceAddress: "203.0.113.9",
          }),
      ),
      runs(),
    );
  });

  it("for tokens of any header, claims and signature", async () => {
    const members = fc.oneof(
      fc.dictionary(fc.constantFrom("alg", "kid", "crit", "jwk", "exp", "__proto__", "typ"), fc.jsonValue()),
      fc.record({
        alg: fc.constantFrom("EdDSA", "RS256", "none", "HS256"),
        kid: fc.constantFrom("eddsa", "x"),
      }),
      fc.jsonValue(),
    );
    const segment = fc.oneof(
      members.map((value) => base64url(JSON.stringify(value))),
      fc.uint8Array({ maxLength: 80 }).map((value) => base64url(value)),
      text,
    );
    const token = fc.array(segment, { minLength: 1, maxLength: 5 }).map((segments) => segments.join("."));
    await fc.assert(
      fc.asyncProperty(
        fc.uuid({ version: 4 }),
        token,
        fc.constantFrom("Bearer ", "bearer ", "", "DPoP "),
        (eventId, value, scheme) =>
          answerOf({
            method: "POST",
            url: `${BASE_URL}${pathOf(id)}`,
            headers: [
              ["Webhook-Timestamp", String(NOW)],
              ["Webhook-Event-Id", eventId],
              ["Content-Type", "application/json"],
              ["Authorization", scheme + value],
            ],
            body: "{}",
          }),
      ),
      runs(),
    );
  });
});
