import { randomBytes } from "node:crypto";
import { createEvent } from "hookproof";
import { aesGcmEncryption, createOutbox, memoryStore, type OutboxOptions } from "hookproof/outbox";
import type { OutboxStore } from "hookproof/outbox/store";
import { describe, expect, it } from "vitest";
import { outboxBench, waitFor } from "./bench-outbox.js";

async function withDeadLetters(count: number, options: Partial<OutboxOptions<never>> = {}) {
  const bench = outboxBench();
  let refuses = true;
  const bodies: string[] = [];
  const server = await bench.receiver({
    async intercept(request, response, receive) {
      if (refuses) {
        request.resume();
        response.writeHead(413).end();
        return;
      }
      request.on("data", (chunk: Buffer) => bodies.push(chunk.toString()));
      await receive(request, response);
    },
  });
  const outbox = bench.outbox({ a: bench.listener(server, { onDead: "block" }) }, options);
  const messages = Array.from({ length: count }, (_, n) => ({
    listener: "a",
    payload: { n },
    orderingKey: `${n}`,
  }));
  const ids = (await outbox.enqueue(messages)).map(({ eventId }) => eventId);
  await outbox.drain();
  return {
    bench,
    server,
    outbox,
    ids,
    bodies,
    mend() {
      refuses = false;
    },
  };
}

const deadOf = async (outbox: { deadLetters(): AsyncIterable<{ event: { id: string } }> }) => {
  const ids: string[] = [];
  for await (const { event } of outbox.deadLetters()) ids.push(event.id);
  return ids;
};

describe("a dead letter that blocks its key", () => {
  it("can be dropped, and the next event of the key goes", async () => {
    const { outbox, ids, mend, server } = await withDeadLetters(2);
    mend();
    const next = await outbox.enqueue({ listener: "a", payload: { next: true }, orderingKey: "0" });
    await outbox.drain();
    expect(server.runs.size).toBe(0);
    expect(await outbox.drop({ ids: [ids[0] ?? ""] }, { dryRun: true })).toBe(1);
    expect(await outbox.drop({ ids: [ids[0] ?? ""] })).toBe(1);
    await outbox.drain();
    expect([...server.runs.keys()]).toEqual([next.eventId]);
    expect(await deadOf(outbox)).toEqual([ids[1]]);
    expect(await outbox.drop({}, { limit: 0 })).toBe(0);
    expect(await outbox.drop({})).toBe(1);
  });

  it("is dropped by nobody who has not said which", async () => {
    const { outbox } = await withDeadLetters(1);
    for (const filter of [undefined, null, "a"])
      await expect(outbox.drop(filter as never)).rejects.toThrow(TypeError);
    expect(await deadOf(outbox)).toHaveLength(1);
  });
});

describe("encrypted dead letters that get new ids", () => {
  const encryption = aesGcmEncryption([{ id: "k", key: new Uint8Array(randomBytes(32)) }]);

  it("are encrypted for these, and delivered", async () => {
    const { outbox, ids, mend, server, bodies } = await withDeadLetters(3, { encryption });
    mend();
    expect(await outbox.redrive({}, { newIds: true, dryRun: true })).toEqual({ redriven: 3, pastWindow: 0 });
    expect(await outbox.redrive({}, { newIds: true, limit: 2 })).toEqual({ redriven: 2, pastWindow: 0 });
    await outbox.drain();
    expect(bodies.sort()).toEqual(['{"n":0}', '{"n":1}']);
    expect([...server.runs.keys()].some((id) => ids.includes(id))).toBe(false);
    expect(await deadOf(outbox)).toEqual([ids[2]]);
    await expect(outbox.redrive({}, { newIds: true, place: "kept" })).rejects.toThrow(TypeError);
    expect(await outbox.redrive()).toEqual({ redriven: 1, pastWindow: 0 }); // under its own id nothing is in the way
    await outbox.drain();
    expect(server.runs.get(ids[2] ?? "")).toBe(1);
  });

  it("become no second event when whoever brings them back is interrupted", async () => {
    const { bench, outbox, mend, server } = await withDeadLetters(1, { encryption });
    mend();
    let isCut = true;
    const store: OutboxStore<never> = {
      ...bench.store,
      async drop(filter, options) {
        if (isCut) throw new Error("cut");
        return bench.store.drop(filter, options);
      },
    };
    const again = bench.outbox({ a: bench.listener(server) }, { encryption, store });
    await expect(again.redrive({}, { newIds: true })).rejects.toThrow("cut");
    isCut = false;
    expect(await again.redrive({}, { newIds: true })).toEqual({ redriven: 1, pastWindow: 0 });
    await outbox.drain();
    expect(server.runs.size).toBe(1);
    expect(await deadOf(outbox)).toEqual([]);
  });

  it("that were not encrypted get them as well", async () => {
    const { bench, mend, server, bodies } = await withDeadLetters(1);
    mend();
    const sealing = bench.outbox({ a: bench.listener(server) }, { encryption, allowUnencrypted: true });
    expect(await sealing.redrive({}, { newIds: true })).toEqual({ redriven: 1, pastWindow: 0 });
    await sealing.drain();
    expect(bodies).toEqual(['{"n":0}']);
  });
});

