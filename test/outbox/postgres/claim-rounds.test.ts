// How often one claim asks the database: again only for listeners that may have more.
import type { ClaimShare } from "hookproof/outbox/store";
import { afterAll, afterEach, beforeEach, expect, it } from "vitest";
import { describeWith } from "../../kit/needs.js";
import { outboxEvent } from "../../kit/outbox-event.js";
import { testPostgres } from "../../kit/postgres.js";
import { type TestOutbox, testOutbox } from "../../kit/postgres-outbox.js";

const postgres = await testPostgres();
afterAll(() => postgres?.stop());

describeWith("postgresql", postgres)("a claim", () => {
  let outbox: TestOutbox;
  let store: ReturnType<TestOutbox["store"]>;
  let asked: number;
  let failsAt: number;
  beforeEach(async () => {
    outbox = testOutbox(postgres?.url ?? "", { max: 1 });
    store = outbox.store();
    await store.stats(); // makes the tables
    [asked, failsAt] = [0, 0];
    const client = await outbox.pool.connect();
    const query = client.query.bind(client) as (...given: unknown[]) => unknown;
    client.query = ((...given: unknown[]) => {
      if (String(given[0]).includes(".claim(") && ++asked === failsAt)
        return Promise.reject(new Error("the connection was lost"));
      return query(...given);
    }) as never;
    client.release();
  });
  afterEach(() => outbox.drop());

  const put = (listener: string, count: number) =>
    store.enqueue(Array.from({ length: count }, (_, n) => outboxEvent(String(n), { listener })));

  /** How many events a claim gives, and how often it asked. */
  async function claimed(limit: number, shares: Record<string, number>): Promise<[number, number]> {
    const before = asked;
    const share = (most: number): ClaimShare => ({ most, windowMs: 600_000 });
    const listeners = new Map(Object.entries(shares).map(([name, most]) => [name, share(most)]));
    const { length } = await store.claim({ limit, leaseMs: 60_000, listeners });
    return [length, asked - before];
  }

  it("of nothing asks once", async () => {
    expect(await claimed(100, { a: 10, b: 10 })).toEqual([0, 1]);
    await put("a", 1);
    expect(await claimed(100, { b: 10 })).toEqual([0, 1]);
  });

  it("for nobody, or for no event of anybody, asks nothing", async () => {
    await put("a", 1);
    expect(await claimed(100, {})).toEqual([0, 0]);
    expect(await claimed(100, { a: 0 })).toEqual([0, 0]);
  });

  it("that got less than a share of each asks once", async () => {
    await put("a", 3);
    await put("b", 4);
    expect(await claimed(100, { a: 50, b: 50 })).toEqual([7, 1]);
  });

  it("that got all that a listener may have, or all that it wants, asks once", async () => {
    await put("a", 9);
    expect(await claimed(100, { a: 5 })).toEqual([5, 1]);
    expect(await claimed(3, { a: 50 })).toEqual([3, 1]);
    await put("b", 2);
    await put("c", 9);
    // Each of the two may have five of the ten, and c has no more than that to ask for.
    expect(await claimed(10, { b: 5, c: 5 })).toEqual([7, 1]);
  });

  it("asks again for a listener whose share was taken whole, and not for the others", async () => {
    await put("many", 60);
    await put("few", 1);
    expect(await claimed(40, { many: 100, few: 100, none: 100 })).toEqual([40, 2]);
  });

  it("that asked again in vain gives what it has: it must not wait until its lease ends", async () => {
    await put("many", 60);
    await put("few", 1);
    failsAt = 2;
    expect(await claimed(40, { many: 100, few: 100 })).toEqual([21, 2]);
    expect(await claimed(40, { many: 40 })).toEqual([40, 0]);
  });
});
