// What it costs to put events aside and to bring them back while a transaction holds its snapshot.
import { afterAll, afterEach, beforeEach, expect, it, vi } from "vitest";
import { describeWith } from "../../kit/needs.js";
import { outboxEvent } from "../../kit/outbox-event.js";
import { testPostgres } from "../../kit/postgres.js";
import { type HeldOutbox, heldOutbox } from "./held-outbox.js";

const postgres = await testPostgres();
afterAll(() => postgres?.stop());

describeWith("postgresql", postgres)("a pause while a snapshot is held", () => {
  let held: HeldOutbox;
  let store: HeldOutbox["store"];
  beforeEach(async () => {
    held = await heldOutbox(postgres?.url ?? "");
    store = held.store;
  });
  afterEach(() => held.drop());

  it("each page that is brought back goes on where the last one ended, and none is left", async () => {
    await store.pause("orders", "");
    await held.query(`UPDATE hookproof.listener SET has_aside = true;
      INSERT INTO hookproof.event (id, listener, state, digest, ready_at)
        SELECT gen_random_uuid(), 'orders', 'aside', '', now() - g * interval '1 ms' FROM generate_series(1, 5500) g ORDER BY random()`);
    const asked = held.asked(/WITH one AS MATERIALIZED[^;]*/g);
    await store.resume("orders");
    vi.restoreAllMocks();
    expect(await held.outbox.states()).toEqual({ waiting: 5_500 });
    expect((await held.query("SELECT has_aside FROM hookproof.listener")).rows).toEqual([
      { has_aside: false },
    ]);
    await held.query("UPDATE hookproof.listener SET has_aside = true; ANALYZE hookproof.event");
    const all = await held.blocks(asked[0] ?? "");
    expect(all).toBeGreaterThan(5_000);
    expect(await held.blocks(asked[4] ?? "")).toBeLessThan(all / 2);
  });

  it("what was put aside and given free by somebody else meanwhile is brought back as well", async () => {
    await store.pause("orders", "");
    await held.query(`UPDATE hookproof.listener SET has_aside = true;
      INSERT INTO hookproof.event (id, listener, state, digest)
        SELECT gen_random_uuid(), 'orders', 'aside', '' FROM generate_series(1, 1500) g`);
    // Appears before all others when the first page has been brought back.
    await held.query(`CREATE FUNCTION hookproof.late() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF NOT EXISTS (SELECT FROM hookproof.event WHERE digest = 'late') THEN
          INSERT INTO hookproof.event (id, listener, state, digest, ready_at)
            VALUES (gen_random_uuid(), 'orders', 'aside', 'late', now() - interval '1 h');
        END IF; RETURN NULL; END $$;
      CREATE TRIGGER late AFTER UPDATE ON hookproof.event FOR EACH STATEMENT EXECUTE FUNCTION hookproof.late()`);
    await store.resume("orders");
    expect(await held.outbox.states()).toEqual({ waiting: 1_501 });
  });

  it("what is put aside is looked for from the floor", async () => {
    await held.query(`INSERT INTO hookproof.event (id, listener, state, digest, due_at)
        SELECT gen_random_uuid(), 'orders', 'waiting', '', now() - interval '1 min' FROM generate_series(1, 20000);
      DELETE FROM hookproof.event`);
    const listeners = new Map([["orders", { most: 10, windowMs: 1e9 }]]);
    await store.claim({ limit: 10, leaseMs: 60_000, listeners });
    await store.enqueue([outboxEvent("x")]);
    await store.pause("orders", "");
    const asked = held.asked(/WITH mine AS MATERIALIZED[^;]*/g);
    await store.due(undefined, 10);
    vi.restoreAllMocks();
    expect(await held.outbox.states()).toEqual({ aside: 1 });
    expect(asked).toHaveLength(1);
    expect(await held.blocks(asked.join())).toBeLessThan(50);
  });

  it("a page that is put aside, and each look, go on behind those that were put aside before", async () => {
    await held.query(`INSERT INTO hookproof.event (id, listener, state, digest, due_at)
        SELECT gen_random_uuid(), 'orders', 'waiting', '', now() - interval '1 h' + g * interval '1 ms'
        FROM generate_series(1, 40000) g ORDER BY random();
      INSERT INTO hookproof.event (id, listener, state, digest, due_at)
        SELECT gen_random_uuid(), 'other', 'waiting', '', now() - interval '1 h'`);
    await store.pause("orders", "");
    const costs = held.costs();
    await store.due(undefined, 10);
    await store.due(undefined, 10);
    const early = costs.splice(0);
    for (let looks = 0; looks < 36; looks++) await store.due(undefined, 10);
    costs.length = 0;
    await store.due(undefined, 10);
    await store.due(undefined, 10);
    const most = (of: typeof costs, what: "blocks" | "rows") => Math.max(...of.map((cost) => cost[what]));
    expect(most(costs, "rows")).toBeLessThan(1.2 * most(early, "rows"));
    expect(most(costs, "blocks")).toBeLessThan(1.5 * most(early, "blocks"));
    await store.due(undefined, 10);
    vi.restoreAllMocks();
    expect(await held.outbox.states()).toEqual({ aside: 40_000, waiting: 1 });
    await store.resume("orders");
    expect(await held.outbox.states()).toEqual({ waiting: 40_001 });
  });
});
