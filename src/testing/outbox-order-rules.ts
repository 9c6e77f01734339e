import { expectSame } from "./contract-case.js";
import {
  event,
  failed,
  LEASE_MS,
  LISTENER,
  OTHER_LISTENER,
  rule,
  texts,
  WINDOW_MS,
} from "./outbox-contract-subject.js";

const keyed = (text: string, orderingKey = "k") => event(text, { orderingKey });

/** The order among events of one ordering key. */
export const orderRules = [
  rule("events of one key are handed out one at a time, others beside them", async (bench) => {
    const { store, take, complete, put } = bench;
    await store.enqueue([keyed("k1"), keyed("k2"), keyed("k3"), keyed("j1", "j"), event("free")]);
    await put(event("elsewhere", { listener: OTHER_LISTENER, orderingKey: "k" }));
    const first = await take(100, [LISTENER, OTHER_LISTENER]);
    expectSame("claimed at first", texts(first).sort(), ["elsewhere", "free", "j1", "k1"]);
    for (const { event: one, lease } of first) if (one.orderingKey === "k") await complete(lease);
    const second = await take();
    expectSame("claimed then", texts(second), ["k2"]);
    for (const { lease } of second) await complete(lease);
    expectSame("claimed last", texts(await take()), ["k3"]);
  }),
  rule("a key waits for an event that is to be tried again", async (bench) => {
    const { put, takeOne, take, complete, store, subject } = bench;
    await put(keyed("1"), keyed("2"));
    const { lease, now } = await takeOne();
    await store.reschedule(lease, now + 100_000, failed(1));
    await subject.passTime(50_000);
    expectSame("claimed meanwhile", (await take()).length, 0);
    await subject.passTime(60_000);
    const again = await takeOne();
    expectSame("claimed then", texts([again]), ["1"]);
    await complete(again.lease);
    expectSame("claimed afterwards", texts(await take()), ["2"]);
  }),
  rule("a key waits for an event whose worker crashed, and for one that was released", async (bench) => {
    const { put, take, takeOne, store, subject } = bench;
    await put(keyed("1"), keyed("2"));
    await takeOne();
    await subject.passTime(LEASE_MS + 10_000);
    const again = await takeOne();
    expectSame("taken over", texts([again]), ["1"]);
    await store.release([again.lease]);
    expectSame("after the release", texts(await take()), ["1"]);
  }),
  rule("a dead letter lets its key go on", async ({ put, kill, take }) => {
    await put(keyed("1"), keyed("2"));
    await kill({ blocksKey: false });
    expectSame("claimed", texts(await take()), ["2"]);
  }),
  rule(
    "a dead letter redriven to its place waits for one in flight, and goes before it after a crash",
    async (bench) => {
      const { put, kill, take, takeOne, complete, store, subject } = bench;
      await put(keyed("1"), keyed("2"));
      await kill({ blocksKey: false });
      await takeOne();
      await store.redrive({}, { place: "kept", windowMs: WINDOW_MS });
      expectSame("claimed meanwhile", (await take()).length, 0);
      await subject.passTime(LEASE_MS + 10_000);
      const first = await takeOne();
      expectSame("claimed then", texts([first]), ["1"]);
      await complete(first.lease);
      expectSame("claimed afterwards", texts(await take()), ["2"]);
    },
  ),
  rule("a dead letter that blocks its key does so until it is redriven and delivered", async (bench) => {
    const { put, kill, take, takeOne, complete, store } = bench;
    await put(keyed("1"), keyed("2"), keyed("other", "j"));
    await kill({ blocksKey: true });
    expectSame("claimed", texts(await take()), ["other"]);
    await put(keyed("3"));
    expectSame("claimed of those that came later", (await take()).length, 0);
    await store.redrive({}, { place: "kept", windowMs: WINDOW_MS });
    const first = await takeOne();
    expectSame("redriven", texts([first]), ["1"]);
    await complete(first.lease);
    const second = await takeOne();
    await complete(second.lease);
    expectSame("claimed then", texts([second, ...(await take())]), ["2", "3"]);
  }),
  rule("a redriven event joins at the end of its key, or keeps its place", async (bench) => {
    const { put, kill, takeOne, complete, store } = bench;
    const order = async () => {
      const seen: string[] = [];
      for (let left = 3; left > 0; left--) {
        const one = await takeOne();
        seen.push(...texts([one]));
        await complete(one.lease);
      }
      return seen;
    };
    for (const [place, wanted] of [
      ["end", ["2", "3", "1"]],
      ["kept", ["1", "2", "3"]],
    ] as const) {
      await put(keyed("1"), keyed("2"), keyed("3"));
      await kill();
      await store.redrive({}, { place, windowMs: WINDOW_MS });
      expectSame(`the order, place ${place}`, await order(), wanted);
    }
  }),
  rule("a redriven event that keeps its place holds back the later ones while it waits", async (bench) => {
    const { put, kill, take, takeOne, store } = bench;
    await put(keyed("1"), keyed("2"));
    await kill();
    await store.redrive({}, { place: "kept", windowMs: WINDOW_MS });
    const first = await takeOne();
    expectSame("claimed", texts([first]), ["1"]);
    await store.reschedule(first.lease, first.now + 100_000, failed(2));
    expectSame("claimed meanwhile", (await take()).length, 0);
  }),
  rule("a redriven event that keeps its place waits for a later one that is under way", async (bench) => {
    const { put, kill, take, takeOne, complete, store } = bench;
    await put(keyed("1"), keyed("2"), keyed("3"));
    await kill();
    const later = await takeOne();
    await store.redrive({}, { place: "kept", windowMs: WINDOW_MS });
    expectSame("claimed meanwhile", (await take()).length, 0);
    await complete(later.lease);
    expectSame("claimed then", texts(await take()), ["1"]);
  }),
];