it("a body that somebody copies in the database under other ids is delivered under none", async () => {
  const bench = outboxBench();
  const server = await bench.receiver();
  const encryption = aesGcmEncryption([{ id: "k", key: new Uint8Array(randomBytes(32)) }]);
  const copying: OutboxStore<never> = {
    ...bench.store,
    enqueue(events) {
      const copies = events.map((event) => ({ ...event, id: createEvent({}).id }));
      return bench.store.enqueue([...events, ...copies]);
    },
  };
  const outbox = bench.outbox({ a: bench.listener(server) }, { encryption, store: copying });
  const { eventId } = await outbox.enqueue({ listener: "a", payload: { once: true } });
  await outbox.drain();
  expect([...server.runs.keys()]).toEqual([eventId]);
  expect(server.requests).toHaveLength(1);
  expect(await deadOf(outbox)).toHaveLength(1);
});

describe("an outbox", () => {
  it("finds an event by its id in capitals, and shows no age below nothing", async () => {
    const bench = outboxBench();
    const server = await bench.receiver();
    const store: OutboxStore<never> = { ...bench.store, now: async () => 0 };
    const outbox = bench.outbox({ a: bench.listener(server), b: bench.listener(server) }, { store });
    const { eventId } = await outbox.enqueue({ listener: "a", payload: {} });
    expect(await outbox.find(eventId.toUpperCase())).toHaveLength(1);
    const stats = await outbox.stats();
    expect(stats).toEqual([
      { listener: "a", pending: 1, inFlight: 0, delivered: 0, dead: 0, oldestAgeMs: 0, breaker: "closed" },
      { listener: "b", pending: 0, inFlight: 0, delivered: 0, dead: 0, oldestAgeMs: 0, breaker: "closed" },
    ]);
  });

  it("shows listeners that only other processes know, and how old what waits is", async () => {
    const bench = outboxBench();
    const server = await bench.receiver();
    await bench.outbox({ other: bench.listener(server) }).enqueue({ listener: "other", payload: {} });
    bench.clock.advance(5_000);
    const stats = await bench.outbox({ a: bench.listener(server) }).stats();
    expect(stats.find(({ listener }) => listener === "other")).toEqual({
      listener: "other",
      pending: 1,
      inFlight: 0,
      delivered: 0,
      dead: 0,
      oldestAgeMs: 5_000,
    });
  });

  it("redrives no more than its limit, over all listeners", async () => {
    const bench = outboxBench();
    const server = await bench.receiver({
      intercept(request, response) {
        request.resume();
        response.writeHead(413).end();
      },
    });
    const outbox = bench.outbox({ a: bench.listener(server), b: bench.listener(server) });
    await outbox.enqueue(["a", "b", "a", "b"].map((listener, n) => ({ listener, payload: { n } })));
    await outbox.drain();
    expect(await outbox.redrive({}, { limit: 3 })).toEqual({ redriven: 3, pastWindow: 0 });
    expect(await outbox.redrive({ listener: "nobody" })).toEqual({ redriven: 0, pastWindow: 0 });
  });

  it.each<[what: string, options: object]>([
    ["store", { store: {} }],
    ["store", { store: undefined }],
    ["listeners", { listeners: {} }],
    ["listeners", { listeners: undefined }],
    ["concurrency", { concurrency: 0 }],
    ["concurrency", { concurrency: 1.5 }],
    ["pollMs", { pollMs: 0 }],
    ["pollMs", { pollMs: Number.NaN }],
    ["leaseMs", { leaseMs: 14_999 }],
    ["leaseMs", { leaseMs: Number.NaN }],
    ["retention.deliveredMs", { retention: { deliveredMs: -1 } }],
    ["retention.deadMs", { retention: { deadMs: Number.NaN } }],
  ])("refuses a wrong %s", async (what, options) => {
    const bench = outboxBench();
    const listeners = { a: bench.listener(await bench.receiver()) };
    expect(() => createOutbox({ store: memoryStore(), listeners, ...options } as never)).toThrow(what);
  });

  it("takes options at their limits", async () => {
    const bench = outboxBench();
    const listeners = { a: bench.listener(await bench.receiver(), { attemptTimeoutMs: 10_000 }) };
    const retention = { deliveredMs: 0, deadMs: 0 };
    createOutbox({ store: memoryStore(), listeners, leaseMs: 15_000, pollMs: 1, concurrency: 1, retention });
    const onDead = { a: { ...listeners.a, onDead: "stop" } } as never;
    expect(() => createOutbox({ store: memoryStore(), listeners: onDead })).toThrow("onDead");
  });
});

