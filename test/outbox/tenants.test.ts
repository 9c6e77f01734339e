import { createHmac, randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { type Clock, hmacSigner } from "hookproof";
import { openSqlite } from "hookproof/node";
import { memoryStore, type Outbox, type OutboxListenerOptions } from "hookproof/outbox";
import { sqliteStore } from "hookproof/outbox/sqlite";
import type { OutboxStore } from "hookproof/outbox/store";
import { describe, expect, it, vi } from "vitest";
import { outboxBench } from "./bench-outbox.js";
import { fileOfEachTest, storedEvent } from "./sqlite/files.js";

const HOUR_MS = 3_600_000;
const payload = { type: "user.offboarded" };
const newSecret = () => randomBytes(32).toString("base64url");

/** Whether a secret made a request's signature, computed with Node alone. */
function isSignedWith(secret: string, { headers }: IncomingMessage): boolean {
  const input = `${headers["webhook-timestamp"]}.${headers["webhook-event-id"]}.${JSON.stringify(payload)}`;
  const expected = createHmac("sha256", secret).update(input).digest("base64url");
  return JSON.stringify(headers).includes(expected);
}

/** Listeners of a function over a map that the test changes, with the names that it was asked for. */
function tenants(known: Record<string, OutboxListenerOptions> = {}) {
  const asked: string[] = [];
  const lookup = (name: string) => {
    asked.push(name);
    return known[name];
  };
  return { known, asked, lookup };
}

describe("listeners from a function", () => {
  const place = fileOfEachTest();

  it("are asked for once while the answer is kept, and not when events are enqueued", async () => {
    const bench = outboxBench();
    const server = await bench.receiver();
    const { lookup, asked } = tenants({ acme: bench.listener(server) });
    const outbox = bench.outbox(lookup);
    for (let n = 0; n < 5; n++) await outbox.enqueue({ listener: "acme", payload });
    expect(asked).toEqual([]);
    outbox.start();
    await bench.passUntil(() => server.runs.size === 5);
    expect(asked).toEqual(["acme"]);
    await bench.pass(61_000);
    await outbox.enqueue({ listener: "acme", payload });
    await bench.passUntil(() => server.runs.size === 6);
    expect(asked).toEqual(["acme", "acme"]);
  });

  it("are asked for again in every worker after forget, and the new secret signs the next attempt", async () => {
    const bench = outboxBench();
    const [old, fresh] = [newSecret(), newSecret()];
    const server = await bench.receiver({ auth: { method: "hmac", secret: [old, fresh] } });
    const options = bench.listener(server);
    const { lookup, known, asked } = tenants();
    known.acme = { ...options, signer: hmacSigner({ secret: old }) };
    const [here, there] = [bench.outbox(lookup), bench.outbox(lookup)];
    await here.enqueue({ listener: "acme", payload });
    await bench.passDuring(here.drain());
    await here.enqueue({ listener: "acme", payload });
    await bench.passDuring(there.drain());
    expect(asked).toHaveLength(2);
    known.acme = { ...options, signer: hmacSigner({ secret: fresh }) };
    await bench.pass(2_000);
    await here.forget("acme");
    await here.enqueue({ listener: "acme", payload });
    await bench.passDuring(there.drain());
    expect(asked).toHaveLength(3);
    await here.enqueue({ listener: "acme", payload });
    await bench.passDuring(here.drain());
    expect(asked).toHaveLength(4);
    expect(server.requests.map((request) => isSignedWith(fresh, request))).toEqual([
      false,
      false,
      true,
      true,
    ]);
    expect(server.runs.size).toBe(4);
  });

  it("wait where there is no such listener, with one warning, and are delivered when there is one", async () => {
    const bench = outboxBench();
    const server = await bench.receiver();
    const { lookup, known } = tenants();
    const outbox = bench.outbox(lookup);
    await outbox.enqueue({ listener: "late", payload });
    outbox.start();
    await bench.pass(20_000);
    const [entry] = await outbox.pending();
    expect(entry).toMatchObject({ state: "pending", attempts: [] });
    expect(bench.told("warning")).toMatchObject([
      { listener: "late", message: expect.stringContaining('"late" wait') },
    ]);
    known.late = bench.listener(server);
    await bench.passUntil(() => server.runs.size === 1);
  });

  it.each([
    [
      "throws",
      () => {
        throw new Error("the vault is sealed");
      },
      /vault is sealed/,
    ],
    ["rejects", () => Promise.reject(new Error("the vault is sealed")), /vault is sealed/],
    [
      "gives a URL that is refused",
      () => ({ url: "http://elsewhere.example/x", signer: hmacSigner({ secret: newSecret() }) }),
      /wait/,
    ],
    ["gives another tenant's name", () => "other" as never, /wait/],
    ["gives null", () => null as never, /no such listener/],
  ] as const)("that %s hold up that listener and no other", async (_, answer, warning) => {
    const bench = outboxBench();
    const server = await bench.receiver();
    const good = bench.listener(server);
    const outbox = bench.outbox((name) => (name === "bad" ? answer() : good));
    for (const listener of ["bad", "good", "bad", "better"]) await outbox.enqueue({ listener, payload });
    outbox.start();
    await bench.passUntil(() => server.runs.size === 2);
    expect(bench.told("warning").map(({ message }) => message)).toEqual([expect.stringMatching(warning)]);
    expect((await outbox.stats()).find(({ listener }) => listener === "bad")).toMatchObject({
      pending: 2,
      dead: 0,
    });
  });

  it("that never answer hold up that listener and no other", async () => {
    const bench = outboxBench();
    const server = await bench.receiver();
    const good = bench.listener(server);
    const outbox = bench.outbox((name) => (name === "bad" ? new Promise<never>(() => {}) : good));
    for (const listener of ["bad", "good"]) await outbox.enqueue({ listener, payload });
    outbox.start();
    await bench.passUntil(() => server.runs.size === 1);
    await outbox.enqueue({ listener: "better", payload });
    await bench.passUntil(() => server.runs.size === 2);
  });

  it("are asked for by a limited number of look-ups at once, however many have events", async () => {
    const bench = outboxBench();
    const answers: (() => void)[] = [];
    const listener = bench.listener(
      { url: "http://127.0.0.1:1/api/v1/webhooks/incoming/lst_1" },
      { transport: async () => ({ status: 200, headers: [], body: new Uint8Array(), truncated: false }) },
    );
    const outbox = bench.outbox((_) => new Promise((resolve) => answers.push(() => resolve(listener))));
    const listeners = Array.from({ length: 1_200 }, (_, n) => `tenant ${n}`);
    for (const listener of listeners) await outbox.enqueue({ listener, payload });
    outbox.start();
    await bench.passUntil(() => answers.length >= 1_000);
    await bench.pass(2_000);
    expect(answers).toHaveLength(1_000);
    await bench.passUntil(() => {
      for (const answer of answers.splice(0)) answer();
      return bench.told("delivery-ended").length === 1_200;
    });
  });

  describe.each([
    ["memory", (clock: Clock) => memoryStore({ clock }) as OutboxStore],
    ["SQLite", (clock: Clock) => sqliteStore({ open: () => openSqlite(place.file), clock }) as OutboxStore],
  ])("over %s", (_, open) => {
    const transport = async () => ({ status: 200, headers: [], body: new Uint8Array(), truncated: false });
    const opened = (clock: Clock) => {
      const store = open(clock);
      place.opened.push(store);
      return store as OutboxStore<never>;
    };
    const names = (prefix: string, count: number) =>
      Array.from({ length: count }, (_, n) => `${prefix} ${n}`);
    const putAll = (outbox: Outbox<never>, listeners: readonly string[]) =>
      outbox.enqueue(listeners.map((listener) => ({ listener, payload })));

    it.each([
      ["at once", 0],
      ["after 200 ms", 200],
    ])(
      "are all delivered to, each asked for once, where a cache has place for few: answers %s",
      async (_, ms) => {
        const bench = outboxBench();
        const listener = bench.listener(
          { url: "http://127.0.0.1:1/api/v1/webhooks/incoming/lst_1" },
          { transport },
        );
        const asked: string[] = [];
        const lookup = async (name: string) => {
          asked.push(name);
          if (ms > 0) await bench.clock.wait(ms);
          return listener;
        };
        const outbox = bench.outbox(lookup, { store: opened(bench.storeClock), listenerCache: { max: 5 } });
        const tenants = names("tenant", 2_500);
        await putAll(outbox, tenants);
        outbox.start();
        await bench.passUntil(() => bench.told("delivery-ended").length === tenants.length);
        expect(asked.length).toBeLessThan(1.2 * tenants.length);
        expect(new Set(asked).size).toBe(tenants.length);
      },
    );

    it("that are unknown hold up nobody, are asked for ever more seldom, are shown, and come back", async () => {
      const bench = outboxBench();
      const listener = bench.listener(
        { url: "http://127.0.0.1:1/api/v1/webhooks/incoming/lst_1" },
        { transport },
      );
      const { lookup, known, asked } = tenants();
      const [gone, healthy] = [names("gone", 400), names("healthy", 20)];
      for (const name of healthy) known[name] = listener;
      const outbox = bench.outbox(lookup, { store: opened(bench.storeClock), listenerCache: { max: 30 } });
      await putAll(outbox, gone);
      await putAll(outbox, gone);
      outbox.start();
      const delivered = () => bench.told("delivery-ended").length;
      await bench.passUntil(() => asked.length >= gone.length);
      for (let round = 1; round <= 5; round++) {
        await putAll(outbox, healthy);
        await bench.passUntil(() => delivered() === round * healthy.length);
      }
      const soFar = asked.length;
      expect(soFar).toBeLessThan(2 * gone.length);
      await bench.pass(HOUR_MS, 10_000);
      expect(asked.length - soFar).toBeLessThan(12 * gone.length); // 5, 10, 20 s ...: ten times in an hour
      const unknown = (await outbox.stats()).filter(({ unknownSince }) => unknownSince !== undefined);
      expect(unknown.map((one) => one.pending)).toEqual(gone.map(() => 2));
      const before = delivered();
      for (const name of gone.slice(0, 2)) {
        known[name] = listener;
        await outbox.forget(name);
      }
      await bench.passUntil(() => delivered() === before + 4);
      for (const name of gone) known[name] = listener;
      await bench.passUntil(() => delivered() === before + 2 * gone.length, 60_000);
      expect((await outbox.stats()).filter(({ unknownSince }) => unknownSince !== undefined)).toEqual([]);
    });

    it.each([
      ["a map of few", (known: OutboxListenerOptions) => ({ known })],
      [
        "a map of many",
        (known: OutboxListenerOptions) =>
          Object.fromEntries(
            ["known", ...Array.from({ length: 150 }, (_, n) => `other ${n}`)].map((name) => [name, known]),
          ),
      ],
      [
        "another function",
        (known: OutboxListenerOptions) => (name: string) => (name === "known" ? known : undefined),
      ],
    ])("that a worker did not know are delivered to by the next one that does: %s", async (_, listeners) => {
      const bench = outboxBench();
      const server = await bench.receiver();
      const store = opened(bench.storeClock);
      const { lookup, asked } = tenants();
      const before = bench.outbox(lookup, { store });
      for (let n = 0; n < 3; n++) await before.enqueue({ listener: "known", payload });
      before.start();
      await bench.passUntil(() => asked.length === 3); // the store has put the events aside
      await bench.passDuring(before.stop());
      const outbox = bench.outbox(listeners(bench.listener(server)), { store });
      outbox.start();
      await bench.passUntil(() => server.runs.size === 3, 1_000, 60);
    });
  });

  it("that the function fails for, and that were unknown, hold up none that come back", async () => {
    const bench = outboxBench();
    const server = await bench.receiver();
    const names = Array.from({ length: 300 }, (_, n) => `tenant ${n}`);
    let isSealed = false;
    const known: Record<string, OutboxListenerOptions> = {};
    const lookup = (name: string) => {
      if (isSealed && name !== "back") throw new Error("the vault is sealed");
      return known[name];
    };
    const outbox = bench.outbox(lookup, { concurrency: 20 });
    for (const listener of [...names, "back"]) await outbox.enqueue({ listener, payload });
    outbox.start();
    await bench.passUntil(async () =>
      (await outbox.stats()).every(({ unknownSince }) => unknownSince !== undefined),
    );
    isSealed = true;
    known.back = bench.listener(server);
    await bench.passUntil(() => server.runs.size === 1, 1_000, 120);
  });

  it("that come back all at once are told to the store one after another", async () => {
    const bench = outboxBench();
    const server = await bench.receiver();
    const { lookup, known } = tenants();
    let [atOnce, most] = [0, 0];
    const store: OutboxStore<never> = {
      ...bench.store,
      async changed(name) {
        most = Math.max(most, ++atOnce);
        await new Promise(setImmediate);
        await bench.store.changed(name);
        atOnce -= 1;
      },
    };
    const outbox = bench.outbox(lookup, { store });
    const names = Array.from({ length: 200 }, (_, n) => `tenant ${n}`);
    for (const listener of names) await outbox.enqueue({ listener, payload });
    outbox.start();
    await bench.passUntil(async () =>
      (await outbox.stats()).every(({ unknownSince }) => unknownSince !== undefined),
    );
    for (const name of names) known[name] = bench.listener(server);
    await bench.passUntil(() => server.runs.size === names.length);
    expect(most).toBe(1);
  });

  it("are kept in a limited number", async () => {
    const bench = outboxBench();
    const server = await bench.receiver();
    const { lookup, known, asked } = tenants();
    for (const name of ["a", "b", "c"]) known[name] = bench.listener(server);
    const outbox = bench.outbox(lookup, { listenerCache: { max: 2 } });
    for (const listener of ["a", "b", "c", "c", "a"]) {
      await outbox.enqueue({ listener, payload });
      await bench.passDuring(outbox.drain());
    }
    expect(asked).toEqual(["a", "b", "c", "a"]);
    expect((await outbox.stats()).filter(({ breaker }) => breaker).map(({ listener }) => listener)).toEqual([
      "a",
      "c",
    ]);
  });

  it("that have attempts under way keep their limits, however small the cache is", async () => {
    const bench = outboxBench();
    const at = { url: "http://127.0.0.1:1/api/v1/webhooks/incoming/lst_1" };
    const answer = { status: 200, headers: [], body: new Uint8Array(), truncated: false };
    let begun = 0;
    let end = () => {};
    const slow = () => {
      begun += 1;
      return new Promise<typeof answer>((resolve) => {
        end = () => resolve(answer);
      });
    };
    const { lookup } = tenants({
      slow: bench.listener(at, { transport: slow }),
      quick: bench.listener(at, { transport: async () => answer }),
    });
    const outbox = bench.outbox(lookup, { listenerCache: { max: 1 } });
    for (const listener of ["slow", "slow", "slow"]) await outbox.enqueue({ listener, payload });
    outbox.start();
    // Attempts without an answer are under way, which the bench's own steps would wait for.
    const until = async (isSo: () => boolean) => {
      for (let step = 0; step < 200 && !isSo(); step++) {
        await new Promise((resolve) => setTimeout(resolve));
        bench.clock.advance(10);
      }
    };
    await until(() => begun === 1);
    await outbox.enqueue({ listener: "quick", payload });
    await until(() => bench.told("delivery-ended").length === 1);
    await until(() => begun > 1);
    expect([begun, bench.told("delivery-ended").length]).toEqual([1, 1]);
    end();
  });

  it("whose window has closed become dead letters, also where there is no such listener", async () => {
    const bench = outboxBench();
    const server = await bench.receiver({ intercept: (_, response) => response.writeHead(503).end() });
    const { lookup, known } = tenants({ gone: bench.listener(server) });
    const outbox = bench.outbox(lookup);
    await outbox.enqueue({ listener: "gone", payload });
    outbox.start();
    await bench.passUntil(() => server.requests.length === 1);
    known.gone = undefined as never;
    await outbox.forget("gone");
    await bench.passUntil(async () => (await outbox.stats())[0]?.dead === 1, HOUR_MS);
  });

  it("need a name, and a cache of possible size", async () => {
    const bench = outboxBench();
    const { lookup } = tenants();
    const make = (options: object) => () => bench.outbox(lookup, options);
    for (const listenerCache of [{ ttlMs: 0 }, { ttlMs: HOUR_MS + 1 }, { max: 0 }, { max: 1.5 }])
      expect(make({ listenerCache })).toThrow(RangeError);
    const outbox = bench.outbox(lookup);
    for (const listener of ["", "a\0b", 7 as never, undefined as never])
      expect(() => outbox.enqueue({ listener, payload })).toThrow(TypeError);
    await expect(outbox.forget("")).rejects.toThrow(TypeError);
  });
});

describe("a map of many listeners", () => {
  it("serves each of them, and does not ask the store by all their names", async () => {
    const bench = outboxBench();
    const server = await bench.receiver();
    const names = Array.from({ length: 300 }, (_, n) => `tenant ${n}`);
    const claim = vi.spyOn(bench.store, "claim");
    const outbox = bench.outbox(Object.fromEntries(names.map((name) => [name, bench.listener(server)])));
    for (const listener of [...names, ...names]) await outbox.enqueue({ listener, payload });
    await bench.passDuring(outbox.drain());
    expect(server.runs.size).toBe(600);
    await outbox.enqueue({ listener: "tenant 7", payload });
    claim.mockClear();
    await bench.passDuring(outbox.drain());
    expect(claim.mock.calls.map(([{ listeners }]) => [...listeners.keys()])).toContainEqual(["tenant 7"]);
    expect(Math.max(...claim.mock.calls.map(([{ listeners }]) => listeners.size))).toBe(1);
  });

  it("warns once of events for a listener that it does not have", async () => {
    const bench = outboxBench();
    const server = await bench.receiver();
    const earlier = bench.outbox({ gone: bench.listener(server) });
    await earlier.enqueue({ listener: "gone", payload });
    const outbox = bench.outbox({ other: bench.listener(server) });
    outbox.start();
    await bench.pass(90_000, 5_000);
    expect(bench.told("warning").map(({ message }) => message)).toEqual([
      expect.stringContaining('"gone" wait'),
    ]);
  });
});

describe("many paused listeners with a backlog each", () => {
  const place = fileOfEachTest();

  it.each([
    ["memory", () => memoryStore() as OutboxStore],
    ["SQLite", () => sqliteStore({ open: () => openSqlite(place.file) }) as OutboxStore],
  ])("are passed over once, and then no more: %s", async (_, open) => {
    const store = open();
    place.opened.push(store);
    const names = Array.from({ length: 2_000 }, (_, n) => `paused ${n}`);
    await store.enqueue(names.map((listener) => storedEvent(listener)));
    await Promise.all(names.map((name) => store.pause(name)));
    await store.enqueue([storedEvent("z")]);
    const looks = async () => {
      let count = 0;
      const found: string[] = [];
      for (let next: string | undefined; count === 0 || next !== undefined; count++) {
        const part = await store.due(next, 100);
        found.push(...part.listeners.map(({ listener }) => listener));
        next = part.next;
      }
      return { count, found };
    };
    while ((await looks()).count > 1); // puts the others aside, some at each look
    expect(await looks()).toEqual({ count: 1, found: ["z"] });
    expect((await store.stats()).reduce((sum, { pending }) => sum + pending, 0)).toBe(2_001);
    await Promise.all(names.map((name) => store.resume(name)));
    expect(new Set((await looks()).found)).toEqual(new Set([...names, "z"]));
  });
});
