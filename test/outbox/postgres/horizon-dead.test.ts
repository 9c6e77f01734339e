// What it costs to change and to list dead letters while a transaction holds its snapshot, and that none is passed over.
import { afterAll, afterEach, beforeEach, expect, it, vi } from "vitest";
import { describeWith } from "../../kit/needs.js";
import { testPostgres } from "../../kit/postgres.js";
import { type Cost, type HeldOutbox, heldOutbox } from "./held-outbox.js";

const postgres = await testPostgres();
afterAll(() => postgres?.stop());

const WINDOW_MS = 60_000;

describeWith("postgresql", postgres)("dead letters while a snapshot is held", () => {
  let held: HeldOutbox;
  let store: HeldOutbox["store"];
  beforeEach(async () => {
    held = await heldOutbox(postgres?.url ?? "");
    store = held.store;
    await end("delivered", 5_000);
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await held.drop();
  });

  /** Makes events that have ended, many of them at the same time. */
  const end = (state: string, count: number, firstAttempt = "now()") =>
    held.query(`INSERT INTO hookproof.event (id, listener, state, digest, ended_at, first_attempt_at, reason, code)
      SELECT gen_random_uuid(), 'orders', '${state}', '', now() - g / 700 * interval '1 ms', ${firstAttempt}, 'refused', 'REQUEST_REFUSED'
        FROM generate_series(1, ${count}) g ORDER BY random()`);
  const most = (costs: readonly Cost[]) => Math.max(...costs.map(({ rows }) => rows));
  const all = (costs: readonly Cost[]) => costs.reduce((sum, { rows }) => sum + rows, 0);

  it("what a redrive made pending and died again meanwhile is not made pending again", async () => {
    await end("dead", 1_200);
    await held.query(`CREATE FUNCTION hookproof.again() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        UPDATE hookproof.event SET state = 'dead', ended_at = clock_timestamp(), reason = 'refused', attempts = attempts + 1
          WHERE state = 'waiting' AND attempts < 2; RETURN NULL; END $$;
      CREATE TRIGGER again AFTER UPDATE ON hookproof.event FOR EACH STATEMENT WHEN (pg_trigger_depth() = 0)
        EXECUTE FUNCTION hookproof.again()`);
    expect(await store.redrive({}, WINDOW_MS)).toEqual({ redriven: 1_200, pastWindow: 0 });
  });

  it("what dies during a drop or a list is left where it is", async () => {
    await end("dead", 1_200);
    await held.query(`CREATE FUNCTION hookproof.another() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO hookproof.event (id, listener, state, digest, ended_at)
          SELECT gen_random_uuid(), 'orders', 'dead', '', clock_timestamp() FROM generate_series(1, 500)
          WHERE (SELECT count(*) < 9000 FROM hookproof.event); RETURN NULL; END $$;
      CREATE TRIGGER another AFTER DELETE ON hookproof.event FOR EACH STATEMENT EXECUTE FUNCTION hookproof.another()`);
    let listed = 0;
    for await (const _ of store.deadLetters({})) {
      listed += 1;
      if (listed % 500 === 0) await end("dead", 500);
    }
    expect(listed).toBe(1_200);
    expect(await store.drop({})).toBe(2_200);
  });

  it("a time without an end removes nothing", async () => {
    await end("dead", 3);
    const never = Number.NEGATIVE_INFINITY;
    expect(await store.prune({ delivered: never, dead: never })).toBe(0);
  });

  const changes = {
    redrive: async () => (await store.redrive({ code: "REQUEST_REFUSED" }, WINDOW_MS)).redriven,
    drop: () => store.drop({ reason: "refused" }),
    list: async () => {
      const ids = new Set<string>();
      for await (const { event } of store.deadLetters({ listener: "orders", before: Date.now() + 60_000 }))
        ids.add(event.id);
      return ids.size;
    },
    prune: async () => {
      let removed = 0;
      for (let gone = 1_000; gone === 1_000; removed += gone)
        gone = await store.prune({ delivered: 0, dead: Date.now() + 60_000 });
      return removed;
    },
  };
  it.each(Object.entries(changes))(
    "a page reads no more the more was changed before: %s",
    async (name, change) => {
      await end("dead", 4_321);
      const costs = held.costs();
      expect(await change()).toBe(4_321);
      const pages = name === "redrive" ? costs.slice(1) : costs; // it counts first
      expect(pages.length).toBeGreaterThan(9);
      expect(most(pages)).toBeLessThanOrEqual(1_000);
    },
  );

  it("those whose window has closed are passed once, and not for every page", async () => {
    await end("dead", 3_000, "now() - interval '1 h'");
    await end("dead", 1_200);
    const costs = held.costs();
    expect(await store.redrive({}, WINDOW_MS)).toEqual({ redriven: 1_200, pastWindow: 3_000 });
    expect(all(costs.slice(1))).toBeLessThan(8_000); // it counts first
    const options = { newIds: true, limit: 700 };
    expect(await store.redrive({}, WINDOW_MS, options)).toEqual({ redriven: 700, pastWindow: 0 });
    expect(await held.outbox.states()).toEqual({ delivered: 5_000, dead: 2_300, waiting: 1_900 });
  });

  it("a listener's are found without those of others", async () => {
    await end("dead", 3_000);
    await held.query(
      "UPDATE hookproof.event SET listener = 'other' WHERE ctid = ANY (ARRAY(SELECT ctid FROM hookproof.event WHERE state = 'dead' LIMIT 60))",
    );
    const costs = held.costs();
    const own = { listener: "other" };
    expect(await store.redrive(own, WINDOW_MS, { dryRun: true })).toEqual({ redriven: 60, pastWindow: 0 });
    expect(await store.redrive(own, WINDOW_MS, { limit: 20 })).toEqual({ redriven: 20, pastWindow: 0 });
    expect(await store.drop(own, { limit: 20 })).toBe(20);
    let listed = 0;
    for await (const { event } of store.deadLetters(own)) listed += event.listener === "other" ? 1 : 0;
    expect(listed).toBe(20);
    expect(most(costs)).toBeLessThan(300);
  });

  it("those with given ids are found by them", async () => {
    await end("dead", 2_000);
    const { rows } = await held.query(
      "SELECT id FROM hookproof.event WHERE state = 'dead' ORDER BY seq LIMIT 620",
    );
    const [first = "", second = "", ...ids] = rows.map(({ id }) => id);
    const costs = held.costs();
    expect(await store.drop({ listener: "orders", ids: [first] })).toBe(1);
    expect(await store.redrive({ ids: [second] }, WINDOW_MS)).toEqual({ redriven: 1, pastWindow: 0 });
    for await (const { event } of store.deadLetters({ ids: [first, second] })) expect.fail(event.id);
    expect(most(costs)).toBeLessThan(20);
    expect(await store.drop({ ids }, { limit: 600 })).toBe(600);
    expect(await store.drop({ ids })).toBe(18);
    expect(most(costs)).toBeLessThan(1_300);
  });

  it.each([
    ["redrive", 5],
    ["drop", 4],
  ] as const)("what somebody else held at first is taken in the end: %s", async (name, last) => {
    await end("dead", 20);
    const { pool, schema } = held.outbox;
    const other = await pool.connect();
    await other.query(`BEGIN; SELECT FROM ${schema}.event WHERE state = 'dead' LIMIT 3 FOR UPDATE`);
    const connect = pool.connect.bind(pool);
    let calls = 0;
    vi.spyOn(pool, "connect").mockImplementation((async () => {
      calls += 1;
      if (calls === last) await other.query("ROLLBACK");
      return connect();
    }) as never);
    const changed = await changes[name]();
    vi.restoreAllMocks();
    other.release(true);
    expect(changed).toBe(20);
    expect((await held.outbox.states()).dead).toBeUndefined();
  });

  it("several calls at once change each dead letter once", async () => {
    await end("dead", 3_000);
    const [redriven = 0, again = 0, dropped = 0] = await Promise.all([
      changes.redrive(),
      changes.redrive(),
      changes.drop(),
    ]);
    expect(redriven + again + dropped).toBe(3_000);
    const left = { waiting: redriven + again };
    expect(await held.outbox.states()).toEqual({ delivered: 5_000, ...(left.waiting > 0 && left) });
  });
});
