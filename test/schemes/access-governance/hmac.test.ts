import { hmacSigner, signHmac, verifyHmac } from "hookproof";
import { describe, expect, it } from "vitest";
import { hmacVerifier, isSignature } from "../../../src/schemes/access-governance/hmac.js";
import { proofLine } from "../../kit/proof-line.js";

// Signature and secrets are those of the doc example, checked with openssl (test/packaging/install.test.ts).
const secret = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
const input = {
  secret,
  timestamp: "1767225600",
  eventId: "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10",
  body: '{"type":"user.offboarded","userId":"u_123"}',
};
const signature = "hEuwC_Ckgwc7avU0xzAh6BEbIHQ49cz_g5zDepzyiTE";
const url = "https://tenant.example.com/api/v1/webhooks/incoming/lst_1";

describe("signHmac", () => {
  it.each<[what: string, timestamp: number | string]>([
    ["a fraction", 1.5],
    ["a negative number", -1],
    ["NaN", Number.NaN],
    ["infinity", Number.POSITIVE_INFINITY],
    ["too large a number", 1e21],
    ["a text with a sign", "+1"],
    ["a text with a leading zero", "01"],
    ["a date", "2026-01-01"],
  ])("refuses a timestamp: %s", (_, timestamp) => {
    expect(() => signHmac({ ...input, timestamp })).toThrow(
      expect.objectContaining({ code: "TIMESTAMP_INVALID" }),
    );
  });

  it("calls a parsed body and an event id of another type a wrong call", () => {
    expect(() => signHmac({ ...input, body: {} as string })).toThrow(/body.*not a parsed value/);
    expect(() => signHmac({ ...input, body: undefined as unknown as string })).toThrow(TypeError);
    expect(() => signHmac({ ...input, eventId: 7 as unknown as string })).toThrow(/eventId/);
  });

  it("signs an id as it is written: case matters", () => {
    expect(signHmac({ ...input, eventId: input.eventId.toUpperCase() })).not.toBe(signHmac(input));
  });
});

describe("verifyHmac", () => {
  it("accepts the signature, with the body as text or bytes and the timestamp as text or number", () => {
    const body = new TextEncoder().encode(input.body);
    expect(verifyHmac({ ...input, signature })).toBe(true);
    expect(verifyHmac({ ...input, body, timestamp: 1767225600, signature })).toBe(true);
  });

  it.each<[what: string, signature: unknown]>([
    ["empty", ""],
    ["padded", `${signature}=`],
    ["with a space", ` ${signature}`],
    ["shorter", signature.slice(0, 42)],
    ["with other bits after the last byte", `${signature.slice(0, 42)}F`],
    ["in the alphabet of base64", signature.replaceAll("_", "/").replaceAll("-", "+")],
    ["in lower case", signature.toLowerCase()],
    ["in hexadecimal", Buffer.from(signature, "base64url").toString("hex")],
    ["missing", undefined],
    ["of another type", 7],
  ])("a signature that is %s is false, not an error", (_, given) => {
    expect(verifyHmac({ ...input, signature: given as string })).toBe(false);
  });

  it("takes the timestamp as received: a spelling that was not signed is false", () => {
    expect(verifyHmac({ ...input, timestamp: "01767225600", signature })).toBe(false);
    expect(verifyHmac({ ...input, timestamp: "1767225600 ", signature })).toBe(false);
  });

  it("calls a parsed body a wrong call", () => {
    expect(() => verifyHmac({ ...input, body: {} as string, signature })).toThrow(TypeError);
  });

  it("knows the form of a signature", () => {
    expect(isSignature(signature)).toBe(true);
    expect(isSignature(`${signature}\n`)).toBe(false);
    expect(isSignature(`${signature}A`)).toBe(false);
    expect(isSignature(`=${signature}`)).toBe(false);
  });
});

describe("several secrets", () => {
  const body = new TextEncoder().encode(input.body);
  const request = { url, timestamp: input.timestamp, eventId: input.eventId, body };

  it("a signer signs with the first, and shows none of them", async () => {
    const signer = hmacSigner({ secret: [secret, "old"] });
    expect(await proofLine(signer, request)).toEqual(["Webhook-Signature", signature]);
    expect(Object.keys(signer).sort()).toEqual(["alternatives", "scheme", "sign", "warnings"]);
    expect(await hmacSigner({ secret: ["new", secret] }).sign(request)).not.toEqual(
      await signer.sign(request),
    );
  });

  it("a verifier accepts any of them and expects the first", () => {
    const verifier = hmacVerifier(["new", secret, "old"]);
    const head = `${input.timestamp}.${input.eventId}.`;
    expect(verifier.matches(head, body, signature)).toBe(true);
    expect(verifier.expected(head, body)).toBe(signHmac({ ...input, secret: "new" }));
    expect(hmacVerifier(["new", "old"]).matches(head, body, signature)).toBe(false);
  });
});