describe("drain", () => {
  it("returns only when what was delivered is stored, and what comes next of its key is delivered", async () => {
    const bench = outboxBench();
    const server = await bench.receiver();
    let fails = 2;
    const store: OutboxStore<never> = {
      ...bench.store,
      async markDelivered(deliveries) {
        await new Promise((resolve) => setTimeout(resolve, 20)); // so that a claim beside it sees nothing of it
        if (fails-- > 0) throw new Error("not now");
        return bench.store.markDelivered(deliveries);
      },
    };
    const outbox = bench.outbox({ a: bench.listener(server) }, { store });
    await outbox.enqueue([1, 2, 3].map((n) => ({ listener: "a", payload: { n }, orderingKey: "k" })));
    await bench.passDuring(outbox.drain(), 100);
    expect(await outbox.stats()).toMatchObject([{ pending: 0, inFlight: 0, delivered: 3 }]);
  });

  it("waits for what ends during a claim to be stored", async () => {
    const bench = outboxBench();
    let claimsBeside = () => {};
    const isClaimedBeside = new Promise<void>((resolve) => {
      claimsBeside = resolve;
    });
    const server = await bench.receiver({
      intercept: async (request, response, receive) => {
        await isClaimedBeside;
        return receive(request, response);
      },
    });
    let underWay = 0;
    let endedDuringClaim = false;
    const store: OutboxStore<never> = {
      ...bench.store,
      async claim(request) {
        const claimed = await bench.store.claim(request);
        if (underWay > 0) {
          claimsBeside();
          await waitFor(() => underWay === 0);
          await new Promise((resolve) => setTimeout(resolve, 1)); // what comes of it is put down after it is told of
          endedDuringClaim = true;
        }
        return claimed;
      },
      async markDelivered(deliveries) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        return bench.store.markDelivered(deliveries);
      },
    };
    // A listener begins with one attempt at a time: while that is under way, the claim is for the other one.
    const listeners = { a: bench.listener(server), b: bench.listener(server) };
    const outbox = bench.outbox(listeners, {
      store,
      observe({ type }) {
        if (type === "attempt-started") underWay += 1;
        if (type === "attempt-ended") underWay -= 1;
      },
    });
    const { eventId } = await outbox.enqueue({ listener: "a", payload: {} });
    outbox.start();
    await outbox.drain();
    expect((await bench.store.find(eventId))[0]?.state).toBe("delivered");
    expect(endedDuringClaim).toBe(true);
  });

  it("looks at once for what comes next of a key", async () => {
    const bench = outboxBench();
    const server = await bench.receiver();
    const { onWork: _, ...silent } = bench.store;
    const store: OutboxStore<never> = {
      ...silent,
      async markDelivered(deliveries) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        return bench.store.markDelivered(deliveries);
      },
    };
    const outbox = bench.outbox({ a: bench.listener(server) }, { store });
    await outbox.enqueue([1, 2, 3].map((n) => ({ listener: "a", payload: { n }, orderingKey: "k" })));
    outbox.start();
    await waitFor(() => server.runs.size === 3); // no time passes: the next look would be in 100 ms
  });

  it("waits for what only a rate holds back", async () => {
    const bench = outboxBench();
    const server = await bench.receiver();
    const outbox = bench.outbox({ a: bench.listener(server, { rate: { perSecond: 1, burst: 1 } }) });
    await outbox.enqueue([1, 2, 3].map((n) => ({ listener: "a", payload: { n } })));
    await bench.passDuring(outbox.drain(), 100);
    expect(server.runs.size).toBe(3);
  });

  it("uses the dispatcher that was started, and leaves none running that was not", async () => {
    const bench = outboxBench();
    const server = await bench.receiver();
    let [watching, begun] = [0, 0];
    const store: OutboxStore<never> = {
      ...bench.store,
      onWork(wake) {
        watching += 1;
        begun += 1;
        const stop = bench.store.onWork?.(wake);
        return () => {
          watching -= 1;
          stop?.();
        };
      },
    };
    const outbox = bench.outbox({ a: bench.listener(server) }, { store });
    await outbox.drain();
    expect([watching, begun]).toEqual([0, 1]);
    outbox.start();
    await outbox.drain();
    expect([watching, begun]).toEqual([1, 2]);
    await outbox.stop();
    expect([watching, begun]).toEqual([0, 2]);
  });

  it("ends when it is stopped", async () => {
    const bench = outboxBench();
    const hanging = await bench.receiver({ intercept: () => {} });
    const outbox = bench.outbox({ a: bench.listener(hanging) });
    await outbox.enqueue({ listener: "a", payload: {} });
    outbox.start();
    const drained = outbox.drain();
    await waitFor(() => hanging.requests.length === 1);
    await outbox.stop({ timeoutMs: 0 });
    await drained;
  });
});

