// A recorded request runs once, whenever it is sent again; and hostile header lines cost a bounded time.

import type { Signer } from "hookproof";
import { createEvent, hmacSigner, signRequest } from "hookproof";
import { httpSignatureSigner, httpSignatureVerifier } from "hookproof/http-signature";
import { type KeyResolver, localKeys } from "hookproof/jwks";
import { createReceiver, memoryReplayStore } from "hookproof/receiver";

import { securityEventSigner, securityEventVerifier } from "hookproof/set";
import { standardWebhooksSigner, standardWebhooksVerifier } from "hookproof/standard-webhooks";
import { fixedClock } from "hookproof/testing";
import type { JWK } from "jose";
import { describe, expect, it } from "vitest";
import { mistakesOf } from "../kit/mistakes-of.js";
import { type ProtocolVectors, readVectors } from "../vectors/vector-file.js";

type ReceiverOptions = Parameters<typeof createReceiver>[0];

const NOW = 1_767_225_600;
const BASE_URL = "https://tenant.example.com";
const url = `${BASE_URL}/api/v1/webhooks/incoming/lst_1`;
const secret = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
const whsec = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const names = { issuer: "https://idp.example.com/", audience: "https://rp.example.com/" };
const { jwk, privatePkcs8Pem } = readVectors<ProtocolVectors>("protocol.json").keys.find(
  (one) => one.jwk.alg === "EdDSA",
) as ProtocolVectors["keys"][number];
const keys = localKeys({ keys: [jwk as JWK] } as never);
const signing = { key: privatePkcs8Pem, kid: jwk.kid, alg: "EdDSA" } as const;

const PARTIES: Readonly<Record<string, readonly [Signer, ReceiverOptions]>> = {
  "access governance": [
    hmacSigner({ secret }),
    {
      listener: { id: "lst_1", baseUrl: BASE_URL, auth: { method: "hmac", secret } },
      allowDocumentedSecret: true,
    },
  ],
  "Standard Webhooks": [
    standardWebhooksSigner({ secrets: whsec }),
    { verifier: standardWebhooksVerifier({ secrets: whsec }) },
  ],
  "HTTP message signatures": [
    httpSignatureSigner({ secret, keyId: "k1" }),
    { verifier: httpSignatureVerifier({ url, secrets: { k1: secret } }) },
  ],
  "security event tokens": [
    securityEventSigner({ ...names, key: signing }),
    { verifier: securityEventVerifier({ ...names, keys }) },
  ],
};

const MINUTE = 60;
const DAY = 86_400;
/** Seconds after the first copy: about the edges of both windows and of the memory of ids. */
const LATER = [
  ...[0, 1, 5 * MINUTE - 1, 5 * MINUTE, 5 * MINUTE + 1, 10 * MINUTE, 10 * MINUTE + 1, DAY],
  ...[-11 * MINUTE, -10 * MINUTE - 1, -10 * MINUTE, -5 * MINUTE, -1, 0, 1, 5 * MINUTE, DAY].map(
    (at) => 7 * DAY + at,
  ),
];

describe.each(Object.entries(PARTIES))("a recorded request of %s", (_name, [signer, options]) => {
  it.each([-300, 0, 300])(
    "from a clock that is %i s off runs once, at whatever time it comes again",
    async (off) => {
      const event = createEvent({ events: { "https://events.example.com/happened": {} } });
      const request = await signRequest({ url, signer: signer as never, event, timestamp: NOW + off });
      for (const later of LATER) {
        const clock = fixedClock(NOW * 1000);
        const receiver = createReceiver({ ...options, clock, replayStore: memoryReplayStore({ clock }) });
        let runs = 0;
        const receive = () => receiver.receive(request, async () => (runs += 1));
        expect((await receive()).verdict.ok).toBe(true);
        clock.advance(later * 1000);
        const { verdict } = await receive();
        expect([runs, verdict.ok], `${later} s later`).toEqual([1, false]);
      }
    },
  );
});

