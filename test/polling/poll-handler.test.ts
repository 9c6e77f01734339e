import { aesGcmEncryption, createOutbox, type DeadLetter, memoryStore } from "hookproof/outbox";
import { sqliteStore } from "hookproof/outbox/sqlite";
import { CAEP, securityEvent } from "hookproof/set";
import { fixedClock } from "hookproof/testing";
import { decodeJwt } from "jose";
import { describe, expect, it, vi } from "vitest";
import { describeOn, fileOfEachTest, SQLITE_DRIVERS } from "../outbox/sqlite/files.js";
import { readVectors } from "../vectors/vector-file.js";
import { polled, polledOutbox, pollOf, signer } from "./polled.js";

const AT_ONCE = { returnImmediately: true };
const place = fileOfEachTest();

/** What every store owes a recipient that polls. */
function promises(open: (clock: ReturnType<typeof fixedClock>) => ReturnType<typeof memoryStore>) {
  it("an event is delivered when it is acknowledged, at whichever process, and not before", async () => {
    const clock = fixedClock("2026-01-01T00:00:00Z");
    const { put, handler, state, outbox } = polledOutbox({ clock, store: open(clock) });
    const elsewhere = polledOutbox({ clock, store: open(clock) }).handler();
    const [one = "", two = ""] = await put(2);
    const first = await polled(handler(), AT_ONCE);
    expect(Object.keys(first.sets)).toEqual([one, two]);
    expect(await polled(elsewhere, AT_ONCE)).toEqual({ sets: {} });
    expect(await state(one)).toBe("in-flight");
    expect(await polled(elsewhere, { ...AT_ONCE, ack: [one, one, "of nobody"] })).toEqual({ sets: {} });
    expect([await state(one), await state(two)]).toEqual(["delivered", "in-flight"]);

    clock.advance(60_001);
    expect(await state(two)).toBe("pending");
    const again = await polled(elsewhere, AT_ONCE);
    expect(Object.keys(again.sets)).toEqual([two]);
    const [before, after] = [first, again].map(({ sets }) => decodeJwt(sets[two] ?? ""));
    expect(after).toEqual(before);

    clock.advance(60_001);
    await polled(handler(), { ack: [two, one], maxEvents: 0, ...AT_ONCE });
    expect(await state(two)).toBe("delivered");
    expect((await outbox.find(two))[0]?.attempts).toMatchObject([{ number: 2, status: 200 }]);
    clock.advance(60_001);
    expect(await polled(handler(), AT_ONCE)).toEqual({ sets: {} });
  });

  it("what the recipient refuses is a dead letter with its words, and can be redriven", async () => {
    const clock = fixedClock("2026-01-01T00:00:00Z");
    const { put, handler, state, outbox } = polledOutbox({ clock, store: open(clock) });
    const [one = "", two = ""] = await put(2);
    await polled(handler(), AT_ONCE);
    const setErrs = { [one]: { err: "invalid_audience", description: "not for\u202eus" }, [two]: {} };
    await polled(handler(), { ...AT_ONCE, setErrs, ack: [one] });
    expect([await state(one), await state(two)]).toEqual(["dead", "dead"]);
    let letter: DeadLetter | undefined;
    for await (const dead of outbox.deadLetters({ ids: [one] })) letter = dead;
    expect(letter).toMatchObject({ reason: "refused", code: "REQUEST_REFUSED" });
    expect(letter?.attempts[0]?.answer).toMatch(/^invalid_audience: not for.+us$/);
    expect(letter?.attempts[0]?.answer).not.toContain("\u202e");
    expect(await outbox.redrive({ ids: [one] })).toMatchObject({ redriven: 1 });
    expect(Object.keys((await polled(handler(), AT_ONCE)).sets)).toEqual([one]);
  });

  it("no more is given than was asked for, and it says whether there is more", async () => {
    const clock = fixedClock("2026-01-01T00:00:00Z");
    const { put, handler } = polledOutbox({ clock, store: open(clock) });
    const ids = await put(3);
    expect(await polled(handler(), { ...AT_ONCE, maxEvents: 0 })).toEqual({ sets: {}, moreAvailable: true });
    const { sets, moreAvailable } = await polled(handler(), { ...AT_ONCE, maxEvents: 2 });
    expect([Object.keys(sets), moreAvailable]).toEqual([ids.slice(0, 2), true]);
    // Members of others are ignored, and an answer with all there is has sets alone: a published recipient sends these
    // two, and reads every member of the answer as an object.
    const rest = await polled(handler(), { ...AT_ONCE, stream_id: "stream-1", max_events: 1 });
    expect(rest).toEqual({ sets: { [String(ids[2])]: expect.any(String) } });
  });
}

describe("the memory store", () => {
  const stores = new WeakMap<object, ReturnType<typeof memoryStore>>();
  promises((clock) => {
    const known = stores.get(clock) ?? memoryStore({ clock });
    stores.set(clock, known);
    return known;
  });
});

