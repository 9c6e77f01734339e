import { type Activity, createEvent, HookproofError, hmacSigner, newEventId } from "hookproof";
import { aesGcmEncryption, createOutbox, memoryStore, OutcomeUnknownError } from "hookproof/outbox";
import type { OutboxEvent, OutboxStore } from "hookproof/outbox/store";
import { describe, expect, it, vi } from "vitest";
import { SECRET } from "../kit/receiver-server.js";

const listeners = {
  a: { url: "http://127.0.0.1:9/api/v1/webhooks/incoming/lst_1", signer: hmacSigner({ secret: SECRET }) },
};

/** A store that only takes events, and shows them. */
function takingStore(enqueue: OutboxStore<string>["enqueue"]): OutboxStore<string> {
  return { ...(memoryStore() as OutboxStore<string>), enqueue };
}

function thrownBy(work: () => unknown): HookproofError {
  try {
    work();
  } catch (error) {
    return error as HookproofError;
  }
  throw new Error("nothing was thrown");
}

const cyclic: Record<string, unknown> = {};
cyclic.self = cyclic;

describe("an event that would be refused is refused at enqueue, in the caller's stack", () => {
  it.each<[code: string, message: Record<string, unknown>]>([
    ["LISTENER_NAME_UNKNOWN", { listener: "b", payload: {} }],
    ["LISTENER_NAME_UNKNOWN", { listener: "__proto__", payload: {} }],
    ["PAYLOAD_NOT_JSON", { listener: "a", payload: undefined }],
    ["PAYLOAD_NOT_JSON", { listener: "a", payload: "{not json" }],
    ["PAYLOAD_NOT_JSON", { listener: "a", payload: cyclic }],
    ["PAYLOAD_NOT_JSON", { listener: "a", payload: { n: 1n } }],
    ["PAYLOAD_NOT_UTF8", { listener: "a", payload: Uint8Array.of(0x22, 0xff, 0x22) }],
    ["PAYLOAD_TOO_LARGE", { listener: "a", payload: "x".repeat(65_535).replace(/^|$/g, '"') }],
    ["EVENT_ID_INVALID", { listener: "a", payload: {}, eventId: "1" }],
    ["EVENT_ID_REUSED", { listener: "a", payload: createEvent({}), eventId: newEventId() }],
  ])("%s", (code, message) => {
    const outbox = createOutbox({ store: takingStore(() => expect.unreachable()), listeners });
    const theCaller = () => outbox.enqueue([{ listener: "a", payload: {} }, message as never]);
    const error = thrownBy(theCaller);
    expect(error).toMatchObject({ name: "HookproofError", code });
    expect(error.stack).toContain("theCaller");
  });

  it.each<[what: string, message: Record<string, unknown>]>([
    ["listener", { payload: {} }],
    ["orderingKey", { listener: "a", payload: {}, orderingKey: "" }],
    ["orderingKey", { listener: "a", payload: {}, orderingKey: "k".repeat(201) }],
    ["orderingKey", { listener: "a", payload: {}, orderingKey: "a\0b" }],
    ["orderingKey", { listener: "a", payload: {}, orderingKey: "\uD800" }],
    ["orderingKey", { listener: "a", payload: {}, orderingKey: 7 }],
    ["traceparent", { listener: "a", payload: {}, traceparent: "00-1-2-3" }],
  ])("%s, as a wrong call", (what, message) => {
    const outbox = createOutbox({ store: takingStore(() => expect.unreachable()), listeners });
    const error = thrownBy(() => outbox.enqueue(message as never));
    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toContain(what);
  });

  it("an id that is known with other bytes", () => {
    const outbox = createOutbox({ store: memoryStore(), listeners });
    const eventId = newEventId();
    void outbox.enqueue({ listener: "a", payload: { n: 1 }, eventId });
    void outbox.enqueue({ listener: "a", payload: { n: 1 }, eventId: eventId.toUpperCase() });
    const error = thrownBy(() => outbox.enqueue({ listener: "a", payload: { n: 2 }, eventId }));
    expect(error.code).toBe("EVENT_ID_REUSED");
  });
});