it("with the widest tolerance of Standard Webhooks a recorded request runs once, too", async () => {
  const toleranceSeconds = 3 * DAY;
  const verifier = standardWebhooksVerifier({ secrets: whsec, toleranceSeconds });
  const event = createEvent({ n: 1 });
  const signer = standardWebhooksSigner({ secrets: whsec });
  for (const off of [-toleranceSeconds, 0, toleranceSeconds]) {
    const request = await signRequest({ url, signer: signer as never, event, timestamp: NOW + off });
    for (const later of [0, 1, 3, 5, 6, 6.9, 7, 7.1, 8, 14].map((days) => days * DAY)) {
      const clock = fixedClock(NOW * 1000);
      const receiver = createReceiver({ verifier, clock, replayStore: memoryReplayStore({ clock }) });
      let runs = 0;
      const receive = () => receiver.receive(request, async () => (runs += 1));
      await receive();
      clock.advance(later * 1000);
      await receive();
      expect(runs, `${off} s off, ${later} s later`).toBe(1);
    }
  }
});

describe("hostile header lines of HTTP message signatures", () => {
  const headers = { "Content-Type": "application/json", "Webhook-Event-Id": "id-1", "Content-Digest": "" };

  it("a header of 8 KB costs milliseconds, whatever it repeats, for the receiver and the diagnosis", async () => {
    const rules = { url, secrets: { k1: secret }, keys };
    const receiver = createReceiver({
      verifier: httpSignatureVerifier(rules),
      clock: fixedClock(NOW * 1000),
    });
    const parts = [
      '"a" ',
      '("a"',
      ";a=1",
      ", a=()",
      "=:AA==:,",
      "a=:AA==:, ",
      '\\"',
      "-",
      ":",
      "é",
      "\t",
      '"',
    ];
    for (const part of parts) {
      const text = `sig1=("@method" ${part.repeat(8_100 / part.length)}`;
      const given = { ...headers, "Signature-Input": text, Signature: text, "Content-Digest": text };
      const start = process.cpuUsage();
      await receiver.verify({ method: "POST", url, headers: given, body: "{}" });
      await mistakesOf("http-signature", { ...rules, headers: given, body: "{}", nowSeconds: NOW });
      const { user, system } = process.cpuUsage(start);
      expect((user + system) / 1000, part).toBeLessThan(500);
    }
  });

  it("at most 8 keys are looked up, and 65 components are too many", async () => {
    let asked = 0;
    const counting: KeyResolver = {
      resolve: async () => {
        asked += 1;
        return { ok: false, code: "KEY_NOT_FOUND", detail: "none" };
      },
    };
    const verifier = httpSignatureVerifier({ url, keys: counting });
    const receiver = createReceiver({ verifier, clock: fixedClock(NOW * 1000) });
    const covered = '"@method" "@target-uri" "content-type" "content-digest" "webhook-event-id"';
    const digest = "sha-256=:RBNvo1WzZ4oRRq0W9+hknpT7T8If536DEMBg9hyq/4o=:"; // of {}, by openssl
    const verify = (count: number, more = "") => {
      const labels = Array.from({ length: count }, (_, at) => `s${at}`);
      const input = `(${covered}${more});created=${NOW};keyid="k";alg="ed25519"`;
      const lines = {
        ...headers,
        "Content-Digest": digest,
        "Signature-Input": labels.map((label) => `${label}=${input}`).join(", "),
        Signature: labels.map((label) => `${label}=:AAAA:`).join(", "),
        ...Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`x-${at}`, "1"])),
      };
      return receiver.verify({ method: "POST", url, headers: lines, body: "{}" });
    };
    expect(await verify(8)).toMatchObject({ code: "KEY_NOT_FOUND" });
    expect(asked).toBe(8);
    expect(await verify(9)).toMatchObject({ code: "SIGNATURE_MALFORMED" });
    const many = (count: number) => Array.from({ length: count }, (_, at) => ` "x-${at}"`).join("");
    expect(await verify(1, many(59))).toMatchObject({ code: "KEY_NOT_FOUND" });
    expect(await verify(1, many(60))).toMatchObject({ code: "SIGNATURE_MALFORMED" });
    expect(asked).toBe(9);
  });
});
