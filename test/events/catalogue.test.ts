import { createEvent, createSender, HookproofError, hmacSigner, newEventId } from "hookproof";
import { openSqlite } from "hookproof/node";
import { createOutbox, memoryStore } from "hookproof/outbox";
import { sqliteStore } from "hookproof/outbox/sqlite";
import { afterEach, describe, expect, it, vi } from "vitest";
import * as z from "zod";
import { type ReceiverServer, receiverServer, SECRET } from "../kit/receiver-server.js";
import { fileOfEachTest } from "../outbox/sqlite/files.js";

const place = fileOfEachTest();
const signer = hmacSigner({ secret: SECRET });
const NOWHERE = "http://127.0.0.1:9/api/v1/webhooks/incoming/lst_1";

const events = {
  "user.offboarded": z.object({
    type: z.literal("user.offboarded"),
    userId: z.string().min(3),
    reason: z.string().default("left"),
    at: z.coerce.date().optional(),
  }),
  "user.hired": z.object({ type: z.literal("user.hired"), roles: z.array(z.object({ name: z.string() })) }),
};

const open: ReceiverServer[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.stop();
});

/** A listener that keeps the bodies it was sent. */
async function keepingReceiver() {
  const bodies: string[] = [];
  const server = await receiverServer({
    async intercept(request, response, receive) {
      const chunks: string[] = [];
      request.on("data", (chunk) => chunks.push(String(chunk)));
      request.on("end", () => bodies.push(chunks.join("")));
      await receive(request, response);
    },
  });
  open.push(server);
  return { bodies, url: server.url };
}

const listeners = { a: { url: NOWHERE, signer } };
const outboxOf = (catalogue: object) =>
  createOutbox({ store: memoryStore(), listeners, events: catalogue as never });
const senderOf = (catalogue: object) => createSender({ url: NOWHERE, signer, events: catalogue as never });

/** The error of a payload, which the sender and the outbox have to give alike, before anything is sent or stored. */
async function refusal(catalogue: object, payload: unknown): Promise<HookproofError> {
  const outbox = outboxOf(catalogue);
  const ways = [
    async () => outbox.enqueue({ listener: "a", payload } as never),
    async () => outbox.enqueue({ listeners: ["a"], payload } as never),
    () => outbox.prepare({ listener: "a", payload } as never),
    () => senderOf(catalogue).send(payload as never),
    () => senderOf(catalogue).createEvent(payload as never),
  ];
  const errors = await Promise.all(
    ways.map((way) =>
      way().then(
        () => undefined,
        (error: unknown) => error,
      ),
    ),
  );
  const [error] = errors;
  if (!(error instanceof HookproofError)) throw new Error(`not refused: ${String(error)}`);
  for (const other of errors) expect(other).toMatchObject({ code: error.code, message: error.message });
  expect(await outbox.stats()).toMatchObject([{ pending: 0 }]);
  return error;
}

/** A schema that answers what it is told to. */
const answering = (validate: (value: unknown) => unknown) => ({
  "~standard": { version: 1, vendor: "test", validate },
});

