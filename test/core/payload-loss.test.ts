import { Readable } from "node:stream";
import { runInNewContext } from "node:vm";
import { createEvent, createSender, HookproofError, hmacSigner, sendToListeners } from "hookproof";
import { openSqlite } from "hookproof/node";
import { createOutbox, memoryStore } from "hookproof/outbox";
import { sqliteStore } from "hookproof/outbox/sqlite";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { fileOfEachTest } from "../outbox/sqlite/files.js";

const utf8 = (text: string) => new TextEncoder().encode(text);
const written = (payload: unknown) => new TextDecoder().decode(createEvent(payload).body);

it("a text that is cut within a character is named by its place, as a member and as a name", () => {
  const half = "🤨".slice(0, 1);
  expect(refused({ user: { tags: ["a", half] } })).toMatch(
    /^payload\.user\.tags\[1\] is text that is cut within/,
  );
  expect(refused({ [half]: 1 })).toMatch(/^payload\["\?"\] is text that is cut within/);
  expect(written({ m: "🤨" })).toBe('{"m":"🤨"}');
});

/** The message of a refusal. */
function refused(payload: unknown): string {
  try {
    createEvent(payload);
  } catch (error) {
    if (error instanceof HookproofError && error.code === "PAYLOAD_NOT_JSON") return error.message;
    throw error;
  }
  return "taken";
}

class Hidden {
  readonly #balance = 7;
  spend(): number {
    return this.#balance;
  }
}
class WithGetter {
  readonly id = 1;
  readonly #balance = 7;
  get balance(): number {
    return this.#balance;
  }
}
class Entity {
  constructor(
    readonly id: number,
    readonly name: string | undefined,
  ) {}
}
class Money {
  toJSON(): string {
    return "7.00";
  }
}

