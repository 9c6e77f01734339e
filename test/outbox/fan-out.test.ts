import { newEventId } from "hookproof";
import { openSqlite } from "hookproof/node";
import { aesGcmEncryption, createOutbox, type FanOutMessage, memoryStore } from "hookproof/outbox";
import { sqliteStore } from "hookproof/outbox/sqlite";
import type { OutboxEvent, OutboxStore } from "hookproof/outbox/store";
import { fixedClock } from "hookproof/testing";
import { describe, expect, it } from "vitest";
import { outboxBench } from "./bench-outbox.js";
import { fileOfEachTest } from "./sqlite/files.js";

const place = fileOfEachTest();
const bench = outboxBench();
const to = (name: string) => bench.listener({ url: `http://127.0.0.1:9/api/v1/webhooks/incoming/${name}` });
const listeners = { a: to("lst_1"), b: to("lst_2"), c: to("lst_3") };

/** An outbox that shows what it hands to the store. */
function watchedOutbox(options: object = {}) {
  const calls: OutboxEvent[][] = [];
  const memory = memoryStore() as OutboxStore<string>;
  const store: OutboxStore<string> = { ...memory, enqueue: (events) => void calls.push([...events]) };
  return { calls, outbox: createOutbox({ store, listeners, ...options }) };
}

describe("an event for several listeners", () => {
  it("arrives at each of them, under one id and with the same bytes", async () => {
    const arrived: string[] = [];
    const receiver = (name: string) =>
      bench.receiver({
        async intercept(request, response, receive) {
          const chunks: string[] = [];
          request.on("data", (chunk) => chunks.push(String(chunk)));
          request.on("end", () =>
            arrived.push(`${name} ${request.headers["webhook-event-id"]} ${chunks.join("")}`),
          );
          await receive(request, response);
        },
      });
    const [first, second] = [await receiver("first"), await receiver("second")];
    const outbox = bench.outbox({ a: bench.listener(first), b: bench.listener(second) });
    const receipts = await outbox.enqueue({ listeners: ["b", "a"], payload: { userId: "u_123" } });
    const [eventId] = receipts.map((receipt) => receipt.eventId);
    expect(receipts).toEqual([
      { listener: "b", eventId },
      { listener: "a", eventId },
    ]);
    await outbox.drain();
    expect(arrived.sort()).toEqual([
      `first ${eventId} {"userId":"u_123"}`,
      `second ${eventId} {"userId":"u_123"}`,
    ]);
    const entries = await outbox.find(eventId ?? "");
    expect(entries.map(({ listener, state }) => [listener, state]).sort()).toEqual([
      ["a", "delivered"],
      ["b", "delivered"],
    ]);
  });

  it("is one call to the store, with what was said for all of them", async () => {
    const { outbox, calls } = watchedOutbox();
    const eventId = newEventId();
    const traceparent = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
    await outbox.enqueue({ listeners: ["a", "b"], payload: [1], eventId, orderingKey: "k", traceparent });
    const shared = { id: eventId, body: new TextEncoder().encode("[1]"), orderingKey: "k", traceparent };
    expect(calls).toMatchObject([
      [
        { listener: "a", ...shared },
        { listener: "b", ...shared },
      ],
    ]);
  });

  it("stands among others, with its receipts in the place of the message", async () => {
    const { outbox } = watchedOutbox();
    const message = { payload: {}, eventId: newEventId() };
    const receipts = await outbox.enqueue([
      { listener: "c", payload: {} },
      { listeners: ["b", "a"], ...message },
      await outbox.prepare({ listener: "c", payload: {} }),
    ]);
    expect(receipts.map(({ listener }) => listener)).toEqual(["c", "b", "a", "c"]);
    expect(receipts.slice(1, 3).map(({ eventId }) => eventId)).toEqual([message.eventId, message.eventId]);
  });

  it("is stored in the caller's transaction for all of them, or for none", () => {
    const open = () => openSqlite(place.file);
    const store = sqliteStore({ open });
    const db = open();
    place.opened.push(store, db);
    db.exec("PRAGMA synchronous = FULL");
    const outbox = createOutbox({ store, listeners });
    const count = () =>
      db.prepare("SELECT count(*) AS n, count(DISTINCT id) AS ids FROM hookproof_outbox").all();
    for (const end of ["ROLLBACK", "COMMIT"]) {
      db.exec("BEGIN IMMEDIATE");
      void outbox.enqueue({ listeners: ["a", "b", "c"], payload: {} }, { tx: db });
      db.exec(end);
      expect(count()).toEqual([end === "COMMIT" ? { n: 3, ids: 1 } : { n: 0, ids: 0 }]);
    }
  });

  it("is enqueued once, however often it is under its id, and can get a listener more", async () => {
    const store = memoryStore();
    const outbox = createOutbox({ store, listeners });
    const message = { payload: {}, eventId: newEventId() };
    await outbox.enqueue({ ...message, listeners: ["a", "b"] });
    await outbox.enqueue({ ...message, listeners: ["b", "c"] });
    expect((await outbox.find(message.eventId)).map(({ listener }) => listener)).toEqual(["a", "b", "c"]);
  });

  it("has one body in the file, until none of them needs it", async () => {
    const clock = fixedClock("2026-01-01T00:00:00Z");
    const db = openSqlite(place.file);
    place.opened.push(db);
    const store = sqliteStore({ open: () => openSqlite(place.file), clock });
    place.opened.push(store);
    const answerAtOnce = async () => ({ status: 200, headers: [], body: new Uint8Array(), truncated: false });
    const many = Object.fromEntries(
      Array.from({ length: 500 }, (_, n) => [`tenant ${n}`, { ...to("lst_1"), transport: answerAtOnce }]),
    );
    const outbox = createOutbox({ store, listeners: many, retention: { deliveredMs: 0 } });
    await outbox.enqueue({ listeners: Object.keys(many), payload: { text: "x".repeat(50_000) } });
    const bytes = () =>
      ["bodies", "shared"].map((table) => {
        const [row] = db
          .prepare(`SELECT coalesce(sum(length(body)), 0) AS n FROM hookproof_outbox_${table}`)
          .all();
        return (row as { n: number }).n;
      });
    expect(bytes()).toEqual([0, 50_011]);
    await outbox.drain();
    expect((await store.stats())[0]).toMatchObject({ pending: 0, dead: 0 });
    clock.advance(60_001);
    await store.prune({ delivered: 0, dead: 0 });
    expect(bytes()).toEqual([0, 0]);
  });

  it("with encryption has a body of its own for each, bound to the listener", async () => {
    const encryption = aesGcmEncryption([{ id: "k1", key: new Uint8Array(32).fill(7) }]);
    const { outbox, calls } = watchedOutbox({ encryption });
    const prepared = await outbox.prepare({ listeners: ["a", "b"], payload: { note: "confidential" } });
    expect(prepared.map(({ listener }) => listener)).toEqual(["a", "b"]);
    await outbox.enqueue(prepared);
    const [[first, second] = []] = calls;
    if (!first || !second) throw new Error("nothing was stored");
    expect(first.id).toBe(second.id);
    expect(first.digest).toBe(second.digest);
    const context = { eventId: first.id, keyId: "k1" };
    const text = async (body: Uint8Array, listener: string) =>
      new TextDecoder().decode(await encryption.decrypt(body, { listener, ...context }));
    expect(await text(first.body, "a")).toBe('{"note":"confidential"}');
    expect(await text(second.body, "b")).toBe('{"note":"confidential"}');
    await expect(text(first.body, "b")).rejects.toMatchObject({ code: "OUTBOX_BODY_UNREADABLE" });
  });
});