describe("with a synchronous store", () => {
  it("the insert is done when enqueue returns, in the caller's transaction", async () => {
    const calls: [readonly OutboxEvent[], string | undefined][] = [];
    const outbox = createOutbox({
      store: takingStore((events, tx) => void calls.push([events, tx])),
      listeners,
    });
    const promise = outbox.enqueue(
      { listener: "a", payload: { n: 1 }, orderingKey: "k" },
      { tx: "my transaction" },
    );
    expect(calls).toMatchObject([[[{ listener: "a", orderingKey: "k" }], "my transaction"]]);
    expect(await promise).toEqual({ listener: "a", eventId: calls[0]?.[0][0]?.id });
  });

  it("what the store throws is thrown, so that a synchronous transaction rolls back", () => {
    const full = new Error("database or disk is full");
    const outbox = createOutbox({
      store: takingStore(() => {
        throw full;
      }),
      listeners,
    });
    expect(thrownBy(() => outbox.enqueue({ listener: "a", payload: {} }))).toBe(full);
  });

  it("nothing at all is no call", async () => {
    const outbox = createOutbox({ store: takingStore(() => expect.unreachable()), listeners });
    expect(await outbox.enqueue([])).toEqual([]);
  });
});

it("with an asynchronous store a failure is a rejection", async () => {
  const lost = Object.assign(new Error("gone"), { code: "OUTBOX_UNAVAILABLE" });
  const outbox = createOutbox({ store: takingStore(() => Promise.reject(lost)), listeners });
  await expect(outbox.enqueue({ listener: "a", payload: {} })).rejects.toBe(lost);
});

describe("an enqueueing of which nobody knows whether it was stored", () => {
  const cut = new HookproofError("OUTBOX_OUTCOME_UNKNOWN", "The connection was cut.");

  it("is told as that, with the ids to repeat it under", async () => {
    const outbox = createOutbox({ store: takingStore(() => Promise.reject(cut)), listeners });
    const eventId = newEventId();
    const error = await outbox
      .enqueue([
        { listener: "a", payload: { n: 1 }, eventId },
        { listener: "a", payload: { n: 2 } },
      ])
      .catch((thrown) => thrown);
    expect(error).toBeInstanceOf(OutcomeUnknownError);
    expect(error).toBeInstanceOf(HookproofError);
    expect(error).toMatchObject({
      name: "OutcomeUnknownError",
      code: "OUTBOX_OUTCOME_UNKNOWN",
      eventId,
      events: [{ listener: "a", eventId }, { listener: "a" }],
      cause: cut,
    });
    const ids = error.events.map((one: { eventId: string }) => one.eventId).join(", ");
    expect(error.message).toBe(
      `The outbox's database did not say whether it was stored. Enqueue it again under its id, which stores it once: ${ids}.`,
    );
  });

  it("is so for a synchronous store as well, and stored once when it is repeated", async () => {
    const memory = memoryStore() as OutboxStore<string>;
    let isCut = true;
    const store: OutboxStore<string> = {
      ...memory,
      enqueue(events) {
        void memory.enqueue(events);
        if (isCut) throw cut;
      },
    };
    const outbox = createOutbox({ store, listeners });
    const message = { listener: "a", payload: { n: 1 } };
    const error = thrownBy(() => outbox.enqueue(message as never)) as OutcomeUnknownError;
    isCut = false;
    await outbox.enqueue({ ...message, eventId: error.eventId } as never);
    expect(await outbox.stats()).toMatchObject([{ pending: 1 }]);
  });

  it("and what was not stored is told as it is", async () => {
    const lost = new HookproofError("OUTBOX_UNAVAILABLE", "gone");
    const outbox = createOutbox({ store: takingStore(() => Promise.reject(lost)), listeners });
    await expect(outbox.enqueue({ listener: "a", payload: {} })).rejects.toBe(lost);
  });
});

