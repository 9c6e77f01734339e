// What claims and looks read in tables whose dead rows no vacuum removes, because a transaction holds its snapshot.
import { afterAll, afterEach, beforeEach, expect, it, vi } from "vitest";
import { describeWith } from "../../kit/needs.js";
import { outboxEvent } from "../../kit/outbox-event.js";
import { testPostgres } from "../../kit/postgres.js";
import { type HeldOutbox, heldOutbox } from "./held-outbox.js";

const postgres = await testPostgres();
afterAll(() => postgres?.stop());

describeWith("postgresql", postgres)("while a snapshot is held", () => {
  let held: HeldOutbox;
  let outbox: HeldOutbox["outbox"];
  let store: HeldOutbox["store"];
  beforeEach(async () => {
    held = await heldOutbox(postgres?.url ?? "");
    ({ outbox, store } = held);
  });
  afterEach(() => held.drop());

  const query = (sql: string) => held.query(sql);
  const blocks = (sql: string) => held.blocks(sql);

  /** Leaves what so many delivered events of a listener leave. */
  async function deliver(count: number, listener = "orders", leaseEnded = "1 s") {
    await query(`
      INSERT INTO hookproof.event (id, listener, state, digest, due_at)
        SELECT gen_random_uuid(), '${listener}', 'waiting', 'bulk', now() - interval '1 min' FROM generate_series(1, ${count});
      UPDATE hookproof.event SET state = 'leased', token = id, leased_until = now() - interval '${leaseEnded}'
        WHERE digest = 'bulk' AND state = 'waiting';
      UPDATE hookproof.event SET state = 'delivered', token = NULL, leased_until = NULL, ended_at = now()
        WHERE digest = 'bulk' AND state = 'leased'`);
  }

  const claiming = (more: object = {}) => {
    const wanted = { place: 0, listener: "orders", most: 10, window_ms: 1e9, burst: 1, ...more };
    return `SELECT * FROM hookproof.claim('${JSON.stringify([wanted])}', 10, 60000, gen_random_uuid())`;
  };

  it("a claim goes over what was delivered once and once more to note it, and counts leases only where a limit is set", async () => {
    const put = () => store.enqueue(Array.from({ length: 20 }, () => outboxEvent("x")));
    await put();
    const before = await blocks(claiming());
    await deliver(20_000);
    const once = await blocks(
      "SELECT due_at FROM hookproof.event WHERE listener = 'orders' AND state = 'waiting' ORDER BY due_at LIMIT 1",
    );
    expect(once).toBeGreaterThan(400);
    expect((await blocks(claiming())) - before).toBeLessThan(2.5 * once);
    // Leases that have run out are not counted, dead ones of them not read.
    expect((await blocks(claiming({ concurrency: 5 }))) - before).toBeLessThan(2.5 * once + 50);
  });

  /** Leaves what a hundred delivered events of each of sixty listeners leave; the claim of all of them. */
  async function deliverOfMany(): Promise<string> {
    await query(`INSERT INTO hookproof.event (id, listener, state, digest, due_at)
        SELECT gen_random_uuid(), 'listener ' || n % 60, 'waiting', 'bulk', now() - interval '1 min'
        FROM generate_series(1, 6000) n;
      DELETE FROM hookproof.event WHERE digest = 'bulk'`);
    const wanted = Array.from({ length: 60 }, (_, place) => {
      return { place, listener: `listener ${place}`, most: 10, window_ms: 1e9, burst: 1 };
    });
    return `SELECT * FROM hookproof.claim('${JSON.stringify(wanted)}', 10, 60000, gen_random_uuid())`;
  }

  it("a claim of many listeners notes each whose walk is long where all of them together are", async () => {
    const claim = await deliverOfMany();
    expect(await blocks(claim)).toBeGreaterThan(4_000);
    await query(claim);
    expect(await blocks(claim)).toBeLessThan(500);
  });

  it("where there are a thousand floors, only a listener that is slow by itself gets one", async () => {
    const claim = await deliverOfMany();
    await query(`INSERT INTO hookproof.floor (listener, due_from, bounds, looked_to, look_at, noted_at)
      SELECT 'old ' || n, now() - interval '1 h', '{}', now(), now(), now() FROM generate_series(1, 1000) n`);
    await query(claim);
    expect(await floors()).toHaveLength(1_000);
    await withFloor();
  });

  it("the look for leases that have run out reads none that runs", async () => {
    const before = await blocks("SELECT hookproof.unsettled('-infinity', '-infinity', '-infinity')");
    await query(`INSERT INTO hookproof.event (id, listener, state, digest, token, leased_until)
      SELECT gen_random_uuid(), 'orders', 'leased', '', gen_random_uuid(), now() + interval '1 h' FROM generate_series(1, 20000)`);
    expect(
      (await blocks("SELECT hookproof.unsettled('-infinity', '-infinity', '-infinity')")) - before,
    ).toBeLessThan(20);
  });

  /** Claims by the store; the ids, in their order. */
  async function claimed(limit = 100, worker = store) {
    const listeners = new Map(["orders", "other"].map((name) => [name, { most: 50, windowMs: 1e9 }]));
    return worker.claim({ limit, leaseMs: 60_000, listeners });
  }
  const ids = async (limit?: number, worker = store) =>
    (await claimed(limit, worker)).map(({ event }) => event.id);
  const floors = async () =>
    (
      await query(
        "SELECT listener, due_from FROM hookproof.floor WHERE due_from > '-infinity' ORDER BY listener",
      )
    ).rows as {
      listener: string;
      due_from: Date;
    }[];
  /** A claim over so many dead entries that it notes a floor. */
  async function withFloor(listener = "orders") {
    await deliver(20_000, listener);
    await claimed();
    expect(await floors()).toContainEqual({ listener, due_from: expect.any(Date) });
  }
  /** The look below is due now. */
  const lookNow = () => query("UPDATE hookproof.floor SET look_at = now() WHERE look_at < 'infinity'");
  const put = async (name: string, more: object = {}) => {
    const event = outboxEvent(name, more);
    await store.enqueue([event]);
    return event.id;
  };
  /** Makes an event as old as if a transaction of an hour ago had stored it. */
  const long = (id: string) =>
    query(`UPDATE hookproof.event SET due_at = due_at - interval '1 h' WHERE id = '${id}'`);

  /** Leaves what makes a claim note a floor, and gives it an event to note. */
  const piece = async (minutesAgo: number) => {
    await query(`INSERT INTO hookproof.event (id, listener, state, digest, due_at)
        SELECT gen_random_uuid(), 'orders', 'waiting', 'bulk', now() - interval '${minutesAgo + 0.5} min'
        FROM generate_series(1, 24000);
      DELETE FROM hookproof.event WHERE digest = 'bulk'`);
    const id = await put("x");
    await query(
      `UPDATE hookproof.event SET due_at = now() - interval '${minutesAgo} min' WHERE id = '${id}'`,
    );
    const [one] = await claimed();
    await store.markDelivered([{ lease: one?.lease, outcome: "delivered" }] as never);
  };
  const bounds = async () =>
    (await query("SELECT cardinality(bounds) AS count FROM hookproof.floor")).rows[0].count;

  it("claims and looks go on from the floor, whose cost does not grow with what was delivered", async () => {
    await withFloor();
    await put("x");
    const one = [await blocks(claiming()), await blocks("SELECT hookproof.unsettled(now(), now(), now())")];
    await deliver(40_000);
    await claimed();
    await put("x");
    const three = [await blocks(claiming()), await blocks("SELECT hookproof.unsettled(now(), now(), now())")];
    for (const [index, read] of three.entries()) expect(read).toBeLessThan(2 * (one[index] ?? 0) + 30);
    expect(three[0]).toBeLessThan(250);
    expect((await store.due(undefined, 10)).listeners.map(({ listener }) => listener)).toEqual(["orders"]);
  });

  /** The statement by which a worker's `stats()` counts. */
  async function counting(): Promise<string> {
    const asked: string[] = [];
    const client = await outbox.pool.connect();
    const query = client.query.bind(client);
    vi.spyOn(client, "query").mockImplementation(((text: string) => {
      asked.push(text);
      return query(text);
    }) as never);
    client.release(); // it is the next one that the pool gives
    await store.stats();
    vi.restoreAllMocks();
    const texts = asked.flatMap((text) => text.split(";\n")).filter((text) => text.includes("oldest_age"));
    expect(texts).toHaveLength(1);
    return texts.join();
  }
  const ageOf = async () =>
    (await store.stats()).find(({ listener }) => listener === "orders")?.oldestAgeMs ?? Number.NaN;

  it("stats() of a worker reads no more the more was delivered, and misses no event that waits", async () => {
    await withFloor();
    await put("x");
    const one = await blocks(await counting());
    for (let round = 0; round < 3; round++) {
      await deliver(20_000, "orders", "1 min");
      await claimed();
    }
    await put("x");
    expect(await blocks(await counting())).toBeLessThan(2 * one + 100);
    // Committed late: below the floor, where the next look finds it.
    const id = await put("late");
    await query(`UPDATE hookproof.event SET ready_at = ready_at - interval '1 h' WHERE id = '${id}'`);
    await long(id);
    await lookNow();
    await query("UPDATE hookproof.floor SET look_at = now() - interval '61 s' WHERE look_at < 'infinity'");
    expect(await ageOf()).toBeGreaterThan(3_500_000); // no worker looks
    await query("UPDATE hookproof.floor SET look_at = now() + interval '4 min' WHERE look_at < 'infinity'");
    expect(await ageOf()).toBeGreaterThan(3_500_000); // a look has failed
    await lookNow();
    expect(await ageOf()).toBeLessThan(60_000);
    await query("SELECT hookproof.look_below()");
    expect(await ageOf()).toBeGreaterThan(3_500_000);
  });

  it("a lease that has run out is in the age, whoever asks", async () => {
    const id = await put("x");
    const [one] = await claimed();
    expect(one?.event.id).toBe(id);
    const late = (leased: string) =>
      query(
        `UPDATE hookproof.event SET ready_at = now() - interval '1 h', leased_until = ${leased} WHERE id = '${id}'`,
      );
    await claimed(); // has seen that none has run out
    await late("now() - interval '1 s'");
    expect(await ageOf()).toBeGreaterThan(3_500_000);
    await late("now() - interval '1 h'");
    const another = outbox.store();
    expect((await another.stats())[0]?.oldestAgeMs).toBeGreaterThan(3_500_000);
  });

  it("an event whose transaction commits late, below the floor, is found by the next look below", async () => {
    await withFloor();
    const client = await outbox.pool.connect();
    await client.query("BEGIN");
    const event = outboxEvent("late");
    await store.enqueue([event], client);
    await client.query(`UPDATE ${outbox.schema}.event SET due_at = due_at - interval '1 h' WHERE id = $1`, [
      event.id,
    ]);
    await lookNow();
    await claimed(); // sees that a look is due
    await claimed(); // looks, and finds nothing yet
    await client.query("COMMIT");
    client.release();
    expect(await ids()).toEqual([]);
    await lookNow();
    await claimed();
    expect(await ids()).toEqual([event.id]);
  });

  it("and by a look for due listeners, where nothing is claimed as none is due", async () => {
    await withFloor();
    await long(await put("late"));
    await lookNow();
    expect((await store.due(undefined, 10)).listeners).toEqual([]);
    expect((await store.due(undefined, 10)).listeners).toMatchObject([{ listener: "orders" }]);
  });

  it("a look below goes on from piece to piece, and none reads more the more was delivered", async () => {
    const look = async () => {
      await lookNow();
      return blocks("SELECT hookproof.look_below()");
    };
    for (let n = 30; n > 20; n--) await piece(n);
    const some = await look();
    for (let n = 20; n > 5; n--) await piece(n);
    expect(await bounds()).toBe(24);
    const most = await look();
    expect(some).toBeGreaterThan(2_000);
    expect(most).toBeLessThan(2 * some); // all 25 pieces would be 2.5 times the ten
    const late: string[] = [];
    for (const minutes of [15.2, 22.2, 29.2, 1e6]) {
      late.push(await put("late"));
      await query(
        `UPDATE hookproof.event SET due_at = now() - interval '${minutes} min' WHERE id = '${late.at(-1)}'`,
      );
    }
    const found: string[] = [];
    let looks = 0;
    for (; found.length < late.length && looks < 20; looks++) {
      await lookNow();
      found.push(...(await ids()));
    }
    expect(found.sort()).toEqual(late.sort());
    expect(looks).toBeGreaterThan(3);
  });

  it("thousands that were committed late are all found", async () => {
    await withFloor();
    await query(`INSERT INTO hookproof.event (id, listener, state, digest, due_at)
      SELECT gen_random_uuid(), 'orders', 'waiting', '', now() - interval '1 h' FROM generate_series(1, 2500)`);
    const found = new Set<string>();
    for (let round = 0; found.size < 2_500 && round < 80; round++) {
      await lookNow();
      const some = await claimed();
      for (const { event } of some) found.add(event.id);
      const { rows } = await query("SELECT FROM hookproof.floor WHERE looked_to > due_from");
      expect(rows).toEqual([]); // or it would find what it has just moved
      await store.markDelivered(some.map(({ lease }) => ({ lease, outcome: "delivered" })) as never);
    }
    expect(found.size).toBe(2_500);
    await lookNow();
    expect(await ids()).toEqual([]);
  });

  it("the real clock brings the look below by itself, and a worker that ends in it leaves it to the others", async () => {
    await withFloor();
    const client = await outbox.pool.connect();
    await client.query("BEGIN");
    await lookNow();
    await client.query(`SELECT ${outbox.schema}.look_below()`);
    await long(await put("late"));
    const found: string[] = [];
    await claimed();
    found.push(...(await ids()));
    expect(found).toEqual([]); // the first one holds the row; claims do not wait for it
    await client.query("ROLLBACK");
    client.release();
    await expect.poll(async () => found.push(...(await ids())), { interval: 200 }).toBe(1);
  });

  it("a look below that fails is put off, and claims go on without it", async () => {
    await withFloor();
    await query(`CREATE OR REPLACE FUNCTION hookproof.look_below() RETURNS void LANGUAGE plpgsql AS $$
      BEGIN RAISE query_canceled; END $$`);
    await lookNow();
    await claimed(); // sees that a look is due
    const given = await put("x");
    expect(await ids()).toEqual([given]);
    const { rows } = await query("SELECT look_at > now() + interval '4 min' AS late FROM hookproof.floor");
    expect(rows).toEqual([{ late: true }]);
  });

  it("an event that comes back stands at the floor: released, run out, tried again, put off, redriven", async () => {
    await deliver(20_000);
    const given = [await put("release"), await put("lease"), await put("again"), await put("failed")];
    for (const id of given) await long(id);
    const held = new Map((await claimed()).map((one) => [one.event.id, one]));
    expect(held.size).toBe(4);
    await deliver(20_000);
    await claimed();
    const lease = (index: number) => held.get(given[index] ?? "")?.lease ?? expect.fail("not claimed");
    const attempt = { number: 1, startedAt: 0, durationMs: 1 };
    await store.release([lease(0)]);
    expect(await ids()).toEqual([given[0]]);
    await query(`UPDATE hookproof.event SET leased_until = now() - interval '1 s' WHERE id = '${given[1]}'`);
    await store.expire(new Map());
    expect(await ids()).toEqual([given[1]]);
    await store.reschedule(lease(2), 0, attempt);
    expect(await ids()).toEqual([given[2]]);
    await store.fail(lease(3), { reason: "rejected", code: "X", attempt, blocksKey: false } as never);
    await store.redrive({}, 1e9);
    expect(await ids()).toEqual([given[3]]);
    const later = await put("later");
    await query(
      `UPDATE hookproof.event SET state = 'later', due_at = due_at - interval '2 h' WHERE id = '${later}'`,
    );
    // A look over all finds what has been ripe for so long, and comes within a second here.
    const ripe: string[] = [];
    await expect.poll(async () => ripe.push(...(await ids()))).toBe(1);
    expect(ripe).toEqual([later]);
  });

  it("keys pass on to events of long ago, and a pause brings its events back", async () => {
    await withFloor();
    await withFloor("other");
    expect(await floors()).toHaveLength(2);
    const paused = await put("paused", { listener: "other" });
    await store.pause("other", "");
    await store.due(undefined, 10); // puts it aside
    await long(paused);
    await store.resume("other");
    const key = [];
    for (const name of ["one", "two", "three"]) {
      key.push(await put(name, { orderingKey: "k" }));
      await long(key.at(-1) ?? "");
    }
    const order: string[] = [];
    for (let round = 0; round < 8; round++)
      for (const { event, lease } of await claimed()) {
        order.push(event.id);
        await query("UPDATE hookproof.event SET due_at = due_at - interval '1 h' WHERE state = 'parked'");
        await store.markDelivered([{ lease, outcome: "delivered" } as never]);
      }
    expect(order.filter((id) => id !== paused)).toEqual(key);
    expect(order).toContain(paused);
  });

  it("a claim that began before a look found something does not raise the floor above it", async () => {
    await withFloor();
    await deliver(20_000);
    const first = await put("first");
    const holder = await outbox.pool.connect();
    const name = `hookproof ${outbox.schema} claim`;
    await holder.query(`BEGIN; SELECT pg_advisory_xact_lock(hashtext('${name}'), hashtext('orders') & 1023)`);
    const claim = ids(); // has gone over the entries, and waits for the listener
    const waits = "SELECT count(*)::int FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
    await expect.poll(async () => (await query(waits)).rows[0].count).toBe(1);
    const late = await put("late");
    await long(late);
    await query("UPDATE hookproof.floor SET due_from = due_from - interval '2 h'"); // as the look does
    await holder.query("COMMIT");
    holder.release();
    expect([...(await claim), ...(await ids())].sort()).toEqual([first, late].sort());
  });

  it("many workers and transactions of all lengths lose nothing and claim nothing twice", async () => {
    await withFloor();
    const workers = [outbox.store(), outbox.store(), outbox.store()];
    const given: string[] = [];
    const got: string[] = [];
    let isOver = false;
    async function produce(hold: number) {
      for (let n = 0; n < 25; n++) {
        const client = await outbox.pool.connect();
        await client.query("BEGIN");
        const event = outboxEvent(String(n), { listener: n % 2 ? "orders" : "other" });
        await store.enqueue([event], client);
        if (hold > 0)
          await client.query(
            `UPDATE ${outbox.schema}.event SET due_at = due_at - interval '${hold} s' WHERE id = $1`,
            [event.id],
          );
        await client.query(`SELECT pg_sleep(${hold / 1_000})`);
        await client.query(n % 9 === 8 ? "ROLLBACK" : "COMMIT");
        if (n % 9 !== 8) given.push(event.id);
        client.release();
      }
    }
    const work = async (worker: typeof store, index: number) => {
      for (let n = 0; !isOver; n++) {
        for (const { event, lease } of await claimed(5, worker))
          if ((n + index) % 7 === 0) await worker.release([lease]);
          else if ((await worker.markDelivered([{ lease, outcome: "delivered" } as never])) === 1)
            got.push(event.id);
        if (n % 10 === index) await deliver(2_000, index === 0 ? "none" : "none2");
      }
    };
    const working = workers.map(work);
    await Promise.all([produce(0), produce(3), produce(60)]);
    await expect.poll(() => got.length).toBe(given.length);
    isOver = true;
    await Promise.all(working);
    expect([...got].sort()).toEqual([...given].sort());
  });

  it("a round of prune goes on where its last page ended, and the next one begins with the first again", async () => {
    await query(`INSERT INTO hookproof.event (id, listener, state, digest, ended_at)
      SELECT gen_random_uuid(), 'orders', 'delivered', 'bulk', now() - g * interval '1 ms' FROM generate_series(1, 12000) g`);
    const asked = held.asked(/SELECT EXISTS \(SELECT o\.ctid[^;]*'delivered'[^;]*AS found/g);
    const prune = () => store.prune({ delivered: Date.now() + 60_000, dead: 0 });
    for (let page = 0; page < 12; page++) expect(await prune()).toBe(1_000);
    expect(await prune()).toBe(0);
    const id = await put("x");
    const [one] = await claimed();
    await store.markDelivered([{ lease: one?.lease, outcome: "delivered" } as never]);
    await query(`UPDATE hookproof.event SET ended_at = ended_at - interval '1 h' WHERE id = '${id}'`);
    expect(await prune()).toBe(1);
    vi.restoreAllMocks();
    expect(asked).toHaveLength(14);
    const all = await blocks(asked[0] ?? "");
    expect(all).toBeGreaterThan(200);
    expect(await blocks(asked[11] ?? "")).toBeLessThan(all / 4);
  });

  it("the floor is gone when the snapshot is, and nothing is written at rest", async () => {
    await put("x");
    await claimed();
    expect(await floors()).toEqual([]);
    await piece(20);
    await piece(10);
    expect(await bounds()).toBe(1);
    await query("UPDATE hookproof.floor SET noted_at = noted_at - interval '1 h'");
    const slowed = async () => (await store.stats()).find(({ listener }) => listener === "orders")?.slowedMs;
    expect(await slowed()).toBeGreaterThan(3_600_000);
    await held.end();
    await query("VACUUM hookproof.event");
    for (let round = 0; round < 6; round++) {
      await lookNow();
      await claimed();
    }
    expect(await floors()).toEqual([]);
    expect(await slowed()).toBeUndefined();
    const id = await put("long ago");
    await long(id);
    expect(await ids()).toEqual([id]);
    await store.prune({ delivered: 0, dead: 0 });
    expect((await query("SELECT FROM hookproof.floor")).rows).toEqual([]);
  });
});