describe("stop", () => {
  it("ends the waits it began", async () => {
    const bench = outboxBench();
    const server = await bench.receiver();
    const signals: (AbortSignal | undefined)[] = [];
    const outbox = bench.outbox(
      { a: bench.listener(server) },
      {
        wait(ms, signal) {
          signals.push(signal);
          return bench.clock.wait(ms, signal);
        },
      },
    );
    outbox.start();
    await waitFor(() => signals.length > 0);
    await outbox.stop({ timeoutMs: 123_456 });
    expect(signals.every((signal) => signal?.aborted)).toBe(true);
  });

  it("is what disposing does, and nothing is delivered afterwards", async () => {
    const bench = outboxBench();
    const server = await bench.receiver();
    const outbox = bench.outbox({ a: bench.listener(server) });
    outbox.start();
    await outbox[Symbol.asyncDispose]();
    await outbox.enqueue({ listener: "a", payload: {} });
    await bench.pass(5_000);
    expect(server.requests).toEqual([]);
  });
});

it("a rate of many a second is not held to the rhythm of the looks", async () => {
  const bench = outboxBench();
  const server = await bench.receiver();
  const rate = { perSecond: 100, burst: 1 };
  const outbox = bench.outbox({ a: bench.listener(server, { rate }) }, { pollMs: 60_000 });
  await outbox.enqueue(Array.from({ length: 5 }, (_, n) => ({ listener: "a", payload: { n } })));
  outbox.start();
  await bench.passUntil(() => server.runs.size === 5, 10, 500);
});
