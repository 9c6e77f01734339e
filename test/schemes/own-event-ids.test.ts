import { createEvent, createSender, hmacSigner, type Signer, sendToListeners, signRequest } from "hookproof";
import { httpSignatureSigner, httpSignatureVerifier } from "hookproof/http-signature";
import { generateKey, localKeys } from "hookproof/jwks";
import { createOutbox, memoryStore } from "hookproof/outbox";
import { createReceiver } from "hookproof/receiver";
import type { Verifier } from "hookproof/schemes";
import { securityEvent, securityEventSigner, securityEventVerifier } from "hookproof/set";
import { standardWebhooksSigner, standardWebhooksVerifier } from "hookproof/standard-webhooks";
import { describe, expect, it } from "vitest";

const url = "https://hooks.example.com/in";
const ID = "msg_p5jXN8AQM9LWM0D4loKWxJek";
const invalid = (words = "") =>
  expect.objectContaining({ code: "EVENT_ID_INVALID", message: expect.stringContaining(words) });

const standardSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const standard = standardWebhooksSigner({ secrets: standardSecret });
const shared = "a secret that both sides know: 32 bytes or more";
const key = await generateKey({ alg: "EdDSA", kid: "k1" });
const known = localKeys({ keys: [key.publicJwk] });
const names = { issuer: "https://idp.example.com/", audience: "https://rp.example.com/" };

const SCHEMES: [name: string, signer: Signer, verifier: Verifier][] = [
  ["Standard Webhooks", standard, standardWebhooksVerifier({ secrets: standardSecret })],
  [
    "HTTP message signatures",
    httpSignatureSigner({ secret: shared, keyId: "s1" }),
    httpSignatureVerifier({ url, secrets: { s1: shared } }),
  ],
  [
    "security event tokens",
    securityEventSigner({ ...names, key: { key: key.privateJwk, kid: "k1", alg: "EdDSA" } }),
    securityEventVerifier({ ...names, keys: known }),
  ],
];
const payload = securityEvent("https://events.example.com/happened", { n: 1 });

/** Sends to a receiver in memory, and gives the ids that its automation ran for. */
function connected(signer: Signer, verifier: Verifier) {
  const ran: string[] = [];
  const receiver = createReceiver({ verifier });
  const sender = createSender({
    url,
    signer,
    transport: async ({ method, headers, body }) => {
      const request = new Request(url, {
        method,
        headers: Object.fromEntries(headers),
        body: body as BodyInit,
      });
      const answer = await receiver.handle(request, async ({ id }) => void ran.push(id));
      return { status: answer.status, headers: [], body: new Uint8Array(), truncated: false };
    },
  });
  return { sender, ran };
}

describe("event ids of one's own form", () => {
  it("sign as the example of Standard Webhooks does, which Python computes alike", async () => {
    const event = createEvent('{"test": 2432232314}', { eventId: ID, idForm: "own" });
    const { headers } = await signRequest({ url, signer: standard, event, timestamp: 1614265330 });
    expect(headers).toMatchObject({
      "webhook-id": ID,
      "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    });
  });

  it("that are the beginning of an id that the sender made are ids of their own", async () => {
    const [, signer, verifier] = SCHEMES[0] as (typeof SCHEMES)[number];
    const { sender } = connected(signer, verifier);
    const { eventId } = await sender.send(payload);
    for (const length of [1, 8, 35])
      expect(
        await sender.send({ length }, { eventId: eventId.slice(0, length), idForm: "own" }),
      ).toMatchObject({ outcome: "accepted" });
  });

  it.each(SCHEMES)("arrive by %s, and a copy of the event is the same one", async (_, signer, verifier) => {
    const { sender, ran } = connected(signer, verifier);
    const receipt = await sender.send(payload, { eventId: ID, idForm: "own" });
    expect(receipt).toMatchObject({ eventId: ID, outcome: "accepted" });
    await sender.send({ ...createEvent(payload, { eventId: ID, idForm: "own" }) });
    const made = await sender.createEvent(payload, { eventId: "evt:2", idForm: "own" });
    await sender.send(made);
    expect(ran).toEqual([ID, "evt:2"]);
    await expect(sender.send({ ...payload, more: 1 }, { eventId: ID, idForm: "own" })).rejects.toMatchObject({
      code: "EVENT_ID_REUSED",
    });
  });

  it("keep their letters; a UUID is one in either case", () => {
    expect(createEvent(1, { eventId: "Evt_A", idForm: "own" }).id).toBe("Evt_A");
    const uuid = "0B0F2B3E-6F3C-4C1D-9A6E-2F6D8B7C1A10";
    expect(createEvent(1, { eventId: uuid, idForm: "own" }).id).toBe(uuid.toLowerCase());
  });

  it.each(["", " ", "a b", "é", "a\n", "\0", "x".repeat(257), 7, null])("refuse %j", (eventId) => {
    expect(() => createEvent(1, { eventId: eventId as string, idForm: "own" })).toThrow(invalid("visible"));
  });

  it("are refused where nobody asked for them, with the option", async () => {
    expect(() => createEvent(1, { eventId: ID })).toThrow(invalid('idForm: "own"'));
    expect(() => createEvent(1, { eventId: ID, idForm: "any" as "own" })).toThrow(/idForm must be/);
    const { sender } = connected(standard, standardWebhooksVerifier({ secrets: standardSecret }));
    await expect(sender.send(1, { eventId: ID })).rejects.toEqual(invalid());
  });

  it("are refused by the default scheme in every door, before anything is sent", async () => {
    const signer = hmacSigner({ secret: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8" });
    const listener = "https://hooks.example.com/api/v1/webhooks/incoming/lst_1";
    const event = createEvent(1, { eventId: ID, idForm: "own" });
    const own = { eventId: ID, idForm: "own" } as const;
    let sent = 0;
    const transport = async () => {
      sent++;
      return { status: 200, headers: [], body: new Uint8Array(), truncated: false };
    };
    const sender = createSender({ url: listener, signer, transport });
    const refused = invalid("access-governance cannot send the event id");
    await expect(sender.send(1, own)).rejects.toEqual(refused);
    await expect(sender.send(event)).rejects.toEqual(refused);
    await expect(sender.send({ ...event })).rejects.toEqual(refused);
    await expect(sender.createEvent(1, own)).rejects.toEqual(refused);
    await expect(signRequest({ url: listener, signer, event })).rejects.toEqual(refused);
    const listeners = () => ({ url: listener, signer, transport });
    for await (const result of sendToListeners([{ listener: "a", payload: 1, ...own }], { listeners }))
      expect(result).toMatchObject({ ok: false, code: "EVENT_ID_INVALID" });
    expect(sent).toBe(0);
  });

  it("end at a full stop in Standard Webhooks, which is refused before its receivers do", async () => {
    const event = createEvent(1, { eventId: "msg.1", idForm: "own" });
    await expect(signRequest({ url, signer: standard, event })).rejects.toEqual(invalid("standard-webhooks"));
  });

  it("are refused by an outbox, which keeps UUIDs", () => {
    const outbox = createOutbox({ store: memoryStore(), listeners: { a: { url, signer: standard } } });
    const event = createEvent(1, { eventId: ID, idForm: "own" });
    expect(() => outbox.enqueue({ listener: "a", payload: event })).toThrow(invalid("with createSender"));
  });
});
