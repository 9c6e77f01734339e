import { localKeys } from "hookproof/jwks";
import { createReceiver } from "hookproof/receiver";
import { fixedClock } from "hookproof/testing";
import { describe, expect, it } from "vitest";
import { bytesOf, type ProtocolVectors, readVectors } from "./vector-file.js";

const { jwt, keys } = readVectors<ProtocolVectors>("protocol.json");
const resolver = localKeys({ keys: keys.map(({ jwk }) => jwk) });

/** The code for what a case fails on; a kid that is missing and one that is unknown are told apart. */
const CODES: Record<string, string> = {
  exp: "CLAIM_EXP_INVALID",
  sub: "CLAIM_SUB_INVALID",
  aud: "CLAIM_AUD_INVALID",
  jti: "CLAIM_JTI_INVALID",
  htm: "CLAIM_HTM_INVALID",
  htb_s256: "CLAIM_HTB_S256_INVALID",
};

function codeFor(name: string, failsOn: string): string | undefined {
  if (failsOn !== "kid") return CODES[failsOn];
  return name.endsWith("missing") ? "TOKEN_KEY_ID_INVALID" : "KEY_NOT_FOUND";
}

it("has the cases it is supposed to have", () => {
  expect(jwt).toHaveLength(54);
  expect(new Set(jwt.map(({ alg }) => alg))).toEqual(new Set(["RS256", "ES256", "EdDSA"]));
});

describe("JWT", () => {
  it.each(jwt)("$name", async ({ name, now, eventId, bodyBase64, url, baseUrl, token, valid, failsOn }) => {
    const receiver = createReceiver({
      listener: { id: url.split("/").at(-1) ?? "", baseUrl, auth: { method: "jwt", keys: resolver } },
      clock: fixedClock(now * 1000),
    });
    const verdict = await receiver.verify({
      method: "POST",
      url,
      headers: {
        "Content-Type": "application/json",
        "Webhook-Timestamp": String(now),
        "Webhook-Event-Id": eventId,
        Authorization: `Bearer ${token}`,
      },
      body: bytesOf(bodyBase64),
    });
    if (valid) expect(verdict).toMatchObject({ ok: true, event: { id: eventId } });
    else expect(verdict).toMatchObject({ ok: false, status: 401, code: codeFor(name, failsOn ?? "nothing") });
  });
});
