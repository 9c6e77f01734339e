import { createEvent, createSender, hmacSigner, isEventId, signRequest } from "hookproof";
import { createOutbox, memoryStore } from "hookproof/outbox";
import { describe, expect, it } from "vitest";

const bytes = (text: string) => new TextEncoder().encode(text);
const textOf = (event: { body: Uint8Array }) => new TextDecoder().decode(event.body);
const refusal = (code: string) => expect.objectContaining({ name: "HookproofError", code });

describe("createEvent", () => {
  it.each<[what: string, payload: unknown, body: string]>([
    ["an object", { b: 1, a: [true, null] }, '{"b":1,"a":[true,null]}'],
    ["a value with toJSON", { at: new Date(0) }, '{"at":"1970-01-01T00:00:00.000Z"}'],
    ["null", null, "null"],
    ["a number", 42, "42"],
    ["false", false, "false"],
    ["a text that is JSON, kept as it is", ' { "a" : 1.0 } ', ' { "a" : 1.0 } '],
    ["bytes that are JSON, kept as they are", bytes('{"a":1,"a":2}\n'), '{"a":1,"a":2}\n'],
    ["an escape of half a character, kept as it is", '{"a":"\\ud800"}', '{"a":"\\ud800"}'],
    ["the same in bytes", bytes('{"\\udc00":1}'), '{"\\udc00":1}'],
    ["an object that looks like an event", { id: "x", body: "y" }, '{"id":"x","body":"y"}'],
  ])("takes %s", (_, payload, body) => {
    const event = createEvent(payload);
    expect(textOf(event)).toBe(body);
    expect(isEventId(event.id)).toBe(true);
  });

  it("gives every event an id of its own, and takes one of yours in lower case", () => {
    expect(createEvent(1).id).not.toBe(createEvent(1).id);
    const eventId = "0B0F2B3E-6F3C-4C1D-9A6E-2F6D8B7C1A10";
    expect(createEvent(1, { eventId }).id).toBe(eventId.toLowerCase());
  });

  it("is fixed: neither the event nor the bytes it was made of can change it", () => {
    const given = bytes('{"a":1}');
    const event = createEvent(given);
    given[5] = 50;
    expect(textOf(event)).toBe('{"a":1}');
    expect(Object.isFrozen(event)).toBe(true);
  });

  it("takes 65,536 bytes, counted as bytes", () => {
    expect(createEvent(`"${"x".repeat(65_534)}"`).body).toHaveLength(65_536);
    expect(createEvent(`"${"é".repeat(32_767)}"`).body).toHaveLength(65_536);
  });

  it.each<[what: string, payload: () => unknown]>([
    ["one byte more, as text", () => `"${"x".repeat(65_535)}"`],
    ["one byte more, as bytes", () => bytes(`"${"x".repeat(65_535)}"`)],
    ["one byte more, as a value", () => "x".repeat(65_534).split("")],
    ["too many bytes in few characters", () => `"${"é".repeat(32_768)}"`],
    ["a large text that is not JSON", () => "x".repeat(65_537)],
  ])("refuses for its size: %s", (_, payload) => {
    expect(() => createEvent(payload())).toThrow(refusal("PAYLOAD_TOO_LARGE"));
  });

  it.each<[what: string, payload: () => unknown]>([
    ["undefined", () => undefined],
    ["a function", () => () => 1],
    ["a symbol", () => Symbol("s")],
    ["a BigInt", () => 1n],
    ["a BigInt inside", () => ({ a: [1n] })],
    ["a cycle", () => cycle()],
    ["a failing toJSON", () => ({ toJSON: () => JSON.parse("{hunter2") })],
    ["a value nested 200,000 levels deep", () => nested(200_000)],
    ["text that is not JSON", () => "{not json"],
    ["the empty text", () => ""],
    ["two values", () => "1 2"],
    ["a plain word", () => "hello"],
    ["empty bytes", () => new Uint8Array()],
    ["a byte order mark", () => bytes('\uFEFF{"a":1}')],
    ["NaN as text", () => "NaN"],
    ["65,536 bytes that are not JSON", () => "x".repeat(65_536)],
  ])("refuses what is not JSON: %s", (_, payload) => {
    expect(() => createEvent(payload())).toThrow(refusal("PAYLOAD_NOT_JSON"));
  });

  it.each<[what: string, payload: unknown]>([
    ["a text with a lone surrogate", '"\ud800"'],
    ["bytes with a broken sequence", new Uint8Array([0x22, 0xc3, 0x22])],
    ["bytes with an overlong sequence", new Uint8Array([0x22, 0xc0, 0xaf, 0x22])],
    ["bytes with a surrogate", new Uint8Array([0x22, 0xed, 0xa0, 0x80, 0x22])],
  ])("refuses what is not UTF-8: %s", (_, payload) => {
    expect(() => createEvent(payload)).toThrow(refusal("PAYLOAD_NOT_UTF8"));
  });

  it.each<[what: string, eventId: unknown]>([
    ["nil", "00000000-0000-0000-0000-000000000000"],
    ["version 7", "017F22E2-79B0-7CC3-98C4-DC0C0C07398F"],
    ["a word", "evt_1"],
    ["empty", ""],
    ["a number", 7],
    ["null", null],
  ])("refuses an event id: %s", (_, eventId) => {
    expect(() => createEvent(1, { eventId: eventId as string })).toThrow(refusal("EVENT_ID_INVALID"));
  });

  it.each<[payload: () => unknown, reason: RegExp]>([
    [() => bytes("\uFEFF{}"), /starts with a byte order mark/],
    [() => bytes("{"), /is not JSON/],
    [() => nested(200_000), /is nested too deeply/],
    [() => 1n, /is a BigInt/],
    [() => undefined, /is undefined,/],
    [() => () => 1, /is a function,/],
  ])("says why: %s", (payload, reason) => {
    expect(() => createEvent(payload())).toThrow(reason);
  });

  it.each([
    ["as PowerShell writes it", Buffer.from('\uFEFF{"a":1}', "utf16le")],
    ["with its bytes in the other order", Buffer.from('\uFEFF{"a":1}', "utf16le").swap16()],
    ["without a mark", Buffer.from('{"a":1}', "utf16le")],
    ["read as a text already", Buffer.from('{"a":1}', "utf16le").toString()],
  ])("names UTF-16 in the words of the command line: %s", (_, payload) => {
    expect(() => createEvent(payload)).toThrow(refusal("PAYLOAD_NOT_UTF8"));
    expect(() => createEvent(payload)).toThrow("is UTF-16, and not UTF-8");
  });

  it("calls bytes that are no text no UTF-16 alone", () => {
    expect(() => createEvent(Uint8Array.of(0x0a, 0, 0x12, 7))).toThrow("or bytes that are no text");
  });

  it("repeats no value of a payload it refuses", () => {
    const payloads: unknown[] = ["{hunter2", { a: Symbol("hunter2") }, { ...cycle(), b: "hunter2" }];
    for (const payload of payloads) {
      const error = thrownBy(() => createEvent(payload));
      expect(`${error.message} ${error.stack} ${String(error.cause)}`).not.toContain("hunter2");
    }
  });
});

