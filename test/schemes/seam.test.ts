import { createHash } from "node:crypto";
import type { Signer } from "hookproof";
import { createSender, DeliveryError, newEventId, signRequest } from "hookproof";
import { createOutbox, memoryStore } from "hookproof/outbox";
import { createReceiver } from "hookproof/receiver";
import {
  classifyAnswer,
  type Scheme,
  type SchemeCheck,
  schemeChecks,
  type Verifier,
} from "hookproof/schemes";
import { createFakeReceiver, fixedClock } from "hookproof/testing";
import { describe, expect, it } from "vitest";

const URL = "https://hooks.example.com/in?tenant=7";
const NOW = 1_767_225_600_000;

/** A scheme that has nothing in common with ours: another header, the proof around the body, other answers. */
const sealed: Scheme = {
  name: "sealed",
  contentType: "application/sealed+json",
  proof: "event",
  ownHeaders: ["Sealed-By", "sealed-x-*"],
  rememberedMs: 60_000,
  headers: ({ timestamp }) => [["Sealed-At", timestamp]],
  classify: (answer, attempt, now) =>
    answer.status === 202 ? { outcome: "accepted", earlier: false } : classifyAnswer(answer, attempt, now),
};

const signer: Signer = {
  scheme: sealed,
  warnings: ["a hash is no signature"],
  sign: ({ eventId, body }) => {
    const event = Buffer.from(body).toString("utf8");
    const hash = createHash("sha256").update(eventId).update(body).digest("hex");
    return {
      headers: [
        ["Sealed-By", "hash"],
        ["Sealed-X-Hash", hash],
      ],
      body: Buffer.from(JSON.stringify({ id: eventId, event })),
    };
  },
};

const checks: SchemeCheck[] = [
  { step: "signature", rule: "Sealed-X-Hash is the hash of id and event", codes: ["SIGNATURE_MISMATCH"] },
];
const { passed, failed } = schemeChecks(checks);

const verifier: Verifier = {
  scheme: sealed,
  checks,
  answers: {
    accepted: 202,
    statuses: { SIGNATURE_MISMATCH: 400, EVENT_DUPLICATE: 202 },
    body: (refusal) => (refusal ? JSON.stringify({ err: refusal.code, why: refusal.rule }) : ""),
  },
  verify({ headers, body }) {
    const { id, event } = JSON.parse(Buffer.from(body).toString("utf8"));
    const [timestamp] = headers.all("sealed-at");
    const hash = createHash("sha256").update(id).update(event).digest("hex");
    if (headers.all("sealed-x-hash")[0] !== hash)
      return { ok: false, checks: [failed("signature", "SIGNATURE_MISMATCH", "another hash")] };
    const payload = JSON.parse(event);
    return { ok: true, checks: [passed("signature")], id, timestamp: Number(timestamp), payload };
  },
};