describe("what a schema gives is what is sent", () => {
  it("by a sender, with its defaults and without what it strips", async () => {
    const { bodies, url } = await keepingReceiver();
    const sender = createSender({ url, signer, events });
    await sender.send({ type: "user.offboarded", userId: "u_1", at: "2026-01-01" });
    const event = await sender.createEvent({ type: "user.offboarded", userId: "u_2" });
    await sender.send(event);
    await sender.trySend({ type: "user.hired", roles: [] });
    for await (const result of sender.sendMany([{ type: "user.hired", roles: [{ name: "r" }] }]))
      expect(result.ok).toBe(true);
    await sender.send({ type: "user.hired", roles: [], secret: 1 } as never);
    expect(bodies).toEqual([
      '{"type":"user.offboarded","userId":"u_1","reason":"left","at":"2026-01-01T00:00:00.000Z"}',
      '{"type":"user.offboarded","userId":"u_2","reason":"left"}',
      '{"type":"user.hired","roles":[]}',
      '{"type":"user.hired","roles":[{"name":"r"}]}',
      '{"type":"user.hired","roles":[]}',
    ]);
  });

  it("by an outbox, to each listener; a text and bytes are checked by what they hold", async () => {
    const { bodies, url } = await keepingReceiver();
    const outbox = createOutbox({ store: memoryStore(), listeners: { a: { url, signer } }, events });
    const text = '{"userId":"u_3","type":"user.offboarded"}';
    await outbox.enqueue({ listener: "a", payload: { type: "user.offboarded", userId: "u_1" } });
    await outbox.enqueue(await outbox.prepare({ listener: "a", payload: { type: "user.hired", roles: [] } }));
    await outbox.enqueue({ listener: "a", payload: text as never });
    await outbox.enqueue({ listener: "a", payload: new TextEncoder().encode(text) as never });
    await outbox.drain();
    expect(bodies.sort()).toEqual([
      '{"type":"user.hired","roles":[]}',
      '{"type":"user.offboarded","userId":"u_1","reason":"left"}',
      '{"type":"user.offboarded","userId":"u_3","reason":"left"}',
      '{"type":"user.offboarded","userId":"u_3","reason":"left"}',
    ]);
  });

  it("and an event that is fixed is not changed: it was checked by this catalogue, or is refused", async () => {
    const payload = { type: "user.hired" as const, roles: [] };
    const eventId = newEventId();
    const event = await senderOf(events).createEvent(payload as never, { eventId });
    expect(event.id).toBe(eventId);
    expect(await outboxOf(events).enqueue({ listener: "a", payload: event as never })).toMatchObject({
      eventId,
    });
    for (const other of [event, createEvent(payload), { ...event }])
      expect((await refusal({ ...events }, other)).message).toBe(
        "The event was made without this catalogue: make it with sender.createEvent, or pass its payload.",
      );
    expect((await refusal(events, { ...event })).code).toBe("EVENT_INVALID"); // nobody knows that a copy was checked
  });
});

it("trySend gives the refusal as a value", async () => {
  const result = await senderOf(events).trySend({ type: "user.offboarded", userId: 5 } as never);
  expect(result).toMatchObject({ ok: false, code: "EVENT_INVALID", attempts: [] });
});