describe("what an observer is told", () => {
  const observed = (enqueue: OutboxStore<string>["enqueue"], traceparent?: string) => {
    const told: Activity[] = [];
    const taken: OutboxEvent[] = [];
    const outbox = createOutbox({
      store: takingStore((events, tx) => {
        taken.push(...events);
        return enqueue(events, tx);
      }),
      listeners,
      observe(event) {
        told.push(event);
        if (event.type === "enqueue-started" && traceparent) event.headers.push(["traceparent", traceparent]);
      },
    });
    const ends = () => told.filter(({ type }) => type === "enqueue-ended");
    return { outbox, told, taken, ends };
  };
  const trace = (digit: string) => `00-${digit.repeat(32)}-${digit.repeat(16)}-01`;

  it.each([
    [
      "thrown",
      () => {
        throw new HookproofError("OUTBOX_UNAVAILABLE", "gone");
      },
      "OUTBOX_UNAVAILABLE",
    ],
    ["rejected", () => Promise.reject(new HookproofError("OUTBOX_NEWER", "newer")), "OUTBOX_NEWER"],
    ["of its own making", () => Promise.reject(new Error("?")), "OUTBOX_UNAVAILABLE"],
  ] as const)("a failure that is %s, with its code", async (_, enqueue, code) => {
    const { outbox, ends } = observed(enqueue);
    await Promise.resolve()
      .then(() => outbox.enqueue({ listener: "a", payload: {} }))
      .catch(() => {});
    expect(ends()).toMatchObject([{ listener: "a", code }]);
  });

  it("a success, once it is one, without a code", async () => {
    let stored = () => {};
    const later = observed(
      () =>
        new Promise<void>((resolve) => {
          stored = resolve;
        }),
    );
    const work = later.outbox.enqueue({ listener: "a", payload: {} });
    expect(later.told.map(({ type }) => type)).toEqual(["enqueue-started"]);
    stored();
    await work;
    expect(later.ends()).toHaveLength(1);
    expect(later.ends()[0]).not.toHaveProperty("code");
    const atOnce = observed(() => {});
    void atOnce.outbox.enqueue({ listener: "a", payload: {} });
    expect(atOnce.ends()).toHaveLength(1);
    expect(atOnce.ends()[0]).not.toHaveProperty("code");
  });

  it.each([
    ["its own trace", undefined, trace("b"), trace("b")],
    ["the caller's before it", trace("a"), trace("b"), trace("a")],
    ["none that is malformed", undefined, "00-not-a-trace", undefined],
    ["none at all", undefined, undefined, undefined],
  ])("and keeps with the event %s", async (_, given, pushed, kept) => {
    const { outbox, taken } = observed(() => {}, pushed);
    await outbox.enqueue({ listener: "a", payload: {}, ...(given ? { traceparent: given } : {}) });
    expect(taken).toMatchObject([{ traceparent: kept }]);
  });
});

it("a prepared event is of a listener that the outbox has", async () => {
  const signer = hmacSigner({ secret: SECRET });
  const other = { b: { url: "http://127.0.0.1:9/api/v1/webhooks/incoming/lst_2", signer } };
  const prepared = await createOutbox({ store: memoryStore(), listeners: other }).prepare({
    listener: "b",
    payload: {},
  });
  expect(Object.isFrozen(prepared)).toBe(true);
  const outbox = createOutbox({ store: memoryStore(), listeners });
  expect(thrownBy(() => outbox.enqueue(prepared)).code).toBe("LISTENER_NAME_UNKNOWN");
});

describe("what is no message", () => {
  const outbox = createOutbox({ store: memoryStore(), listeners });

  it("a copy of a prepared event is refused in words", async () => {
    const prepared = await outbox.prepare({ listener: "a", payload: {} });
    // @ts-expect-error a copy has no payload, and is no prepared event either
    const error = thrownBy(() => outbox.enqueue({ ...prepared }));
    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toMatch(/payload is missing.*prepare\(\)/);
    expect(await outbox.enqueue(prepared)).toEqual({ listener: "a", eventId: prepared.eventId });
  });

  it("so is the receipt of an enqueued event", async () => {
    const receipt = await outbox.enqueue({ listener: "a", payload: {} });
    // @ts-expect-error a receipt is no prepared event
    const error = thrownBy(() => outbox.enqueue(receipt));
    expect(error.message).toMatch(/payload is missing/);
  });
});

