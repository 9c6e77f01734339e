import type { ClaimedEvent } from "hookproof/outbox/store";
import { afterAll, expect } from "vitest";
import { itWith } from "../../kit/needs.js";
import { outboxEvent } from "../../kit/outbox-event.js";
import { testPostgres } from "../../kit/postgres.js";
import { testOutbox } from "../../kit/postgres-outbox.js";
import { seededRandom } from "../../kit/seed.mjs";

const postgres = await testPostgres();
afterAll(() => postgres?.stop());

const KEYS = 6;
const EVENTS = 240;
const WORKERS = 6;
/** Long enough for a claim and what follows it on a slow machine; what was forgotten holds up its key for so long. */
const LEASE_MS = 300;
const ATTEMPT = { number: 1, startedAt: 0, durationMs: 1 };
const SHARE = { most: 5, windowMs: 60_000 };

itWith("postgresql", postgres).each(["read committed", "repeatable read", "serializable"])(
  "workers at odds with each other keep every key in order and lose nothing where the default is %s",
  async (isolation) => {
    const random = seededRandom(`races where the default is ${isolation}`);
    const below = (end: number) => Math.floor(random() * end);
    const options = `-c default_transaction_isolation=${isolation.replace(" ", "\\ ")}`;
    const outbox = testOutbox(postgres?.url ?? "", { max: 12, options });
    const stores = [outbox.store(), outbox.store()] as const;
    const listeners = new Map([
      ["a", SHARE],
      ["b", SHARE],
    ]);
    const place = new Map<string, number>();
    interface End {
      readonly key: string | undefined;
      readonly place: number;
    }
    const begun: End[] = [];
    const ended = new Set<End>();
    let left = EVENTS;

    async function produce() {
      for (let index = 0; index < EVENTS; index++) {
        const listener = index % 2 ? "a" : "b";
        const orderingKey = index % 5 === 0 ? undefined : `key ${index % KEYS}`;
        const event = outboxEvent(String(index), { listener, orderingKey });
        place.set(event.id, index);
        await stores[index % 2]?.enqueue([event]);
      }
    }

    /** Delivers, puts off, releases, forgets, is late, or kills and brings back to its place, at random. */
    async function handle({ event, lease, now }: ClaimedEvent, store: (typeof stores)[number]) {
      const key = event.orderingKey === undefined ? undefined : `${event.listener} ${event.orderingKey}`;
      await new Promise((resolve) => setTimeout(resolve, below(3)));
      const fate = below(12);
      if (fate === 0) return; // as a worker that was killed
      if (fate === 1) await new Promise((resolve) => setTimeout(resolve, LEASE_MS + 30)); // past its lease
      if (fate === 2) return void (await store.release([lease]));
      if (fate === 3) return void (await store.reschedule(lease, now + 20, ATTEMPT));
      if (fate === 4) {
        const burial = { reason: "refused", code: "REQUEST_REFUSED", blocksKey: true } as const;
        await store.fail(lease, burial);
        await store.redrive({ ids: [event.id] }, 60_000, { place: "kept" });
        return;
      }
      // Begun before the call: once it is stored, another worker may have the next event before the answer is here.
      const end = { key, place: place.get(event.id) ?? -1 };
      begun.push(end);
      const good = await store.markDelivered([{ lease, outcome: "delivered", attempt: ATTEMPT }]);
      if (good === 0) return;
      left -= 1;
      if (key !== undefined) ended.add(end);
    }

    async function work(index: number) {
      const store = stores[index % 2] as (typeof stores)[number];
      while (left > 0) {
        const claimed = await store.claim({ limit: 4, leaseMs: LEASE_MS, listeners });
        if (claimed.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
        await Promise.all(claimed.map((one) => handle(one, store)));
        if (below(10) === 0) await store.prune({ delivered: 0, dead: 0 });
      }
    }

    await Promise.all([produce(), ...Array.from({ length: WORKERS }, (_, index) => work(index))]);
    expect(await outbox.states()).toEqual({ delivered: EVENTS });
    expect(
      (await stores[0].stats()).map(({ pending, inFlight, delivered }) => [pending, inFlight, delivered]),
    ).toEqual([
      [0, 0, EVENTS / 2],
      [0, 0, EVENTS / 2],
    ]);
    const inOrder = begun.filter((one) => ended.has(one));
    for (const key of new Set(inOrder.map((one) => one.key))) {
      const places = inOrder.filter((one) => one.key === key).map((one) => one.place);
      expect(places, key).toEqual([...places].sort((a, b) => a - b));
    }
    await outbox.drop();
  },
);

itWith("postgresql", postgres)(
  "20,000 events of one key, and a poisoned event in each of 5,000, hold up nobody",
  async () => {
    const outbox = testOutbox(postgres?.url ?? "");
    const store = outbox.store({ timeoutMs: 30_000 });
    const claim = () =>
      store.claim({
        limit: 100,
        leaseMs: 60_000,
        listeners: new Map([["orders", { most: 100, windowMs: 1e9 }]]),
      });
    const put = async (count: number, key: (n: number) => string) => {
      for (let n = 0; n < count; n += 2_000)
        await store.enqueue(
          Array.from({ length: 2_000 }, (_, m) => outboxEvent(String(n + m), { orderingKey: key(n + m) })),
        );
    };
    await put(20_000, () => "one");
    const free = outboxEvent("free");
    await store.enqueue([free]);
    expect((await claim()).map(({ event }) => event.id)).toContain(free.id);

    await put(10_000, (n) => `key ${n % 5_000}`);
    for (let poisoned = 0; poisoned < 5_000; ) {
      const claimed = await claim();
      poisoned += claimed.length;
      await Promise.all(claimed.map(({ lease, now }) => store.reschedule(lease, now + 3_600_000, ATTEMPT)));
    }
    const late = outboxEvent("late");
    await store.enqueue([late]);
    expect((await claim()).map(({ event }) => event.id)).toEqual([late.id]);
    await outbox.drop();
  },
);