describe("a payload that does not fit is refused with the path of its mistake", () => {
  const secret = "correct-horse-battery";

  it.each<[payload: unknown, message: string]>([
    [{ type: "user.offboarded", userId: 5 }, "userId: expected string"],
    [{ type: "user.offboarded" }, "userId: expected string"],
    [{ type: "user.offboarded", userId: "u" }, "userId: Too small: expected string to have >=3 characters"],
    [{ type: "user.hired", roles: [{ name: "x" }, { name: 7 }] }, "roles[1].name: expected string"],
    [
      { type: "user.hired", roles: [1, 2, 3, 4, 5] },
      "roles[0]: expected object; roles[1]: expected object; roles[2]: expected object; and 2 more",
    ],
  ])("%j", async (payload, words) => {
    const { code, message, cause } = await refusal(events, payload);
    const type = JSON.stringify((payload as { type: string }).type);
    expect([code, cause]).toEqual(["EVENT_INVALID", undefined]);
    expect(message).toBe(`The payload of ${type} does not fit its schema: ${words}.`);
  });

  it.each<[payload: unknown, message: string]>([
    [
      { type: "user.fired" },
      'type: the catalogue has no "user.fired"; it has "user.offboarded", "user.hired".',
    ],
    [
      { type: "__proto__" },
      'type: the catalogue has no "__proto__"; it has "user.offboarded", "user.hired".',
    ],
    [{ type: 7 }, "type: expected the name of an event."],
    [{}, "type: expected the name of an event."],
    [null, "type: expected the name of an event."],
    ["[]", "type: expected the name of an event."],
    [undefined, "type: expected the name of an event."],
  ])("its type: %j", async (payload, message) => {
    expect(await refusal(events, payload)).toMatchObject({ code: "EVENT_INVALID", message });
  });

  it.each([
    [10, '"t8", "t9".'],
    [12, '"t8", "t9" and 2 more.'],
  ])("of %i types it names ten", async (count, end) => {
    const catalogue = Object.fromEntries(
      Array.from({ length: count }, (_, n) => [`t${n}`, answering(() => ({}))]),
    );
    const { message } = await refusal(catalogue, { type: "none" });
    expect(message.slice(-end.length)).toBe(end);
  });

  it.each<[code: string, payload: unknown]>([
    ["PAYLOAD_NOT_JSON", "{not json"],
    ["PAYLOAD_NOT_UTF8", Uint8Array.of(0x22, 0xff, 0x22)],
    ["PAYLOAD_TOO_LARGE", { type: "user.offboarded", userId: "x".repeat(70_000) }],
  ])("%s is as it was", async (code, payload) => {
    expect((await refusal(events, payload)).code).toBe(code);
  });

  it.each<[what: string, issue: object, words: string]>([
    ["a message that quotes the value", { message: `Received "${secret}"`, path: ["a"] }, "a: is not valid"],
    ["the beginning of it", { message: `was ${secret.slice(0, 14)}…`, path: ["a"] }, "a: is not valid"],
    ["a short value within a word", { message: "must be below 420", path: ["b"] }, "b: must be below 420"],
    ["a short value as a word", { message: "must not be 42", path: ["b"] }, "b: is not valid"],
    [
      "what is expected, ahead of it",
      { message: `not ${secret}`, expected: "a word" },
      "payload: expected a word",
    ],
    [
      "a member that valibot misses",
      { message: "?", expected: '"b"', path: [{ key: "b" }] },
      "b: is missing",
    ],
    ["a message that quotes nothing", { message: "must be a user", path: ["b"] }, "b: must be a user"],
    ["a message too long to be searched", { message: "x".repeat(2_000) }, "payload: is not valid"],
    [
      "no message",
      { path: ["a", 0, Symbol("s"), "b c", "\u0000"] },
      'a[0]["Symbol(s)"]["b c"]["?"]: is not valid',
    ],
    ["lines", { message: "one\ntwo\u2028three", path: [] }, "payload: one?two?three"],
    [
      "much of everything",
      { message: "m".repeat(900), path: Array.from({ length: 50 }, () => "p".repeat(99)) },
      `${Array.from({ length: 8 }, () => `${"p".repeat(39)}…`).join(".")}…: ${"m".repeat(99)}…`,
    ],
    [
      "as much as is shown in whole",
      { message: "m".repeat(100), path: Array(8).fill("p") },
      `p.p.p.p.p.p.p.p: ${"m".repeat(100)}`,
    ],
    ["the longest message that is searched", { message: "m".repeat(1000) }, `payload: ${"m".repeat(99)}…`],
    ["an empty message", { message: "", path: ["b"] }, "b: is not valid"],
    ["nothing expected", { message: "must be a user", expected: "" }, "payload: must be a user"],
    ["a path that begins with an index", { message: "no", path: [0, "b"] }, "[0].b: no"],
    ["segments that are no keys", { expected: "a word", path: [null, 1n] }, 'null["1"]: expected a word'],
  ])("%s", async (_, issue, words) => {
    const catalogue = { x: answering(() => ({ issues: [issue] })) };
    const payload = { type: "x", a: secret, b: 42, deep: [{ secret }] };
    const { message } = await refusal(catalogue, payload);
    expect(message).toBe(`The payload of "x" does not fit its schema: ${words}.`);
    expect(message.length).toBeLessThan(1_500);
  });

  it.each<[what: string, value: unknown, message: string, isShown: boolean]>([
    ["a short word inside another", "ab", "not on cabs", true],
    ["a word of four letters inside another", "open", "was reopened", false],
    ["a short text that is no word", "a-b", "not a-b!", false],
    ["a text with quotes", 'say "hi" to all', 'was say "hi" to all', false],
    ["a text with quotes, as JSON", 'say "hi" to all', 'was "say \\"hi\\" to all"', false],
    ["an empty text", "", "must be a user", true],
    ["a number beyond the safe ones", 123456n, "was 123456", false],
    ["true, which is no secret", true, "must not be true", true],
    ["null", null, "must not be null", true],
  ])("whether it quotes %s", async (_, value, words, isShown) => {
    const catalogue = { x: answering(() => ({ issues: [{ message: words }] })) };
    const { message } = await refusal(catalogue, { type: "x", value });
    expect(message).toBe(
      `The payload of "x" does not fit its schema: payload: ${isShown ? words : "is not valid"}.`,
    );
  });

  it("however many values it has, and if it holds itself", async () => {
    const catalogue = { x: answering(() => ({ issues: [{ message: "no such user" }] })) };
    const cyclic: Record<string, unknown> = { type: "x" };
    cyclic.self = [cyclic];
    for (const payload of [cyclic, { type: "x", many: Array.from({ length: 20_000 }, () => 1) }])
      expect((await refusal(catalogue, payload)).message).toMatch(/payload: is not valid\.$/);
  });
});