it.each(["", "a\0b", "\uD800"])("%j is no name for a listener", (name) => {
  expect(() => createOutbox({ store: memoryStore(), listeners: { [name]: listeners.a } })).toThrow(TypeError);
});

describe("with encryption", () => {
  const encryption = aesGcmEncryption([{ id: "k1", key: new Uint8Array(32).fill(7) }]);

  it("a prepared event is inserted synchronously, inside a transaction", async () => {
    const enqueue = vi.fn();
    const outbox = createOutbox({ store: takingStore(enqueue), listeners, encryption });
    const prepared = await outbox.prepare({ listener: "a", payload: { note: "confidential" } });
    expect(enqueue).not.toHaveBeenCalled();
    void outbox.enqueue(prepared, { tx: "my transaction" });
    const [[events, tx]] = enqueue.mock.calls as [[OutboxEvent[], string]];
    expect(tx).toBe("my transaction");
    expect(events).toMatchObject([{ id: prepared.eventId, encryptionKeyId: "k1" }]);
    expect(new TextDecoder().decode(events[0]?.body)).not.toContain("confidential");
  });

  it("an event that is not prepared cannot take part in one, as encryption takes time", () => {
    const outbox = createOutbox({
      store: takingStore(() => expect.unreachable()),
      listeners,
      encryption,
    });
    const error = thrownBy(() => outbox.enqueue({ listener: "a", payload: {} }, { tx: "t" }));
    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toContain("prepare()");
  });

  it("without a transaction it is prepared on the way", async () => {
    const enqueue = vi.fn();
    const outbox = createOutbox({ store: takingStore(enqueue), listeners, encryption });
    await outbox.enqueue({ listener: "a", payload: {} });
    expect(enqueue.mock.calls[0]?.[0]).toMatchObject([{ encryptionKeyId: "k1" }]);
  });
});

describe("options that cannot work are refused", () => {
  const [a] = Object.values(listeners);
  it.each<[what: string, options: Record<string, unknown>]>([
    ["store", { store: {} }],
    ...Object.entries(memoryStore()).flatMap(([name]): [string, Record<string, unknown>][] =>
      ["onWork", "leases", "alive", "workers"].includes(name)
        ? []
        : [[`no ${name}`, { store: { ...memoryStore(), [name]: undefined } }]],
    ),
    ["listeners", { listeners: {} }],
    ["no name", { listeners: { "": a } }],
    ["signer", { listeners: { a: { ...a, signer: undefined } } }],
    ["onDead", { listeners: { a: { ...a, onDead: "stop" } } }],
    ["leaseMs", { leaseMs: 14_999 }],
    ["leaseMs", { listeners: { a: { ...a, attemptTimeoutMs: 58_000 } } }],
    ["concurrency", { concurrency: 0 }],
    ["concurrency", { listeners: { a: { ...a, concurrency: 1.5 } } }],
    ["rate.perSecond", { listeners: { a: { ...a, rate: { perSecond: 0 } } } }],
    ["rate.burst", { listeners: { a: { ...a, rate: { perSecond: 5, burst: 0.5 } } } }],
    ["breaker.failureShare", { listeners: { a: { ...a, breaker: { failureShare: 2 } } } }],
    ["breaker.minAttempts", { listeners: { a: { ...a, breaker: { minAttempts: 0 } } } }],
    ["breaker.openMs", { listeners: { a: { ...a, breaker: { openMs: -1 } } } }],
    ["retry.windowMs", { listeners: { a: { ...a, retry: { windowMs: 8 * 86_400_000 } } } }],
    ["pollMs", { pollMs: 0 }],
    ["retention.deadMs", { retention: { deadMs: -1 } }],
  ])("%s", (what, options) => {
    const error = thrownBy(() => createOutbox({ store: memoryStore(), listeners, ...options } as never));
    expect(error.message).toContain(what);
    expect(error instanceof TypeError || error instanceof RangeError).toBe(true);
  });
});
