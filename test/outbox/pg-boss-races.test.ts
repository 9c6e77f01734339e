import { randomInt } from "node:crypto";
import { type ClaimedEvent, pgBossStore } from "hookproof/outbox";
import { afterAll, expect } from "vitest";
import { itWith } from "../support/needs.js";
import { outboxEvent } from "../support/outbox-event.js";
import { bossOnPostgres } from "../support/pg-boss.js";
import { testPostgres } from "../support/postgres.js";

const postgres = await testPostgres();
afterAll(() => postgres?.stop());

const KEYS = 6;
const EVENTS = 120;
const WORKERS = 6;
const ATTEMPT = { number: 1, startedAt: 0, durationMs: 1 };

itWith("postgresql", postgres)(
  "workers at odds with each other keep every key in order and lose nothing",
  async () => {
    const boss = await bossOnPostgres(postgres?.url ?? "");
    const outbox = boss.outbox();
    const stores = Array.from({ length: 2 }, () => pgBossStore({ boss: boss.boss, schema: outbox.schema }));
    const listeners = new Map([
      ["a", { most: 5, windowMs: 604_800_000 }],
      ["b", { most: 5, windowMs: 604_800_000 }],
    ]);
    const place = new Map<string, number>();
    const ended: { key: string; place: number }[] = [];
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

    /** Delivers, puts off, releases, forgets, or is late, at random. */
    async function handle({ event, lease, now }: ClaimedEvent, store = stores[0] as (typeof stores)[number]) {
      const key = event.orderingKey === undefined ? undefined : `${event.listener} ${event.orderingKey}`;
      await new Promise((resolve) => setTimeout(resolve, randomInt(3)));
      const fate = randomInt(10);
      if (fate === 0) return; // as a worker that was killed
      if (fate === 1) await new Promise((resolve) => setTimeout(resolve, 60)); // past its lease
      if (fate === 2) return void (await store.release([lease]));
      if (fate === 3) return void (await store.reschedule(lease, now + 20, ATTEMPT));
      const good = await store.complete([{ lease, outcome: "accepted", attempt: ATTEMPT }]);
      if (good === 0) return;
      left -= 1;
      if (key !== undefined) ended.push({ key, place: place.get(event.id) ?? -1 });
    }

    async function work(index: number) {
      const store = stores[index % 2] as (typeof stores)[number];
      for (let idle = 0; left > 0 && idle < 400; idle++) {
        const claimed = await store.claim({ limit: 4, leaseMs: 40, listeners });
        if (claimed.length > 0) idle = 0;
        else await new Promise((resolve) => setTimeout(resolve, 10));
        await Promise.all(claimed.map((one) => handle(one, store)));
      }
    }

    await Promise.all([produce(), ...Array.from({ length: WORKERS }, (_, index) => work(index))]);
    expect(left).toBe(0);
    expect(
      (await stores[0]?.stats())?.map(({ pending, inFlight, delivered }) => [pending, inFlight, delivered]),
    ).toEqual([
      [0, 0, EVENTS / 2],
      [0, 0, EVENTS / 2],
    ]);
    for (const key of new Set(ended.map((one) => one.key))) {
      const places = ended.filter((one) => one.key === key).map((one) => one.place);
      expect(places, key).toEqual([...places].sort((a, b) => a - b));
    }
    await outbox.drop();
    await boss.drop();
  },
  60_000,
);