describe("a schema that fails lets nothing through", () => {
  const SECRET_VALUE = "correct-horse-battery";
  const failing = (): never => {
    throw new Error(`cannot check ${SECRET_VALUE}`);
  };
  const noAnswer = 'The schema of "x" answered with neither a value nor issues.';
  const threw = 'The schema of "x" threw an error.';
  const noType = 'The schema of "x" drops or changes type: name it in the schema, as a literal.';

  it.each<[what: string, validate: (value: unknown) => unknown, message: string]>([
    ["throws", failing, threw],
    ["rejects", async () => failing(), threw],
    ["has a then that throws", () => new Proxy({}, { get: failing }), threw],
    ["answers nothing", () => undefined, noAnswer],
    ["answers null later", async () => null, noAnswer],
    ["answers a text", () => "yes", noAnswer],
    ["answers true", () => true, noAnswer],
    ["answers an empty object", () => ({}), noAnswer],
    ["has no issue among its issues", (value) => ({ issues: [], value }), noAnswer],
    ["has issues that are no list", (value) => ({ issues: true, value }), noAnswer],
    ["has null for issues", (value) => ({ issues: null, value }), noAnswer],
    [
      "has an issue that throws",
      () => ({
        issues: [
          {
            get message() {
              return failing();
            },
          },
        ],
      }),
      noAnswer,
    ],
    ["gives nothing", () => ({ value: undefined }), noType],
    ["gives a text", () => ({ value: "{}" }), noType],
    ["drops the type", () => ({ value: { n: 1 } }), noType],
    ["changes the type", async () => ({ value: { type: "y" } }), noType],
  ])("%s", async (_, validate, message) => {
    const error = await refusal({ x: answering(validate) }, { type: "x", secret: SECRET_VALUE });
    expect(error).toMatchObject({ code: "EVENT_INVALID", message });
    expect(error.cause).toBeUndefined();
  });

  it("gives what is no JSON", async () => {
    const catalogue = { x: answering(() => ({ value: { type: "x", n: 1n } })) };
    expect((await refusal(catalogue, { type: "x" })).code).toBe("PAYLOAD_NOT_JSON");
  });

  it.each<[what: string, events: unknown, message: string]>([
    ["nothing", {}, "events must hold"],
    ["null", null, "events must hold"],
    ["a text", "events", "events must hold"],
    ["no schema", { x: { type: "object" } }, 'events["x"] must be'],
    ["null for a schema", { x: null }, 'events["x"] must be'],
    [
      "another version",
      { x: { "~standard": { version: 2, vendor: "v", validate: () => ({}) } } },
      'events["x"] must be',
    ],
    ["no validate", { x: { "~standard": { version: 1, vendor: "v" } } }, 'events["x"] must be'],
  ])("a catalogue of %s is refused when it is given", (_, catalogue, message) => {
    for (const made of [senderOf, outboxOf]) {
      expect(() => made(catalogue as object)).toThrow(TypeError);
      expect(() => made(catalogue as object)).toThrow(message);
    }
  });
});

describe("inside a transaction of SQLite", () => {
  const later = { x: answering(async (value) => ({ value })), "user.hired": events["user.hired"] };
  function outboxInSqlite(catalogue: object) {
    const opened = () => openSqlite(place.file);
    const store = sqliteStore({ open: opened });
    const db = opened();
    place.opened.push(store, db);
    db.exec("PRAGMA synchronous = FULL");
    const outbox = createOutbox({ store, listeners, events: catalogue as never });
    const stored = () =>
      (db.prepare("SELECT count(*) AS n FROM hookproof_outbox").all() as { n: number }[])[0]?.n;
    return { db, outbox, stored };
  }
  const hired = { listener: "a", payload: { type: "user.hired", roles: [] } } as never;

  it("a synchronous schema checks and stores before enqueue returns, and throws in the caller's stack", () => {
    const { db, outbox, stored } = outboxInSqlite(events);
    db.exec("BEGIN IMMEDIATE");
    void outbox.enqueue(hired, { tx: db });
    expect(stored()).toBe(1);
    expect(() =>
      outbox.enqueue([hired, { listener: "a", payload: { type: "no" } } as never], { tx: db }),
    ).toThrow(expect.objectContaining({ code: "EVENT_INVALID" }));
    db.exec("COMMIT");
    expect(stored()).toBe(1);
  });

  it("an asynchronous schema is refused at once; prepare takes the time before", async () => {
    const { db, outbox, stored } = outboxInSqlite(later);
    const slow = { listener: "a", payload: { type: "x" } } as never;
    const prepared = await outbox.prepare(slow);
    db.exec("BEGIN IMMEDIATE");
    expect(() => outbox.enqueue([hired, slow], { tx: db })).toThrow(
      /prepare\(\) events before the transaction/,
    );
    expect(stored()).toBe(0);
    void outbox.enqueue(prepared, { tx: db });
    db.exec("COMMIT");
    await outbox.enqueue([slow, hired]);
    expect(stored()).toBe(3);
  });

  it("an asynchronous refusal next to one at once is nobody's unhandled rejection", async () => {
    const rejecting = { x: answering(async () => ({ issues: [{ message: "no" }] })) };
    const outbox = outboxOf(rejecting);
    const slow = { listener: "a", payload: { type: "x" } } as never;
    expect(() => outbox.enqueue([slow, { listener: "a", payload: {} } as never])).toThrow(HookproofError);
    await expect(outbox.enqueue([slow, slow])).rejects.toMatchObject({ code: "EVENT_INVALID" });
  });
});