/** What peers and applications hand in, and the kind by which it is refused. */
const LOST: readonly (readonly [kind: string, make: () => unknown])[] = [
  ["a Promise", () => Promise.resolve({ id: 1 })],
  [
    "a Promise",
    () =>
      new (class Query {
        // biome-ignore lint/suspicious/noThenProperty: query builders have one
        then() {}
      })(),
  ],
  ["a Map", () => new Map([["a", 1]])],
  ["a Map", () => new Proxy(new Map(), {})],
  ["a Map", () => runInNewContext("new Map")],
  ["a Set", () => new Set([1])],
  ["a WeakMap", () => new WeakMap()],
  ["a WeakSet", () => new WeakSet()],
  ["a WeakRef", () => new WeakRef({})],
  ["a Blob", () => new Blob(["x"])],
  ["a FormData", () => new FormData()],
  ["a URLSearchParams", () => new URLSearchParams("a=1")],
  ["a Headers", () => new Headers({ a: "1" })],
  ["a ReadableStream", () => new ReadableStream()],
  ["a Request", () => new Request("http://127.0.0.1/")],
  ["a Response", () => new Response("{}")],
  ["an AbortSignal", () => new AbortController().signal],
  ["a Readable", () => Readable.from(["{}"])],
  ["an Error", () => Object.assign(new TypeError("x"), { code: "E" })],
  ["a RegExp", () => /x/g],
  ["a Hidden", () => new Hidden()],
  ["a WithGetter", () => new WithGetter()],
  ["a String", () => Object("text")],
  ["a Number", () => Object(Number.NaN)],
  ["a Boolean", () => Object(true)],
  ["an Array Iterator", () => [1].values()],
  ["a Map Iterator", () => new Map().entries()],
  ["a Generator", () => (function* () {})()],
  ["an Intl.NumberFormat", () => new Intl.NumberFormat()],
  ["a function", () => () => 1],
  ["a symbol", () => Symbol("s")],
  ["a BigInt", () => 2n ** 64n],
  ["NaN", () => Number.NaN],
  ["Infinity", () => Number.POSITIVE_INFINITY],
  ["-Infinity", () => Number.NEGATIVE_INFINITY],
  ["an invalid Date", () => new Date(Number.NaN)],
  ["an Object, of which JSON sees nothing", () => Math],
  ["an Object, of which JSON sees nothing", () => JSON],
  ["an Object, of which JSON sees nothing", () => Intl],
  ["an Object, of which JSON sees nothing", () => Atomics],
  ["an Object, of which JSON sees nothing", () => Reflect],
  ["an Object, of which JSON sees nothing", () => runInNewContext("Math")],
  ["an Object, of which JSON sees nothing", () => ({ [Symbol.toStringTag]: "Money" })],
  ["an Object, of which JSON sees nothing", () => ({ [Symbol("id")]: 1 })],
  ["an Object, of which JSON sees nothing", () => Object.defineProperty({}, "id", { value: 1 })],
  [
    "an Object, whose Symbol\\(id\\) JSON leaves out",
    () => ({ a: 1, [Symbol("id")]: 2, [Symbol.for("nodejs.util.inspect.custom")]: () => "" }),
  ],
  [
    "an Entity, whose Symbol\\(id\\) JSON leaves out",
    () => Object.assign(new Entity(1, "a"), { [Symbol("id")]: {} }),
  ],
  ["an Array, whose id JSON leaves out", () => Object.assign([], { id: 1 })],
  ["an Array, whose b JSON leaves out", () => Object.assign([1], { b: 2 })],
  ["an Array, whose total JSON leaves out", () => Object.assign(Array(20).fill(1), { total: 20 })],
  ["an Array, whose index JSON leaves out", () => /b/.exec("abc")],
  ["an Array, whose 4294967295 JSON leaves out", () => Object.assign([1], { 4294967295: 2 })],
  ["an Array, whose 1.5 JSON leaves out", () => Object.assign([1, 2], { "1.5": 2 })],
  ["an Array, whose b JSON leaves out", () => runInNewContext("Object.assign([1], { b: 2 })")],
  ["an Array, whose b JSON leaves out", () => new Proxy(Object.assign([1], { b: 2 }), {})],
  ["a Page, whose total JSON leaves out", () => Page.of(1)],
  ["an object with a class, whose role JSON leaves out", () => Object.create(DEFAULTS)],
  [
    "an object with a class, whose role JSON leaves out",
    () => Object.assign(Object.create(DEFAULTS), { a: 1 }),
  ],
  ["a Date from a toJSON", () => ({ toJSON: () => new Date(0) })],
  ["a URL from a toJSON", () => ({ toJSON: () => new URL("http://a.example/") })],
  ["a Money from a toJSON", () => ({ toJSON: () => new Money() })],
  ["an Arguments", () => argumentsOf(1, 2)],
  ["an invalid Date", () => runInNewContext("new Date(NaN)")],
  ["an invalid Date", () => ({ isValid: () => false, toJSON: () => null })],
  ["an invalid Date", () => ({ isValid: false, toJSON: () => null })],
];

/** A list of a class that hides a member. */
class Page extends Array {
  get total(): number {
    return 7;
  }
}
const DEFAULTS: object = Object.assign(Object.create(null), { role: "admin" });
function argumentsOf(..._given: unknown[]): unknown {
  // biome-ignore lint/complexity/noArguments: that is the case
  return arguments;
}
/** Rows as postgres.js gives them: what they say of the query is not enumerable. */
function rowsOf(...rows: unknown[]): unknown {
  class Result extends Array {}
  return Object.defineProperty(Result.from(rows), "command", { value: "SELECT" });
}

/** What is empty to JSON and in truth, or by convention. */
const EMPTY: readonly (readonly [what: string, make: () => unknown, text: string])[] = [
  ["an object", () => ({}), "{}"],
  ["an object without a class", () => Object.create(null), "{}"],
  ["a list", () => [], "[]"],
  ["a list of a class", () => new (class Rows extends Array {})(), "[]"],
  ["a list whose names are not enumerable", () => rowsOf(), "[]"],
  ["a list with a symbol", () => Object.assign([], { [Symbol("id")]: 1 }), "[]"],
  ["members that are undefined", () => ({ a: undefined }), "{}"],
  ["a member that its toJSON leaves out", () => ({ a: { toJSON() {} } }), "{}"],
  ["an object that is frozen", () => Object.freeze({}), "{}"],
];