describe("a scheme of one's own", () => {
  it("has its own content type, headers, body, URL", async () => {
    const { url, headers, body } = await signRequest({
      url: URL,
      signer,
      event: await createSender({ url: URL, signer }).createEvent({ n: 1 }),
      timestamp: 1_767_225_600,
    });
    expect(url).toBe(URL);
    expect(Object.keys(headers)).toEqual(["Content-Type", "Sealed-At", "Sealed-By", "Sealed-X-Hash"]);
    expect(headers["Content-Type"]).toBe("application/sealed+json");
    expect(JSON.parse(Buffer.from(body).toString()).event).toBe('{"n":1}');
  });

  it("answers by its own statuses and bodies, and refuses a copy by them", async () => {
    const receiver = createReceiver({ verifier });
    const seen: unknown[] = [];
    const transport = createFakeReceiver().transport;
    const event = await createSender({ url: URL, signer, transport }).createEvent({ n: 1 });
    const { method, url, headers, body } = await signRequest({ url: URL, signer, event });
    const receive = (changes = {}) =>
      receiver.receive({ method, url, headers, body, ...changes }, async ({ payload, id, listenerId }) =>
        seen.push([payload, id, listenerId]),
      );
    expect(await receive({ body: JSON.stringify({ id: event.id, event: '{"n":2}' }) })).toMatchObject({
      status: 400,
      body: '{"err":"SIGNATURE_MISMATCH","why":"Sealed-X-Hash is the hash of id and event"}',
    });
    expect(await receive()).toMatchObject({ status: 202, body: "", headers: [] });
    expect(await receive()).toMatchObject({ status: 202, verdict: { ok: false, code: "EVENT_DUPLICATE" } });
    expect(seen).toEqual([[{ n: 1 }, event.id, "sealed"]]);
  });

  it("a proof for the event has the time of its first attempt at every attempt", async () => {
    const clock = fixedClock(NOW);
    const receiver = createFakeReceiver([503, 503, 202]);
    const { transport, requests } = receiver;
    const wait = async (ms: number) => clock.advance(ms);
    await createSender({ url: URL, signer, transport, clock, wait }).send({ n: 1 });
    expect(requests.map(({ headers }) => headers.get("Sealed-At"))).toEqual(Array(3).fill("1767225600"));
  });

  it("in the outbox too, and its window is half of what is remembered where that is short", async () => {
    const clock = fixedClock(NOW);
    const { transport, requests } = createFakeReceiver(Array(20).fill(503));
    const wait = async (ms: number) => clock.advance(ms);
    const store = memoryStore({ clock });
    const listeners = { one: { url: URL, signer, transport } };
    const outbox = createOutbox({ store, listeners, clock, wait, quiet: true, random: () => 0 });
    const { eventId } = await outbox.enqueue({ listener: "one", payload: { n: 1 } });
    while ((await outbox.find(eventId))[0]?.state === "pending") {
      await outbox.drain();
      clock.advance(1_000);
    }
    expect(new Set(requests.map(({ headers }) => headers.get("Sealed-At")))).toEqual(new Set(["1767225600"]));
    for await (const { reason } of outbox.deadLetters()) expect(reason).toBe("window");
    expect((await outbox.find(eventId))[0]?.state).toBe("dead");
    expect(requests.length).toBe(5); // after 0, 1, 3, 7 and 15 seconds; 31 would be past 30
  });

  it("keeps its headers and the outbox's options to itself", async () => {
    for (const name of ["sealed-by", "SEALED-X-ANY", "content-type"])
      expect(() => createSender({ url: URL, signer, headers: { [name]: "a" } }), name).toThrow(TypeError);
    createSender({ url: URL, signer, headers: { "Webhook-Id": "a", Authorization: "Bearer a" } });
    expect(() => createSender({ url: "http://hooks.example.com", signer })).toThrow(/https/);
    expect(() => createSender({ url: URL, signer, retry: { windowMs: 60_001 } })).toThrow(/60000 ms/);
  });

  it("that fails harms no delivery, and lets nothing through", async () => {
    const broken = () => {
      throw new Error("broken");
    };
    const { transport } = createFakeReceiver([204]);
    const sender = (over: Partial<Scheme>) =>
      createSender({
        url: URL,
        signer: { ...signer, scheme: { ...sealed, ...over } },
        transport,
        retry: { maxAttempts: 1 },
      });
    expect((await sender({ classify: broken }).send({})).status).toBe(204);
    await expect(sender({ headers: broken }).send({})).rejects.toThrow(DeliveryError);

    const request = { method: "POST", url: "/", headers: {}, body: "{}" };
    const answers: readonly Partial<Verifier>[] = [
      { verify: broken },
      {
        verify: () => ({
          ok: true,
          checks: [failed("signature", "SIGNATURE_MISMATCH")],
          id: "a",
          timestamp: 1,
          payload: 1,
        }),
      },
      { verify: () => ({ ok: false, checks: [] }) },
      { verify: () => ({ ok: false, checks: [passed("signature")] }) },
      { verify: () => undefined as never },
      { verify: () => ({ ok: true }) as never },
      ...["", "a".repeat(257), "a\0b", "a\nb", 7, undefined].map((id) => ({
        verify: () => ({ ok: true as const, checks: [], id: id as string, timestamp: 1, payload: 1 }),
      })),
    ];
    for (const [n, over] of answers.entries()) {
      const ran: unknown[] = [];
      const receiver = createReceiver({ verifier: { ...verifier, ...over } });
      const { status } = await receiver.receive(request, async (event) => ran.push(event));
      expect([status, ran], String(n)).toEqual([[503, 400, 503, 503, 503, 503][n] ?? 400, []]);
    }
  });

  it("needs a verifier that can verify, and a name for the store", () => {
    for (const wrong of [{}, { ...verifier, verify: 1 }, { ...verifier, checks: undefined }])
      expect(() => createReceiver({ verifier: wrong as never })).toThrow(TypeError);
    expect(() => createReceiver({ verifier, id: "a b" })).toThrow(TypeError);
    expect(newEventId()).toHaveLength(36);
  });
});
