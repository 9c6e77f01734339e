// What events with ordering keys cost while a transaction holds its snapshot, and that their order stays.
import { afterAll, afterEach, beforeEach, expect, it, vi } from "vitest";
import { describeWith } from "../../kit/needs.js";
import { outboxEvent } from "../../kit/outbox-event.js";
import { testPostgres } from "../../kit/postgres.js";
import { type HeldOutbox, heldOutbox } from "./held-outbox.js";

const postgres = await testPostgres();
afterAll(() => postgres?.stop());

describeWith("postgresql", postgres)("ordering keys while a snapshot is held", () => {
  let held: HeldOutbox;
  let store: HeldOutbox["store"];
  beforeEach(async () => {
    held = await heldOutbox(postgres?.url ?? "");
    store = held.store;
  });
  afterEach(() => held.drop());

  const query = (sql: string) => held.query(sql);

  /** Leaves what so many delivered events of one key leave, or of as many keys. */
  async function deliver(count: number, keys = 1) {
    await query(`
      INSERT INTO hookproof.event (seq, id, listener, state, digest, ordering_key, enqueued_at, due_at)
        SELECT n, gen_random_uuid(), 'orders', 'new', 'bulk', 'k' || n % ${keys}, now() - interval '1 min', now() - interval '1 min'
        FROM (SELECT nextval(pg_get_serial_sequence('hookproof.event', 'seq')) AS n FROM generate_series(1, ${count})) s
        ORDER BY random(); -- as if they had been delivered one by one: neighbours are not on one page
      UPDATE hookproof.event SET state = 'parked' WHERE digest = 'bulk' AND state = 'new';
      UPDATE hookproof.event SET state = 'waiting' WHERE digest = 'bulk' AND state = 'parked';
      UPDATE hookproof.event SET state = 'leased', token = id, leased_until = now() - interval '1 min'
        WHERE digest = 'bulk' AND state = 'waiting';
      UPDATE hookproof.event SET state = 'delivered', token = NULL, leased_until = NULL, ended_at = now()
        WHERE digest = 'bulk' AND state = 'leased'`);
  }

  const put = async (name: string, key = "k0") => {
    const event = outboxEvent(name, { orderingKey: key });
    await store.enqueue([event]);
    return event.id;
  };
  const claimed = (worker = store) =>
    worker.claim({
      limit: 10,
      leaseMs: 60_000,
      listeners: new Map([["orders", { most: 10, windowMs: 1e9 }]]),
    });
  /** Claims until something is claimed, and delivers it; the ids in their order. */
  async function deliverNext(): Promise<string[]> {
    const some = await claimed();
    await store.markDelivered(some.map(({ lease }) => ({ lease, outcome: "delivered" }) as never));
    return some.map(({ event }) => event.id);
  }
  async function delivered(count: number): Promise<string[]> {
    const ids: string[] = [];
    await expect.poll(async () => ids.push(...(await deliverNext())), { interval: 50 }).toBe(count);
    return ids;
  }
  const floorOf = async (key = "k0") => {
    const { rows } = await query(`SELECT seq_from FROM hookproof.key_floor WHERE ordering_key = '${key}'`);
    return Number(rows[0]?.seq_from ?? 0);
  };
  const seqOf = async (id: string) =>
    Number((await query(`SELECT seq FROM hookproof.event WHERE id = '${id}'`)).rows[0]?.seq);

  const passing = [
    `SELECT set_config('hookproof.keys', '[{"listener":"orders","ordering_key":"k0","seq":1}]', true)`,
    "SELECT hookproof.pass_on()",
  ] as const;
  const claiming = `SELECT * FROM hookproof.claim('[{"place":0,"listener":"orders","most":10,"window_ms":1e9,"burst":1}]', 10, 60000, gen_random_uuid())`;

  it("what ends of a key, and what is claimed of it, reads no more the more of it was delivered", async () => {
    await deliver(3_000);
    expect(await held.blocks(passing[1], passing[0])).toBeGreaterThan(3_000);
    const once = { pass: 0, claim: 0 };
    for (let round = 1; round <= 5; round++) {
      await put("x");
      await delivered(1);
      await put("y");
      await store.due(undefined, 10); // gives it its place
      const pass = await held.blocks(passing[1], passing[0]);
      const claim = await held.blocks(claiming);
      if (round === 1) Object.assign(once, { pass, claim });
      expect(pass).toBeLessThan(100);
      expect(claim).toBeLessThan(2 * once.claim + 50);
      await delivered(1);
      await deliver(3_000);
    }
  });

  const isOfAll = (look: string) => look.split("-infinity").length === 4;

  it("looks for what is to be settled begin where the last one ended, and go over all now and then", async () => {
    await deliver(20_000, 1_000);
    await query(`
      INSERT INTO hookproof.event (id, listener, state, digest, due_at)
        SELECT gen_random_uuid(), 'orders', 'later', 'for later', now() - interval '1 min' FROM generate_series(1, 20000);
      DELETE FROM hookproof.event WHERE digest = 'for later'`);
    const asked = held.asked(/FROM "[^"]+"\.unsettled\([^;]*\) u/g);
    for (let round = 0; round < 12; round++) await claimed();
    vi.restoreAllMocks();
    const narrow = asked.filter((look) => !isOfAll(look) && !look.includes("-infinity"));
    const all = asked.filter(isOfAll);
    expect(all.length).toBeGreaterThan(0);
    expect(narrow.length).toBeGreaterThan(0);
    expect(await held.blocks(`SELECT * ${all[0]}`)).toBeGreaterThan(1_000);
    expect(await held.blocks(`SELECT * ${narrow.at(-1)}`)).toBeLessThan(50);
    // What was given back stands before: a look over all finds it.
    const id = await put("x");
    await query(`UPDATE hookproof.event SET enqueued_at = now() - interval '1 h' WHERE id = '${id}'`);
    expect(await delivered(1)).toEqual([id]);
  });

  it("an event whose transaction commits late comes before those that were enqueued after its commit", async () => {
    await deliver(30_000, 1_000);
    for (let round = 0; round < 3; round++) await claimed(); // the first one looks over all, and not again for seconds
    const client = await held.outbox.pool.connect();
    await client.query("BEGIN");
    const late = outboxEvent("late", { orderingKey: "k0" });
    await store.enqueue([late], client);
    await deliver(2_000);
    await put("x");
    await delivered(1);
    for (let round = 0; round < 24; round++) {
      await claimed();
      await new Promise((resolve) => setTimeout(resolve, 100)); // longer than an event may be stored before its transaction's number
    }
    await client.query("COMMIT");
    client.release();
    expect(await floorOf()).toBeGreaterThan(30_000); // claims do not see the late one below it
    const after = await put("after");
    expect(await delivered(2)).toEqual([late.id, after]);
  });

  it("an event that commits late below its key's floor lowers it, and comes next", async () => {
    const client = await held.outbox.pool.connect();
    await client.query("BEGIN");
    const late = outboxEvent("late", { orderingKey: "k0" });
    await store.enqueue([late], client);
    await deliver(3_000);
    await put("x");
    await delivered(1);
    expect(await floorOf()).toBeGreaterThan(3_000);
    const head = await put("head");
    await store.due(undefined, 10); // it waits
    await client.query("COMMIT");
    client.release();
    const last = await put("last");
    await store.due(undefined, 10);
    expect(await floorOf()).toBe(await seqOf(late.id));
    expect(await delivered(3)).toEqual([late.id, head, last]);
  });

  it("an event that is redriven to its old place below the floor comes before the one that waits", async () => {
    const dead = await put("dead");
    const [one] = await claimed();
    const attempt = { number: 1, startedAt: 0, durationMs: 1 };
    await store.fail(one?.lease ?? expect.fail("not claimed"), {
      ...{ reason: "refused", code: "X", attempt, blocksKey: false },
    } as never);
    await deliver(3_000);
    await put("x");
    await delivered(1);
    const head = await put("head");
    await store.due(undefined, 10);
    expect(await seqOf(dead)).toBeLessThan(await floorOf());
    await store.redrive({}, 1e9, { place: "kept" });
    expect(await floorOf()).toBe(await seqOf(dead));
    expect((await claimed()).map(({ event }) => event.id)).toEqual([dead]);
    expect(await seqOf(head)).toBeGreaterThan(await seqOf(dead));
  });

  it("a dead letter that blocks its key below everything is where its floor stays", async () => {
    const dead = await put("dead");
    const [one] = await claimed();
    const attempt = { number: 1, startedAt: 0, durationMs: 1 };
    await store.fail(one?.lease ?? expect.fail("not claimed"), {
      ...{ reason: "refused", code: "X", attempt, blocksKey: true },
    } as never);
    await deliver(3_000);
    await put("behind");
    await store.due(undefined, 10);
    await held.query(`BEGIN; ${passing.join("; ")}; COMMIT`);
    expect(await floorOf()).toBe(await seqOf(dead));
    expect(await claimed()).toEqual([]);
    expect(await store.pending({}, 10)).toMatchObject([{ waitsBehind: { id: dead } }]);
  });

  it("floors are forgotten, and nothing is written at rest", async () => {
    await put("at rest");
    await delivered(1);
    await deliver(300);
    await put("a few");
    await delivered(1);
    expect((await query("SELECT FROM hookproof.key_floor")).rows).toEqual([]);
    await deliver(3_000);
    await put("many");
    await delivered(1);
    expect(await floorOf()).toBeGreaterThan(3_000);
    await store.prune({ delivered: 0, dead: 0 });
    expect(await floorOf()).toBeGreaterThan(3_000);
    await held.outbox.subject.passTime?.(11 * 60_000);
    await store.prune({ delivered: 0, dead: 0 });
    expect((await query("SELECT FROM hookproof.key_floor")).rows).toEqual([]);
  });

  it("many workers and transactions of all lengths keep the order of commits of each key", async () => {
    const workers = [store, held.outbox.store(), held.outbox.store()];
    const committed = new Map<string, string[]>();
    let count = 0;
    let isOver = false;
    /** One producer for each key at a time: its commits have an order. */
    async function produce(key: string, holdMs: number) {
      for (let n = 0; n < 20; n++) {
        const client = await held.outbox.pool.connect();
        await client.query("BEGIN");
        const event = outboxEvent(`${key} ${n}`, { orderingKey: key });
        await store.enqueue([event], client);
        await client.query(`SELECT pg_sleep(${holdMs / 1_000})`);
        await client.query(n % 9 === 8 ? "ROLLBACK" : "COMMIT");
        client.release();
        if (n % 9 !== 8) committed.set(key, [...(committed.get(key) ?? []), event.id]);
      }
    }
    const work = async (worker: typeof store, index: number) => {
      for (let n = 0; !isOver; n++) {
        for (const { lease } of await claimed(worker))
          if ((n + index) % 7 === 0) await worker.release([lease]);
          else if ((await worker.markDelivered([{ lease, outcome: "delivered" } as never])) === 1) count++;
        if (n % 20 === index) await deliver(3_000, 3);
      }
    };
    const working = workers.map(work);
    await Promise.all(["k0", "k1", "k2"].map((key, index) => produce(key, [0, 20, 150][index] ?? 0)));
    const all = [...committed.values()].flat().length;
    await expect.poll(() => count).toBe(all);
    isOver = true;
    await Promise.all(working);
    // By the server's times: what it has answered to two connections may arrive the other way round.
    const own = [...committed.values()].flat().map((id) => `'${id}'`);
    const { rows } = await query(`SELECT ordering_key AS key, array_agg(id::text ORDER BY ended_at) AS ids
      FROM hookproof.event WHERE state = 'delivered' AND id IN (${own}) GROUP BY ordering_key`);
    expect(new Map(rows.map(({ key, ids }) => [key, ids]))).toEqual(committed);
    expect((await query("SELECT FROM hookproof.key_floor")).rows.length).toBeGreaterThan(0);
  });
});