for (const [driver, openFile] of Object.entries(SQLITE_DRIVERS))
  describeOn(driver)(`SQLite on ${driver}`, () => {
    promises((clock) => {
      const store = sqliteStore({ open: () => openFile(place.file), clock });
      place.opened.push(store);
      return store as never;
    });
  });

describe("a poll that waits", () => {
  it("is answered as soon as there is an event", async () => {
    const { put, handler } = polledOutbox();
    const answer = polled(handler(), {});
    const [id = ""] = await put(1);
    expect(Object.keys((await answer).sets)).toEqual([id]);
  });

  it("ends at its bound, and holds nothing after it", async () => {
    const { handler, clock, store } = polledOutbox();
    let listening = 0;
    const counted = {
      ...store,
      onWork(wake: () => void) {
        listening += 1;
        const stop = store.onWork?.(wake);
        return () => {
          listening -= 1;
          stop?.();
        };
      },
    };
    const waits: number[] = [];
    const wait = async (ms: number) => {
      expect(listening).toBe(1);
      waits.push(ms);
      clock.advance(ms);
    };
    expect(
      await polled(handler({ store: counted, waitMs: 2_500, wait }), { returnImmediately: false }),
    ).toEqual({ sets: {} });
    expect([waits, listening]).toEqual([[1_000, 1_000, 500], 0]);
  });

  it("takes nothing for a recipient that has gone", async () => {
    const { handler, put, state } = polledOutbox();
    const gone = new AbortController();
    const answer = handler()(pollOf({}, { signal: gone.signal }));
    gone.abort();
    const [id = ""] = await put(1);
    expect(await (await answer).json()).toEqual({ sets: {} });
    expect(await state(id)).toBe("pending");
  });
});

it("no worker delivers the events of a listener that polls", async () => {
  const { outbox, put, state, clock } = polledOutbox();
  const [id = ""] = await put(1);
  await outbox.drain();
  expect((await outbox.find(id))[0]).toMatchObject({ state: "pending", attempts: [] });
  clock.advance(7 * 24 * 3_600_000);
  expect(await state(id)).toBe("pending");
});

it("an event that can be no token is a dead letter, and holds up no other", async () => {
  const { outbox, handler, state } = polledOutbox();
  const wrong = await outbox.enqueue({ listener: "rp", payload: { type: "no token" } });
  const right = await outbox.enqueue({ listener: "rp", payload: securityEvent(CAEP.sessionRevoked, {}) });
  expect(Object.keys((await polled(handler(), AT_ONCE)).sets)).toEqual([right.eventId]);
  expect(await state(wrong.eventId)).toBe("dead");
});

it("where the key fails the answer is 503, and nothing is given out", async () => {
  const { put, handler, state } = polledOutbox();
  const [id = ""] = await put(1);
  const failing = { ...signer, sign: () => Promise.reject(new Error("no key")) };
  expect((await handler({ signer: failing })(pollOf(AT_ONCE))).status).toBe(503);
  expect(await state(id)).toBe("pending");
  expect(Object.keys((await polled(handler(), AT_ONCE)).sets)).toEqual([id]);
});

it("an event that gets no token holds up no other, however few are asked for, and says why", async () => {
  const { put, handler, outbox, clock } = polledOutbox();
  const [one = "", two = "", three = ""] = await put(3);
  clock.advance(1);
  const poison: typeof signer = {
    ...signer,
    sign: (unsigned) =>
      unsigned.eventId === one ? Promise.reject(new Error("no key")) : signer.sign(unsigned),
  };
  const poll = handler({ signer: poison });
  const asked = { ...AT_ONCE, maxEvents: 1 };
  expect((await poll(pollOf(asked))).status).toBe(503);
  expect(Object.keys((await polled(poll, asked)).sets)).toEqual([two]);
  expect(Object.keys((await polled(poll, AT_ONCE)).sets)).toEqual([three]);
  const [entry] = await outbox.find(one);
  expect(entry?.state).toBe("pending");
  expect(entry?.attempts.at(-1)).toMatchObject({ code: "SIGNER_FAILED" });
  expect(Object.keys((await polled(handler(), AT_ONCE)).sets)).toEqual([one]);
});

it("what a slow key cannot sign in time is given back, and the answer says that there is more", async () => {
  const { put, handler, clock } = polledOutbox();
  const ids = await put(4);
  const slow: typeof signer = {
    ...signer,
    sign: (unsigned) => {
      clock.advance(6_000);
      return signer.sign(unsigned);
    },
  };
  const first = await polled(handler({ signer: slow }), AT_ONCE);
  expect([Object.keys(first.sets), first.moreAvailable]).toEqual([ids.slice(0, 2), true]);
  expect(Object.keys((await polled(handler(), AT_ONCE)).sets)).toEqual(ids.slice(2));
});