/** Bytes are a payload by themselves and nothing inside of one. */
const BYTES: readonly (readonly [kind: string, make: (bytes: Uint8Array<ArrayBuffer>) => unknown])[] = [
  ["a Uint8Array", (bytes) => bytes],
  ["a Buffer", (bytes) => Buffer.from(bytes)],
  ["a DataView", ({ buffer }) => new DataView(buffer)],
  ["an Int16Array", ({ buffer }) => new Int16Array(buffer)],
  ["an ArrayBuffer", ({ buffer }) => buffer],
  [
    "a SharedArrayBuffer",
    (bytes) => {
      const shared = new SharedArrayBuffer(bytes.length);
      new Uint8Array(shared).set(bytes);
      return shared;
    },
  ],
  ["an ArrayBuffer", () => runInNewContext("Uint8Array.of(123, 34, 97, 34, 58, 49, 49, 125).buffer")],
];

describe("what JSON would empty or change", () => {
  it.each(LOST)("is refused by its kind, at the top and inside: %s", (kind, make) => {
    expect(refused(make())).toMatch(new RegExp(`^The payload is ${kind}\\b`));
    expect(refused({ user: { tags: [1, null, make()] } })).toMatch(
      new RegExp(`^payload\\.user\\.tags\\[2\\] is ${kind}\\b`),
    );
    expect(refused({ toJSON: () => ({ "a b": make() }) })).toMatch(
      new RegExp(`^payload\\["a b"\\] is ${kind}\\b`),
    );
  });

  it.each(EMPTY)("is not %s", (_, make, text) => {
    expect(written(make())).toBe(text);
    expect(written({ a: [make()] })).toBe(`{"a":[${text}]}`);
  });

  it("says what to do about a Promise, also of an async toJSON", () => {
    expect(refused({ user: Promise.resolve() })).toBe("payload.user is a Promise: await it.");
    expect(refused({ async toJSON() {} })).toBe("The payload is a Promise: await it.");
  });

  it("names a list's undefined and holes, which JSON would make null", () => {
    expect(refused({ a: [1, undefined] })).toMatch(/^payload\.a\[1\] is undefined,/);
    // biome-ignore lint/suspicious/noSparseArray: that is the case
    expect(refused([1, , 2])).toMatch(/^payload\[1\] is undefined,/);
    expect(refused({ a: [{ toJSON() {} }] })).toMatch(
      /^payload\.a\[0\] is an object whose toJSON\(\) gives nothing,/,
    );
  });

  it.each(BYTES)("bytes of JSON are a payload, and refused inside of one: %s", (kind, make) => {
    const bytes = utf8('{"a":11}');
    expect(written(make(bytes))).toBe('{"a":11}');
    expect(refused({ file: make(bytes) })).toMatch(new RegExp(`^payload\\.file is ${kind}: .*base64`));
  });

  it("gives the bytes of a view alone, and a copy of them", () => {
    const bytes = utf8('xx{"a":1}yy');
    const event = createEvent(new DataView(bytes.buffer, 2, 7));
    bytes.fill(0);
    expect(new TextDecoder().decode(event.body)).toBe('{"a":1}');
  });

  it.each<[what: string, of: (buffer: ArrayBuffer) => unknown]>([
    ["a buffer", (buffer) => buffer],
    ["a view", (buffer) => new Uint8Array(buffer)],
  ])("names %s whose bytes were transferred", (_, of) => {
    const buffer = new TextEncoder().encode("{}").buffer;
    const payload = of(buffer);
    structuredClone(buffer, { transfer: [buffer] });
    expect(() => createEvent(payload)).toThrow(
      expect.objectContaining({ code: "PAYLOAD_NOT_JSON", message: expect.stringContaining("transferred") }),
    );
  });

  it("ends on cycles and on depth, with the place or the reason", () => {
    const cycle: { a?: unknown } = {};
    cycle.a = { b: [cycle] };
    expect(refused(cycle)).toBe("payload.a.b[0] is an object that it lies in itself: JSON has no cycles.");
    let deep: unknown = Promise.resolve();
    for (let level = 0; level < 100_000; level++) deep = { deep };
    expect(refused(deep)).toMatch(/nested too deeply/);
  });

  it("shows names short and without what steers a terminal", () => {
    const message = refused({ [`\u001b[2J\u202e${"n".repeat(500)}`]: { "€": Number.NaN } });
    expect(message).toMatch(/^payload\["[ -~…]{1,41}"\]\["\?"\] is NaN/);
  });

  it("says of a failing member that it fails, and not what it threw", () => {
    const payload = {
      get a() {
        throw new Error("hunter2");
      },
    };
    expect(refused(payload)).toMatch(/fails/);
    expect(refused(payload)).not.toMatch(/hunter2/);
  });

  it.each(["id", "body", "type", "toJSON", "then", "a"])(
    "a member %s that throws is refused",
    async (name) => {
      const fails = () => {
        throw new Error("hunter2");
      };
      const { proxy, revoke } = Proxy.revocable({}, {});
      revoke();
      const typed = createSender({
        url: "http://127.0.0.1:9/api/v1/webhooks/incoming/lst_1",
        signer: hmacSigner({ secret: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8" }),
        events: { note: z.object({ type: z.literal("note") }) },
      });
      for (const payload of [
        proxy,
        [proxy],
        Object.defineProperty({}, name, { get: fails, enumerable: true }),
        Object.defineProperty(new Entity(1, "a"), name, { get: fails, enumerable: true }),
      ]) {
        expect(refused(payload)).toMatch(/fails/);
        await expect((async () => typed.send(payload as never))()).rejects.toMatchObject({
          code: "PAYLOAD_NOT_JSON",
          message: expect.not.stringContaining("hunter2"),
        });
      }
    },
  );
});

function ownToJson(give: (value: object) => unknown): object {
  return {
    a: 1,
    toJSON() {
      return give(this);
    },
  };
}

describe("what JSON writes by convention", () => {
  it.each<[what: string, payload: () => unknown, body: string]>([
    ["a Date", () => ({ at: new Date(0) }), '{"at":"1970-01-01T00:00:00.000Z"}'],
    ["a Date of another realm", () => runInNewContext("[new Date(0)]"), '["1970-01-01T00:00:00.000Z"]'],
    ["a URL", () => [new URL("http://a.example/")], '["http://a.example/"]'],
    ["a toJSON", () => ({ price: new Money() }), '{"price":"7.00"}'],
    ["a toJSON of its own that gives all the rest", () => ownToJson((it) => ({ ...it })), '{"a":1}'],
    ["a toJSON of its own that gives itself", () => ownToJson((it) => it), '{"a":1}'],
    ["a toJSON whose text is empty", () => [{ isValid: () => true, toJSON: () => null }], "[null]"],
    ["a list whose names are not enumerable", () => rowsOf({ id: 1 }), '[{"id":1}]'],
    ["a list with a symbol", () => Object.assign([1], { [Symbol("id")]: 2 }), "[1]"],
    ["a list with a name that is undefined", () => Object.assign([1], { b: undefined }), "[1]"],
    [
      "what an object says of itself under symbols",
      () =>
        Object.defineProperty({ a: 1, [Symbol("show")]: () => "", [Symbol("no")]: undefined }, Symbol("b"), {
          value: 1,
        }),
      '{"a":1}',
    ],
    [
      "letters that look like a half",
      () => ({ "\\ud800": "\\ud83e\\ud" }),
      '{"\\\\ud800":"\\\\ud83e\\\\ud"}',
    ],
    ["a whole character next to them", () => ["\\ud83e🤨"], '["\\\\ud83e🤨"]'],
    ["members that are undefined", () => ({ a: undefined, b: 1 }), '{"b":1}'],
    ["an instance whose members are its own", () => new Entity(1, undefined), '{"id":1}'],
    ["empty objects and lists", () => ({ a: {}, b: [] }), '{"a":{},"b":[]}'],
    ["no prototype", () => Object.assign(Object.create(null), { a: 1 }), '{"a":1}'],
    ["a Proxy of an object", () => new Proxy({ a: [1] }, {}), '{"a":[1]}'],
    ["another realm", () => runInNewContext("({ a: [{ b: null }] })"), '{"a":[{"b":null}]}'],
    ["one object twice", () => twice({ a: 1 }), '[{"a":1},{"a":1}]'],
    ["1,000 levels", () => levels(1_000), `${"[".repeat(1_000)}1${"]".repeat(1_000)}`],
  ])("stays: %s", (_, payload, body) => {
    expect(written(payload())).toBe(body);
  });
});

describe("every door refuses it before anything is stored or sent", () => {
  const place = fileOfEachTest();
  const url = "http://127.0.0.1:9/api/v1/webhooks/incoming/lst_1";
  const signer = hmacSigner({ secret: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8" });
  const listeners = { a: { url, signer } };
  const transport = () => Promise.reject(new Error("nothing is sent"));
  const events = { note: z.object({ type: z.literal("note"), more: z.any() }) };
  const lost = (typed: boolean) => (typed ? { type: "note", more: new Map() } : { more: new Map() }) as never;
  const sender = (catalogue?: typeof events) =>
    createSender({ url, signer, transport, ...(catalogue ? { events: catalogue } : {}) });
  const outbox = (store = memoryStore(), catalogue?: typeof events) =>
    createOutbox({ store, listeners, ...(catalogue ? { events: catalogue } : {}) } as never);

  async function first(results: AsyncIterable<{ ok: boolean; error?: unknown }>) {
    for await (const result of results) if (!result.ok) throw result.error;
  }

  it.each<[door: string, enter: () => unknown]>([
    ["send", () => sender().send(lost(false))],
    ["trySend", async () => first(one(await sender().trySend(lost(false))))],
    ["sendMany", () => first(sender().sendMany([lost(false)]))],
    [
      "sendToListeners",
      () =>
        first(
          sendToListeners([{ listener: "a", payload: lost(false) }], {
            listeners: () => ({ url, signer, transport }),
          }),
        ),
    ],
    ["createEvent of a sender", () => sender().createEvent(lost(false))],
    ["send with a catalogue", () => sender(events).send(lost(true) as never)],
    ["enqueue in memory", () => outbox().enqueue({ listener: "a", payload: lost(false) } as never)],
    ["prepare", () => outbox().prepare({ listener: "a", payload: lost(false) } as never)],
    ["enqueue for several", () => outbox().enqueue({ listeners: ["a"], payload: lost(false) } as never)],
    [
      "enqueue with a catalogue",
      () => outbox(memoryStore(), events).enqueue({ listener: "a", payload: lost(true) } as never),
    ],
    [
      "enqueue in SQLite",
      async () =>
        outbox(sqliteStore({ open: () => openSqlite(place.file) }) as never).enqueue({
          listener: "a",
          payload: lost(false),
        } as never),
    ],
  ])("%s", async (_, enter) => {
    await expect((async () => enter())()).rejects.toMatchObject({
      code: "PAYLOAD_NOT_JSON",
      message: expect.stringContaining("payload.more is a Map"),
    });
  });

  it.each([
    '{"type":"note","more":1152921506151679042}',
    '{"type":"note","more":1,"more":2}',
    '{"type":"note","more":1e999}',
  ])("a catalogue, which writes a text again, changes nothing of it: %s", async (text) => {
    await expect(sender(events).send(text as never)).rejects.toMatchObject({ code: "PAYLOAD_NOT_JSON" });
    expect(written(text)).toBe(text);
  });

  it.each(["0", "-0.0", "1.50", "12e3", "0.1", "9007199254740991", "1e21", "5e-324"])(
    "a catalogue takes a text with %s, which JavaScript holds",
    async (number) => {
      const event = await sender(events).createEvent(`{"type":"note","more":${number}}` as never);
      expect(JSON.parse(new TextDecoder().decode(event.body)).more).toEqual(Number(number) || 0);
    },
  );

  it("a Promise in the place of a typed event is refused as one", async () => {
    await expect(sender(events).send(Promise.resolve({ type: "note" }) as never)).rejects.toThrow(
      /is a Promise: await it/,
    );
  });
});

async function* one<Item>(item: Item): AsyncGenerator<Item> {
  yield item;
}

function twice(value: object): unknown {
  return [value, value];
}

function levels(count: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < count; level++) value = [value];
  return value;
}
