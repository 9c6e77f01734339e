// What one scheme has signed, and keys of one kind where another one belongs.

import { createHmac } from "node:crypto";
import type { Signer } from "hookproof";
import { createEvent, hmacSigner, jwtSigner, signRequest } from "hookproof";
import { httpSignatureSigner, httpSignatureVerifier } from "hookproof/http-signature";
import { generateKey, localKeys } from "hookproof/jwks";
import { createReceiver } from "hookproof/receiver";
import { securityEvent, securityEventSigner, securityEventVerifier } from "hookproof/set";
import { standardWebhooksSigner, standardWebhooksVerifier } from "hookproof/standard-webhooks";
import { fixedClock } from "hookproof/testing";
import { SignJWT } from "jose";
import { describe, expect, it } from "vitest";
import { proofLine } from "../kit/proof-line.js";

const NOW = 1_767_225_600;
const clock = fixedClock(NOW * 1_000);
const BASE_URL = "https://tenant.example.com";
const url = `${BASE_URL}/api/v1/webhooks/incoming/lst_1`;
const event = createEvent(securityEvent("https://events.example.com/happened", { n: 1 }));

// One secret and one key for all schemes, as somebody might share them.
const secret = "WzEsMiwzLDQsNSw2LDcsOCw5LDEwLDExLDEyLDEzXSE";
const whsec = `whsec_${Buffer.from(secret).toString("base64")}`;
const edwards = await generateKey({ alg: "EdDSA", kid: "k1" });
const keys = localKeys({ keys: [edwards.publicJwk] });
const signing = { key: edwards.privateJwk, kid: "k1", alg: "EdDSA" } as const;
const [whsk, whpk] = [
  `whsk_${Buffer.from(String(edwards.privateJwk.d), "base64url").toString("base64")}`,
  `whpk_${Buffer.from(String(edwards.publicJwk.x), "base64url").toString("base64")}`,
];
const names = { issuer: "https://idp.example.com/", audience: "https://receiver.example.com/" };

type ReceiverOptions = Parameters<typeof createReceiver>[0];

interface Party {
  readonly signer: Signer;
  readonly receiver: ReceiverOptions;
}

const parties: Readonly<Record<string, Party>> = {
  "access governance, HMAC": {
    signer: hmacSigner({ secret }),
    receiver: { listener: { id: "lst_1", baseUrl: BASE_URL, auth: { method: "hmac", secret } } },
  },
  "Standard Webhooks v1": {
    signer: standardWebhooksSigner({ secrets: whsec }),
    receiver: { verifier: standardWebhooksVerifier({ secrets: whsec }) },
  },
  "Standard Webhooks v1a": {
    signer: standardWebhooksSigner({ secrets: whsk }),
    receiver: { verifier: standardWebhooksVerifier({ secrets: whpk }) },
  },
  "HTTP message signatures, HMAC": {
    signer: httpSignatureSigner({ secret, keyId: "k1" }),
    receiver: { verifier: httpSignatureVerifier({ url, secrets: { k1: secret } }) },
  },
  "HTTP message signatures, Ed25519": {
    signer: httpSignatureSigner({ key: signing }),
    receiver: { verifier: httpSignatureVerifier({ url, keys }) },
  },
  "security event tokens": {
    signer: securityEventSigner({ ...names, key: signing }),
    receiver: { verifier: securityEventVerifier({ ...names, keys }) },
  },
};

async function answerTo(signer: Signer, options: ReceiverOptions, more: Record<string, string> = {}) {
  const { method, headers, body } = await signRequest({ url, signer: signer as never, event, clock });
  const request = { method, url, headers: { ...headers, ...more }, body };
  return createReceiver({ ...options, clock }).receive(request, async () => {});
}

const codeOf = async (answer: ReturnType<typeof answerTo>) => {
  const { status, verdict } = await answer;
  return verdict.ok ? "accepted" : `${status} ${verdict.code}`;
};

describe.each(Object.entries(parties))("what is signed by %s", (name, { signer }) => {
  it("is accepted there, and nowhere else, although secrets and keys are the same", async () => {
    for (const [other, { receiver }] of Object.entries(parties)) {
      const { status, verdict } = await answerTo(signer, receiver);
      expect(verdict.ok, `${name} to ${other}: ${verdict.ok || verdict.code}`).toBe(name === other);
      expect(status, other).toBeLessThan(500);
    }
  });
});

