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
});
