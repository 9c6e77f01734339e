import { hmacSigner, signHmac, verifyHmac } from "hookproof";
import { diagnose } from "hookproof/diagnose";
import { createReceiver } from "hookproof/receiver";
import { fixedClock } from "hookproof/testing";
import { describe, expect, it } from "vitest";
import * as portable from "../../src/core/hash-portable.js";
import * as native from "../../src/core/node/hash.js";
import { proofLine } from "../kit/proof-line.js";
import { bytesOf, type ProtocolVectors, readVectors } from "./vector-file.js";

const { hmac } = readVectors<ProtocolVectors>("protocol.json");
const cases = hmac.map((one) => ({ ...one, body: bytesOf(one.bodyBase64) }));
const url = "https://tenant.example.com/api/v1/webhooks/incoming/lst_1";

it("has the cases it is supposed to have", () => {
  expect(cases).toHaveLength(22);
});

describe.each(cases)("HMAC: $name", ({ secret, timestamp, eventId, body, ...expected }) => {
  const head = `${timestamp}.${eventId}.`;
  const text = Buffer.from(body).toString("utf8");

  it.each([
    ["native", native],
    ["portable", portable],
  ])("both hash variants compute the values: %s", (_, hash) => {
    expect(hash.hmacSha256(secret)(head, body)).toBe(expected.signature);
    expect(hash.hmacSha256(secret)(head, text)).toBe(expected.signature);
    expect(hash.sha256Base64url(body)).toBe(expected.htb_s256);
  });

  it("signHmac makes it, from bytes and from text, from a number and from a text", () => {
    expect(signHmac({ secret, timestamp, eventId, body })).toBe(expected.signature);
    expect(signHmac({ secret, timestamp: Number(timestamp), eventId, body: text })).toBe(expected.signature);
  });

  it("hmacSigner makes it as the header", async () => {
    const line = await proofLine(hmacSigner({ secret }), { url, timestamp, eventId, body });
    expect(line).toEqual(["Webhook-Signature", expected.signature]);
  });

  it("verifyHmac accepts it, and not the one of a decoded secret", () => {
    expect(verifyHmac({ secret, timestamp, eventId, body, signature: expected.signature })).toBe(true);
    expect(verifyHmac({ secret, timestamp, eventId, body, signature: expected.wrongIfSecretIsDecoded })).toBe(
      false,
    );
  });

  it("a receiver accepts it, and refuses the one of a decoded secret, which diagnose names", async () => {
    const receiver = createReceiver({
      listener: { id: "lst_1", baseUrl: "https://tenant.example.com", auth: { method: "hmac", secret } },
      allowDocumentedSecret: true,
      clock: fixedClock(Number(timestamp) * 1000),
    });
    const headersWith = (signature: string) => ({
      "Content-Type": "application/json",
      "Webhook-Timestamp": timestamp,
      "Webhook-Event-Id": eventId,
      "Webhook-Signature": signature,
    });
    const request = { method: "POST", url, headers: headersWith(expected.signature), body };
    expect(await receiver.verify(request)).toMatchObject({ ok: true, event: { id: eventId, body } });

    const wrong = { ...request, headers: headersWith(expected.wrongIfSecretIsDecoded) };
    expect(await receiver.verify(wrong)).toMatchObject({
      ok: false,
      code: "SIGNATURE_MISMATCH",
      status: 401,
    });
    const named = await diagnose({ request: wrong, secret });
    expect(named.mistakes.map(({ id }) => id)).toContain("secret-base64url-decoded");
    expect((await diagnose({ request, secret })).mistakes.map(({ id }) => id)).not.toContain(
      "secret-base64url-decoded",
    );
  });
});