describe("a key of another kind", () => {
  const v1aVerifier = standardWebhooksVerifier({ secrets: whpk });
  const head = `${event.id}.${NOW}.`;
  const lines = {
    "webhook-id": event.id,
    "webhook-timestamp": String(NOW),
    "content-type": "application/json",
  };
  const receive = (verifier: typeof v1aVerifier, signature: string) =>
    createReceiver({ verifier, clock }).verify({
      method: "POST",
      url,
      headers: { ...lines, "webhook-signature": signature },
      body: event.body,
    });

  it("a public key is no secret of Standard Webhooks: an HMAC by it is refused", async () => {
    const bytes = [Buffer.from(whpk), Buffer.from(whpk.slice(5)), Buffer.from(whpk.slice(5), "base64")];
    for (const key of bytes) {
      const mac = createHmac("sha256", key).update(head).update(event.body).digest("base64");
      for (const list of [`v1,${mac}`, `v1a,${mac}`, `v1,${mac} v1a,${mac}`])
        expect(await receive(v1aVerifier, list)).toMatchObject({ ok: false });
    }
  });

  it("a secret of Standard Webhooks is no key for v1a, nor the other way round", async () => {
    const both = standardWebhooksVerifier({ secrets: [whsec, whpk] });
    const [v1, v1a] = await Promise.all(
      [whsec, whsk].map(async (secrets) => {
        const signed = await standardWebhooksSigner({ secrets }).sign({
          ...{ url, timestamp: String(NOW), eventId: event.id, body: event.body },
        });
        return signed.headers[0]?.[1].split(",")[1];
      }),
    );
    for (const list of [`v1,${v1}`, `v1a,${v1a}`, `v2,x v1,${v1}`])
      expect(await receive(both, list), list).toMatchObject({ ok: true });
    for (const list of [`v1a,${v1}`, `v1,${v1a}`, `v2,${v1}`, `V1,${v1}`, `v1 ,${v1}`, `v1,${v1},`, `,${v1}`])
      expect(await receive(both, list), list).toMatchObject({ ok: false });
    for (const wrong of [whsec.replace("whsec_", "whpk_"), whpk.replace("whpk_", "whsk_"), whsk, secret])
      expect(() => standardWebhooksVerifier({ secrets: wrong }), wrong.slice(0, 6)).toThrow(/secret/i);
  });

  it("many signatures are refused before one is tried", async () => {
    for (const count of [17, 1_000]) {
      const list = Array(count).fill("v1a,AAAA").join(" ");
      expect(await receive(v1aVerifier, list)).toMatchObject({ code: "SIGNATURE_MALFORMED" });
    }
  });

  it("an HMAC by a public key is no signature of RFC 9421", async () => {
    for (const text of [edwards.publicJwk.x, JSON.stringify(edwards.publicJwk)]) {
      const forger = httpSignatureSigner({ secret: String(text), keyId: "k1" });
      expect(await codeOf(answerTo(forger, { verifier: httpSignatureVerifier({ url, keys }) }))).toMatch(
        /KEY_NOT_FOUND/,
      );
    }
  });

  it("an HMAC by a public key is no security event token, and neither is a token of another kind", async () => {
    const claims = { events: { "https://events.example.com/happened": {} } };
    const token = (alg: string, typ: string, key: Uint8Array) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg, typ, kid: "k1" })
        .setIssuer(names.issuer)
        .setAudience(names.audience)
        .setIssuedAt(NOW)
        .setJti("a")
        .sign(key);
    const bytes = Buffer.from(String(edwards.publicJwk.x), "base64url");
    const forged = await token("HS256", "secevent+jwt", bytes);
    const receiver = createReceiver({
      ...parties["security event tokens"]?.receiver,
      clock,
    } as ReceiverOptions);
    const push = (body: string) =>
      receiver.verify({ method: "POST", url, headers: { "Content-Type": "application/secevent+jwt" }, body });
    expect(await push(forged)).toMatchObject({ code: "TOKEN_ALGORITHM_REFUSED" });
    const proof = await proofLine(jwtSigner(signing), {
      ...{ url, timestamp: String(NOW), eventId: event.id, body: event.body },
    });
    expect(await push(String(proof[1]).replace("Bearer ", ""))).toMatchObject({
      code: "TOKEN_HEADER_REFUSED",
    });
  });
});