it("types: what a schema refuses does not compile", () => {
  const sender = createSender({ url: NOWHERE, signer, events });
  const outbox = createOutbox({ store: memoryStore(), listeners, events });
  const unchecked = createSender<{ ping: { n: number } }>({ url: NOWHERE, signer });
  const untyped = createSender({ url: NOWHERE, signer });
  const calls = [
    () => sender.send({ type: "user.offboarded", userId: "u_1" }),
    () => unchecked.send({ type: "ping", n: 1 }),
    () => untyped.send(["anything"]),
    // @ts-expect-error the schema wants a text
    () => sender.send({ type: "user.offboarded", userId: 1 }),
    // @ts-expect-error a member is missing
    () => sender.trySend({ type: "user.hired" }),
    // @ts-expect-error no such event
    () => sender.createEvent({ type: "user.fired" }),
    // @ts-expect-error one of them has no such member
    () => sender.sendMany([{ type: "user.hired", roles: [], userId: "u_1" }]),
    // @ts-expect-error without type
    () => outbox.enqueue({ listener: "a", payload: { userId: "u_1" } }),
    // @ts-expect-error the schema wants a list
    () => outbox.enqueue([{ listeners: ["a"], payload: { type: "user.hired", roles: 1 } }]),
    // @ts-expect-error the schema wants names
    () => outbox.prepare({ listener: "a", payload: { type: "user.hired", roles: [{ name: 1 }] } }),
    // @ts-expect-error as the type parameter says
    () => unchecked.send({ type: "ping", n: "1" }),
    // @ts-expect-error a schema that leaves out type
    () => createSender({ url: NOWHERE, signer, events: { ping: z.object({ n: z.number() }) } }),
  ];
  expect(calls).toHaveLength(12);
});

describe("a schema that never answers", () => {
  const never = { "user.offboarded": answering(() => new Promise(() => {})) };
  const payload = { type: "user.offboarded" } as never;

  it("ends by the signal", async () => {
    const stop = new AbortController();
    const sending = senderOf(never).send(payload, { signal: stop.signal });
    const trying = senderOf(never).trySend(payload, { signal: stop.signal });
    const many = (async () => {
      for await (const _ of senderOf(never).sendMany([payload], { signal: stop.signal }));
    })();
    stop.abort();
    await expect(sending).rejects.toMatchObject({ code: "ABORTED" });
    expect(await trying).toMatchObject({ ok: false, code: "ABORTED" });
    await many;
    await expect(senderOf(never).send(payload, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: "ABORTED",
    });
  });

  it("ends after ten seconds, wherever it is asked", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const outbox = outboxOf(never);
      const calls = [
        outbox.enqueue({ listener: "a", payload } as never),
        outbox.prepare({ listener: "a", payload } as never),
        senderOf(never).send(payload),
        senderOf(never).createEvent(payload),
      ].map((call) => call.catch((error: unknown) => error));
      await vi.advanceTimersByTimeAsync(9_999);
      expect(vi.getTimerCount()).toBe(calls.length);
      await vi.advanceTimersByTimeAsync(1);
      for (const call of calls)
        expect(await call).toMatchObject({
          code: "TIMED_OUT",
          message: 'The schema of "user.offboarded" gave no answer within 10000 ms.',
        });
    } finally {
      vi.useRealTimers();
    }
  });
});