describe("listeners that cannot be are refused before anything is stored", () => {
  const names = Array.from({ length: 1_001 }, (_, place) => `listener ${place}`);

  it.each<[what: string, message: Record<string, unknown>, error: object]>([
    ["none", { listeners: [] }, { name: "TypeError", message: /one at least/ }],
    ["a name twice", { listeners: ["a", "b", "a"] }, { name: "TypeError", message: /each listener once/ }],
    ["both ways", { listener: "a", listeners: ["b"] }, { name: "TypeError", message: /and not both/ }],
    ["a text", { listeners: "ab" }, { name: "TypeError", message: /an array/ }],
    ["null", { listeners: null }, { name: "TypeError", message: /an array/ }],
    ["no text among them", { listeners: ["a", 7] }, { name: "TypeError", message: /a listener's name/ }],
    ["one that is unknown", { listeners: ["a", "z"] }, { code: "LISTENER_NAME_UNKNOWN", message: /"z"/ }],
    ["too many", { listeners: names }, { name: "RangeError", message: /1000 names; it holds 1001/ }],
  ])("%s", async (_, message, error) => {
    const { outbox, calls } = watchedOutbox();
    const wanted = Object.fromEntries(
      Object.entries(error).map(([name, value]) => [
        name,
        value instanceof RegExp ? expect.stringMatching(value) : value,
      ]),
    );
    const given = { payload: {}, ...message } as unknown as FanOutMessage;
    const enqueue = async () => outbox.enqueue([{ listener: "a" as never, payload: {} }, given as never]);
    await expect(enqueue()).rejects.toMatchObject(wanted);
    await expect(outbox.prepare(given as never)).rejects.toMatchObject(wanted);
    expect(() => outbox.enqueue(given as never)).toThrow(); // at once, so that a transaction rolls back
    expect(calls).toEqual([]);
  });

  it("1,000 are not too many", async () => {
    const most = names.slice(1);
    const many = Object.fromEntries(most.map((name) => [name, listeners.a]));
    const { outbox, calls } = watchedOutbox({ listeners: many });
    expect(await outbox.enqueue({ listeners: most as never, payload: {} })).toHaveLength(1_000);
    expect(calls[0]?.map(({ listener }) => listener)).toEqual(most);
  });
});
