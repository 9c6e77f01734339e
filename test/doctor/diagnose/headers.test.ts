import { diagnose } from "hookproof/diagnose";
import { localKeys } from "hookproof/jwks";
import { fixedClock } from "hookproof/testing";
import { describe, expect, it } from "vitest";

const secret = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
const timestamp = "1767225600";
const eventId = "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10";
const clock = fixedClock(1_767_225_600_000);

describe("method and path", () => {
  const headers = {
    "Content-Type": "application/json",
    "Webhook-Timestamp": timestamp,
    "Webhook-Event-Id": eventId,
  };
  const path = "/api/v1/webhooks/incoming/lst_1";

  it.each<[method: string | undefined, url: string | undefined, expected: string[]]>([
    ["POST", path, []],
    ["POST", `https://tenant.example.com${path}?a=1`, []],
    [undefined, undefined, []],
    ["GET", path, ["method-not-post"]],
    ["POST", `${path}/`, ["url-not-of-listener"]],
    ["POST", "/api/v1/webhooks/incoming/lst_2", ["url-not-of-listener"]],
  ])("%s %s", async (method, url, expected) => {
    const request = { method, url, headers, body: "{}" };
    const { mistakes } = await diagnose({ request, listener: { id: "lst_1" }, clock });
    expect(mistakes.map(({ id }) => id)).toEqual(expected);
  });
});

describe("the headers that every request has", () => {
  const right = {
    "Content-Type": "application/json",
    "Webhook-Timestamp": timestamp,
    "Webhook-Event-Id": eventId,
  };
  const without = (name: keyof typeof right) => Object.entries(right).filter(([one]) => one !== name);

  it.each<[what: string, headers: [string, string][], expected: string]>([
    ["no timestamp", without("Webhook-Timestamp"), "timestamp-missing"],
    ["no id", without("Webhook-Event-Id"), "event-id-missing"],
    [
      "the id of Standard Webhooks",
      [...without("Webhook-Event-Id"), ["webhook-id", eventId]],
      "header-misnamed",
    ],
    ["no type", without("Content-Type"), "content-type-missing"],
    ["a form", [...without("Content-Type"), ["Content-Type", "text/plain"]], "content-type-other"],
    ["two ids", [...Object.entries(right), ["webhook-event-id", eventId]], "header-twice"],
    [
      "milliseconds",
      [...without("Webhook-Timestamp"), ["Webhook-Timestamp", `${timestamp}123`]],
      "timestamp-milliseconds",
    ],
    [
      "nanoseconds",
      [...without("Webhook-Timestamp"), ["Webhook-Timestamp", `${timestamp}123456789`]],
      "timestamp-too-fine",
    ],
    [
      "a date",
      [...without("Webhook-Timestamp"), ["Webhook-Timestamp", "2026-01-01T00:00:00Z"]],
      "timestamp-date",
    ],
    [
      "decimals",
      [...without("Webhook-Timestamp"), ["Webhook-Timestamp", `${timestamp}.5`]],
      "timestamp-fraction",
    ],
    ["a word", [...without("Webhook-Timestamp"), ["Webhook-Timestamp", "now"]], "timestamp-malformed"],
    ["the future", [...without("Webhook-Timestamp"), ["Webhook-Timestamp", "1767226000"]], "timestamp-ahead"],
    ["braces", [...without("Webhook-Event-Id"), ["Webhook-Event-Id", `{${eventId}}`]], "event-id-wrapped"],
    [
      "no hyphens",
      [...without("Webhook-Event-Id"), ["Webhook-Event-Id", eventId.replaceAll("-", "")]],
      "event-id-without-hyphens",
    ],
    [
      "version 7",
      [...without("Webhook-Event-Id"), ["Webhook-Event-Id", eventId.replace("-4", "-7")]],
      "event-id-not-v4",
    ],
    ["a number", [...without("Webhook-Event-Id"), ["Webhook-Event-Id", "42"]], "event-id-malformed"],
    ["compression", [...Object.entries(right), ["Content-Encoding", "gzip"]], "content-encoding"],
    ["nothing else", Object.entries(right), "signature-missing"],
  ])("%s", async (_, headers, expected) => {
    const { mistakes } = await diagnose({ request: { headers, body: "{}" }, secret, clock });
    expect(
      mistakes.map(({ id }) => id).filter((id) => id === expected || id !== "signature-missing"),
    ).toEqual([expected]);
  });
});

it.each(["typ", "alg", "kid"])("a token whose %s is an object without a text is explained", async (name) => {
  const header = { alg: "ES256", kid: "k", [name]: { toString: 1, valueOf: 1 } };
  const segments = [header, {}].map((one) => Buffer.from(JSON.stringify(one)).toString("base64url"));
  const headers = { Authorization: `Bearer ${segments.join(".")}.AAAA` };
  const keys = localKeys({ keys: [] });
  const listener = { id: "lst_1", baseUrl: "https://t.example.com", auth: { method: "jwt", keys } } as const;
  const { mistakes } = await diagnose({ request: { headers, body: "{}" }, listener, clock });
  expect(mistakes.map(({ id }) => id)).toContain("claim-sub-missing");
});

it("what is no token is told by its parts, and what is too long by its length", async () => {
  const said = async (token: string) => {
    const request = { headers: { Authorization: `Bearer ${token}` }, body: "{}" };
    const keys = localKeys({ keys: [] });
    const listener = {
      id: "lst_1",
      baseUrl: "https://t.example.com",
      auth: { method: "jwt", keys },
    } as const;
    const { mistakes } = await diagnose({ request, listener, clock });
    return mistakes.find(({ id }) => id === "token-malformed")?.message;
  };
  const opaque = "abcdefghijklmnop";
  expect(await said(opaque)).toMatch(/ It has 1 part\.$/);
  expect(await said(`${opaque}.${opaque}.${opaque}.${opaque}`)).toMatch(/ It has 4 parts\.$/);
  expect(await said(opaque.repeat(512))).toMatch(/ It has 1 part\.$/);
  expect(await said(`${opaque.repeat(512)}a`)).toMatch(/ It has 8193 characters; 8192 are the most\.$/);
});