describe("an event, and what looks like one", () => {
  const url = "http://127.0.0.1:1/api/v1/webhooks/incoming/lst_1";
  const signer = hmacSigner({ secret: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8" });
  const event = createEvent({ type: "user.offboarded" }, { eventId: "0b0f2b3e-6f3c-4c1d-9a6e-2f6d8b7c1a10" });
  const sent: { eventId: string | undefined; body: string }[] = [];
  const sender = createSender({
    url,
    signer,
    transport: async ({ headers, body = bytes("") }) => {
      const [, eventId] = headers.find(([name]) => name === "Webhook-Event-Id") ?? [];
      sent.push({ eventId, body: textOf({ body }) });
      return { status: 200, headers: [], body: bytes("{}"), truncated: false };
    },
  });
  const stored = async (payload: unknown) => {
    const store = memoryStore();
    const outbox = createOutbox({ store, listeners: { a: { url, signer } } });
    return (await outbox.enqueue({ listener: "a", payload: payload as object })).eventId;
  };

  it.each<[what: string, copy: unknown]>([
    ["the event itself", event],
    ["a spread", { ...event }],
    ["a structured clone", structuredClone({ ...event })],
    ["a row of a database", { id: event.id.toUpperCase(), body: Buffer.from(event.body) }],
    ["another order of its members", { body: event.body, id: event.id }],
    ["a copy without a prototype", Object.assign(Object.create(null), event)],
  ])("is sent under its own id with its own bytes by every door: %s", async (_, copy) => {
    sent.length = 0;
    const same = { eventId: event.id, body: '{"type":"user.offboarded"}' };
    await sender.send(copy);
    await sender.send(await sender.createEvent(copy));
    expect(sent).toEqual([same, same]);
    expect(createEvent(copy)).toMatchObject({ id: event.id, body: event.body });
    expect(() => createEvent(copy, { eventId: "3f0c6f4e-5d2b-4a8c-9b1e-7d6a5c4b3a29" })).toThrow(
      refusal("EVENT_ID_REUSED"),
    );
    const { eventId, body } = await signRequest({ url, signer, event: copy as typeof event });
    expect({ eventId, body: textOf({ body }) }).toEqual(same);
    expect(await stored(copy)).toBe(event.id);
  });

  it("is not changed with the bytes that it was made from", () => {
    for (const body of [bytes("[1]"), Buffer.from("[1]")]) {
      const made = [createEvent(body), createEvent({ id: event.id, body })];
      body.fill(0);
      expect(made.map(textOf)).toEqual(["[1]", "[1]"]);
    }
  });

  it.each<[what: string, copy: unknown]>([
    ["its bytes by their places", JSON.parse(JSON.stringify(event))],
    ["a Buffer", JSON.parse(JSON.stringify({ id: event.id, body: Buffer.from("{}") }))],
  ])("is refused after it went through JSON: %s", async (_, copy) => {
    expect(() => createEvent(copy)).toThrow(/went through JSON/);
    await expect(sender.send(copy)).rejects.toEqual(refusal("PAYLOAD_NOT_JSON"));
    await expect(stored(copy)).rejects.toEqual(refusal("PAYLOAD_NOT_JSON"));
    const sign = signRequest({ url, signer, event: copy as typeof event });
    await expect(sign).rejects.toEqual(refusal("PAYLOAD_NOT_JSON"));
  });

  it.each<[what: string, copy: { id: string; body: Uint8Array }, code: string]>([
    ["no JSON", { id: event.id, body: bytes("{") }, "PAYLOAD_NOT_JSON"],
    ["no UTF-8", { id: event.id, body: Uint8Array.of(34, 255, 34) }, "PAYLOAD_NOT_UTF8"],
    ["too much", { id: event.id, body: bytes(`"${"x".repeat(65_536)}"`) }, "PAYLOAD_TOO_LARGE"],
  ])("is checked again as a copy: %s", async (_, copy, code) => {
    expect(() => createEvent(copy)).toThrow(refusal(code));
    await expect(signRequest({ url, signer, event: copy })).rejects.toEqual(refusal(code));
  });

  it.each<[what: string, payload: object]>([
    ["an id of another form", { id: "u_123", body: { text: "hello" } }],
    ["a body that is text", { id: event.id, body: "hello" }],
    ["a body that is an object", { id: event.id, body: { text: "hello" } }],
    ["an empty body", { id: event.id, body: {} }],
    ["a body that is a list of numbers that are no bytes", { id: event.id, body: [256] }],
    ["more members", { id: event.id, body: { 0: 1 }, type: "x" }],
  ])("is a payload like any other: %s", (_, payload) => {
    expect(JSON.parse(textOf(createEvent(payload)))).toEqual(payload);
  });

  it.each([undefined, null, "x", 5, {}, { type: "x" }])("%j is none to sign", async (event) => {
    await expect(signRequest({ url, signer, event: event as never })).rejects.toThrow(TypeError);
  });
});

function thrownBy(work: () => unknown): Error {
  try {
    work();
  } catch (error) {
    return error as Error;
  }
  throw new Error("nothing was thrown");
}

function cycle(): object {
  const value: { self?: object } = {};
  value.self = value;
  return value;
}

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let i = 0; i < levels; i++) value = [value];
  return value;
}