it("a key that never answers holds nothing: neither when the recipient goes, nor for long", async () => {
  const { put, handler, state } = polledOutbox();
  const [id = ""] = await put(1);
  const gone = new AbortController();
  const asked = { before: () => {} };
  const hanging = {
    ...signer,
    sign: () => {
      asked.before();
      return new Promise<never>(() => {});
    },
  };
  asked.before = () => gone.abort();
  expect((await handler({ signer: hanging })(pollOf(AT_ONCE, { signal: gone.signal }))).status).toBe(503);
  expect(await state(id)).toBe("pending");

  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const begun = new Promise<void>((resolve) => {
      asked.before = resolve;
    });
    const answer = handler({ signer: hanging })(pollOf(AT_ONCE));
    await begun;
    await vi.advanceTimersByTimeAsync(10_000);
    expect((await answer).status).toBe(503);
  } finally {
    vi.useRealTimers();
  }
  expect(await state(id)).toBe("pending");
});

it("what was signed for a recipient that went meanwhile is given out again at once", async () => {
  const { put, handler } = polledOutbox();
  const [id = ""] = await put(1);
  const gone = new AbortController();
  const leaving: typeof signer = {
    ...signer,
    sign: async (unsigned) => {
      const proof = await signer.sign(unsigned);
      queueMicrotask(() => gone.abort());
      return proof;
    },
  };
  await handler({ signer: leaving })(pollOf(AT_ONCE, { signal: gone.signal }));
  expect(Object.keys((await polled(handler(), AT_ONCE)).sets)).toEqual([id]);
});

it("a body that never ends is not waited for", async () => {
  const { handler } = polledOutbox();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    let begin = () => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const body = new ReadableStream<Uint8Array>({ pull: () => begin() }, { highWaterMark: 0 });
    const answer = handler()(pollOf({}, { body, duplex: "half" } as RequestInit));
    await begun;
    await vi.advanceTimersByTimeAsync(10_000);
    expect((await answer).status).toBe(408);
  } finally {
    vi.useRealTimers();
  }
});

it("bodies that the outbox encrypts are given out in the open", async () => {
  const store = memoryStore();
  const encryption = aesGcmEncryption([{ id: "a", key: new Uint8Array(32) }]);
  const outbox = createOutbox({
    store,
    encryption,
    listeners: { rp: { url: "https://rp.example.com/", signer, polled: true } },
  });
  const { eventId: id } = await outbox.enqueue({
    listener: "rp",
    payload: securityEvent(CAEP.sessionRevoked, {}),
  });
  const { sets } = await polled(polledOutbox({ store }).handler({ encryption }), AT_ONCE);
  expect(decodeJwt(sets[id] ?? "")).toMatchObject({ jti: id, events: { [CAEP.sessionRevoked]: {} } });
});

it("strangers are given nothing, and wrong requests are named", async () => {
  const { handler, put, state } = polledOutbox();
  const [id = ""] = await put(1);
  const statuses = async (request: Request, options = {}) => (await handler(options)(request)).status;
  const headers = { "Content-Type": "application/json" };
  expect(await statuses(pollOf({}, { headers }))).toBe(401);
  const hanging = { authorize: () => Promise.reject(new Error("no directory")) };
  expect(await statuses(pollOf(AT_ONCE), hanging)).toBe(503);
  expect(
    await statuses(new Request("https://a.example/", { headers: { Authorization: "Bearer abc" } })),
  ).toBe(405);
  const wrong: [unknown, string][] = [
    ["", "the body must be a JSON object"],
    ["[]", "the body must be a JSON object"],
    [{ maxEvents: -1 }, "maxEvents must be a whole number, 0 or more"],
    [{ maxEvents: "1" }, "maxEvents must be a whole number, 0 or more"],
    [{ returnImmediately: 1 }, "returnImmediately must be true or false"],
    [{ ack: "a" }, "ack must be a list of texts"],
    [{ ack: [1] }, "ack must be a list of texts"],
    [{ setErrs: { a: "b" } }, "setErrs must be an object of objects"],
    [{ setErrs: [] }, "setErrs must be an object of objects"],
  ];
  for (const [body, words] of wrong) {
    const answer = await handler()(pollOf(body));
    expect([answer.status, await answer.text()]).toEqual([400, `${words}\n`]);
  }
  expect(await statuses(pollOf("a".repeat(65_537)))).toBe(413);
  const plain = { Authorization: "Bearer abc", "Content-Type": "text/plain" };
  expect(await statuses(pollOf({}, { headers: plain }))).toBe(415);
  expect(await state(id)).toBe("pending");
  expect(
    await statuses(pollOf({ ack: null, setErrs: null, maxEvents: null, returnImmediately: null, more: 1 })),
  ).toBe(200);
});

const rfc = readVectors<{ polls: { figure: number; body: unknown }[]; nothing: unknown }>("rfc_polling.json");

it.each(rfc.polls)("the poll of RFC 8936, figure $figure, is understood", async ({ body }) => {
  const { handler } = polledOutbox();
  expect(await polled(handler({ waitMs: 0 }), body)).toEqual(rfc.nothing);
});
