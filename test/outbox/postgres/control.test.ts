import type { PostgresPool } from "hookproof/outbox/postgres";
import type { ClaimedEvent, OutboxStore } from "hookproof/outbox/store";
import { afterAll, afterEach, beforeEach, expect, it } from "vitest";
import { describeWith, itWith } from "../../kit/needs.js";
import { outboxEvent } from "../../kit/outbox-event.js";
import { testPostgres } from "../../kit/postgres.js";
import { type TestOutbox, testOutbox, testOutboxBehindProxy } from "../../kit/postgres-outbox.js";

const postgres = await testPostgres();
afterAll(() => postgres?.stop());

const ATTEMPT = { number: 1, startedAt: 0, durationMs: 1 };

const claim = (store: OutboxStore, limit: number, ...listeners: string[]) =>
  store.claim({
    limit,
    leaseMs: 60_000,
    listeners: new Map(listeners.map((name) => [name, { most: limit, windowMs: 600_000 }])),
  });
const textOf = ({ event }: ClaimedEvent) =>
  (JSON.parse(String(Buffer.from(event.body))) as { text: string }).text;

/** The plan of a store's statement, run once more and undone; `start` is how the statement begins. */
async function planOf(outbox: TestOutbox, start: string, work: (store: OutboxStore) => Promise<unknown>) {
  const scripts: string[] = [];
  const pool: PostgresPool = {
    async connect() {
      const client = await outbox.pool.connect();
      const query = (text: string, values?: unknown[]) => {
        scripts.push(text);
        return client.query(text, values);
      };
      return { query, release: (error) => client.release(error) };
    },
  };
  await work(outbox.store({ pool }));
  const script =
    scripts.find((text) => text.includes(start)) ?? expect.fail(`no statement starts so: ${start}`);
  const explained = script.replace(start, () => `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${start}`);
  const explaining = explained.replace(/COMMIT$/, "ROLLBACK");
  const client = await outbox.pool.connect();
  await client.query(explaining); // the first time a connection also reads what its plans are made from
  const results = (await client.query(explaining)) as unknown as {
    command: string;
    rows: { "QUERY PLAN": [{ Plan: Record<string, number> }] }[];
  }[];
  client.release();
  const [row] = results.find(({ command }) => command === "EXPLAIN")?.rows ?? [];
  const plan = row?.["QUERY PLAN"][0].Plan ?? expect.fail("no plan");
  return {
    text: JSON.stringify(plan),
    blocks: (plan["Shared Hit Blocks"] ?? 0) + (plan["Shared Read Blocks"] ?? 0),
  };
}

describeWith("postgresql", postgres)("a postgresStore's control", () => {
  let outbox: TestOutbox;
  let store: OutboxStore;
  beforeEach(() => {
    outbox = testOutbox(postgres?.url ?? "");
    store = outbox.store() as OutboxStore;
  });
  afterEach(() => outbox.drop());

  it.each([2, 40])(
    "leaves paused and resting listeners out, also of another store and among %i",
    async (count) => {
      const names = Array.from({ length: count }, (_, n) => `listener ${n}`);
      const elsewhere = outbox.store() as OutboxStore;
      const taken = async () => {
        const claimed = await claim(elsewhere, 100, ...names);
        await elsewhere.release(claimed.map(({ lease }) => lease));
        return claimed.length;
      };
      await store.enqueue(names.map((listener) => outboxEvent("one", { listener })));
      expect(await taken()).toBe(count);
      await store.pause("listener 0", "it's \\ 'so' \" 🦉 $1 ;");
      expect(await taken()).toBe(count - 1);
      expect((await elsewhere.stats())[0]?.paused?.reason).toBe("it's \\ 'so' \" 🦉 $1 ;");
      await store.rest("listener 1", 60_000);
      expect(await taken()).toBe(count - 2);
      await elsewhere.resume("listener 0");
      await outbox.subject.passTime(60_001);
      expect(await taken()).toBe(count);
    },
  );

  it("passes no listener in a look whose events are for later, and hands them out when their time has come", async () => {
    const later = Date.now() + 3_600_000;
    const names = Array.from({ length: 1_100 }, (_, n) => `a${n}`);
    await store.enqueue(names.map((listener) => outboxEvent(listener, { listener, deliverAt: later })));
    await store.enqueue([outboxEvent("now", { listener: "z" })]);
    expect(await store.due(undefined, 10)).toEqual({
      listeners: [{ listener: "z", changedAt: undefined }],
      next: undefined,
    });
    expect(await store.pending({ listener: "a7" }, 10)).toHaveLength(1);
    // Their time comes: of one by a look, of another one by a claim that asks for it.
    const comes = (name: string) =>
      outbox.pool.query(`UPDATE ${outbox.schema}.event SET due_at = now() WHERE listener = $1`, [name]);
    await comes("a7");
    const { listeners } = await store.due(undefined, 10);
    expect(listeners.map(({ listener }) => listener)).toEqual(["a7", "z"]);
    await comes("a8");
    expect((await claim(store, 10, "a7", "a8", "a9")).map(textOf)).toEqual(["a7", "a8"]);
    expect(await store.cancel({ listener: "a9" })).toEqual({ cancelled: 1, tooLate: 0 });
  });

  it("keeps an event that is tried much later for then, and its age", async () => {
    await store.enqueue([outboxEvent("one", { listener: "a" })]);
    const [first] = await claim(store, 1, "a");
    const { lease, now } = first ?? expect.fail("nothing was claimed");
    await store.reschedule(lease, now + 3_600_000, ATTEMPT);
    const state = async () => {
      const { rows } = await outbox.pool.query(`SELECT state FROM ${outbox.schema}.event`);
      return rows;
    };
    expect(await state()).toEqual([{ state: "later" }]);
    expect(await claim(store, 1, "a")).toEqual([]);
    const [stats] = await store.stats();
    expect(stats).toMatchObject({ listener: "a", pending: 1, inFlight: 0 });
    expect(stats?.oldestAgeMs).toBeGreaterThan(0);
    expect(await store.cancel({ listener: "a" })).toEqual({ cancelled: 0, tooLate: 1 });
    await outbox.pool.query(`UPDATE ${outbox.schema}.event SET due_at = now()`);
    expect(await claim(store, 1, "a")).toMatchObject([{ attempt: 2 }]);
  });

  it("finds the wanted listeners among more others than it wants", async () => {
    const wanted = Array.from({ length: 20 }, (_, n) => `wanted ${n}`);
    const others = Array.from({ length: 50 }, (_, n) => `other ${n}`);
    await store.enqueue([...others, ...wanted.slice(5)].map((listener) => outboxEvent("one", { listener })));
    const claimed = await claim(store, 100, ...wanted);
    expect(claimed.map(({ event }) => event.listener)).toEqual(wanted.slice(5));
  });

  it("reads hardly more for a claim and a look where 100,000 paused listeners have an event each", async () => {
    const names = Array.from({ length: 20 }, (_, n) => `listener ${n}`);
    const blocks = async () => {
      const claimed = await planOf(outbox, "SELECT * FROM", async (planned) => {
        const events = await claim(planned, 20, ...names);
        await planned.release(events.map(({ lease }) => lease));
        expect(events).toHaveLength(20);
      });
      const looked = await planOf(outbox, "WITH RECURSIVE steps", async (planned) => {
        const found = await planned.due(undefined, 100);
        expect(found.listeners.map(({ listener }) => listener).sort()).toEqual([...names].sort());
        expect(found.next).toBeUndefined();
      });
      return [claimed.blocks, looked.blocks];
    };
    const events = Array.from({ length: 400 }, (_, n) =>
      outboxEvent("one", { listener: `listener ${n % 20}` }),
    );
    await store.enqueue(events);
    const before = await blocks();
    await outbox.pool.query(`
      INSERT INTO ${outbox.schema}.event (id, listener, state, digest)
        SELECT gen_random_uuid(), 'held ' || n, 'waiting', '' FROM generate_series(1, 100000) n;
      INSERT INTO ${outbox.schema}.listener (name, paused_at) SELECT 'held ' || n, now() FROM generate_series(1, 100000) n`);
    for (let next: string | undefined, looks = 0; looks === 0 || next !== undefined; looks++)
      next = (await store.due(next, 1_000)).next;
    await outbox.pool.query(`VACUUM ${outbox.schema}.event`);
    const after = await blocks();
    for (const [index, read] of after.entries()) expect(read).toBeLessThan(2 * (before[index] ?? 0));
    await store.resume("held 7");
    expect(await claim(store, 10, "held 7")).toHaveLength(1);
  });

  /**
   * PostgreSQL keeps a function's plan until it looks at the table again, which may be a minute later. `store` is called
   * as it is, and the others in transactions with settings.
   */
  it.each([
    [
      "store",
      `SELECT {}.store('[{"id":"0b0f2b3e-0000-4000-8000-000000000000","listener":"a","digest":""}]', 'e30=')`,
    ],
    ["unsettled", "SELECT * FROM {}.unsettled('-infinity', '-infinity', '-infinity')"],
    ["claim", `SELECT {}.claim('[{"place":0,"listener":"a","most":5}]', 5, 1000, gen_random_uuid())`],
  ])("a plan of %s that was made for two rows reads as little among many", async (name, text) => {
    await store.stats(); // makes the tables
    const call = text.replace("{}", outbox.schema);
    const clients = [await outbox.pool.connect(), await outbox.pool.connect()] as const;
    const blocks = async (client: (typeof clients)[number]) => {
      const settings = "SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off";
      await client.query(`BEGIN; ${name === "store" ? "" : settings}`);
      await client.query(call); // reads what plans are made from
      const { rows } = await client.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${call}`);
      await client.query("ROLLBACK");
      const { Plan: plan } = rows[0]["QUERY PLAN"][0];
      return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"];
    };
    const fill = (count: number) =>
      outbox.pool.query(`INSERT INTO ${outbox.schema}.event (id, listener, state, digest, ended_at)
        SELECT gen_random_uuid(), 'a', s, '', CASE s WHEN 'delivered' THEN now() END
        FROM generate_series(1, ${count}), unnest(ARRAY['waiting', 'delivered']) s`);
    await fill(1);
    await outbox.pool.query(`ALTER TABLE ${outbox.schema}.event SET (autovacuum_enabled = off)`);
    await outbox.pool.query(`VACUUM ANALYZE ${outbox.schema}.event`);
    await blocks(clients[0]);
    await fill(20_000);
    const [old, fresh] = [await blocks(clients[0]), await blocks(clients[1])];
    for (const client of clients) client.release();
    expect(fresh).toBeLessThan(300);
    expect(old).toBeLessThan(2 * fresh + 20);
  });

  it("forgets listeners that are neither paused nor resting", async () => {
    for (const name of ["paused", "resumed"]) await store.pause(name);
    await store.resume("resumed");
    for (const name of ["rested", "rests", "paused"]) await store.rest(name, 1_000);
    await store.rest("rests", 60_000);
    await outbox.subject.passTime(2_000);
    await store.prune({ delivered: 0, dead: 0 });
    const { rows } = await outbox.pool.query(`SELECT name FROM ${outbox.schema}.listener ORDER BY name`);
    expect(rows).toEqual([{ name: "paused" }, { name: "rests" }]);
  });

  it.each(["resume", "cancel"] as const)("tells other processes of a %s", async (change) => {
    let told = 0;
    const stop = store.onWork?.(() => told++);
    const listens = `SELECT FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND query LIKE '%' || $1 || '%'`;
    await expect.poll(async () => (await outbox.pool.query(listens, [outbox.schema])).rowCount).toBe(1);
    const other = outbox.store();
    await (change === "resume" ? other.resume("orders") : other.cancel({ listener: "orders" }));
    await expect.poll(() => told).toBe(1);
    stop?.();
    await store.close();
  });

  it("cancels keyed events in each state they can be in, and passes the key on", async () => {
    const [first, second, third, fourth] = ["1", "2", "3", "4"].map((text) =>
      outboxEvent(text, { orderingKey: "k" }),
    ) as [Event, Event, Event, Event];
    const states = async () => {
      const { rows } = await outbox.pool.query(`SELECT state FROM ${outbox.schema}.event ORDER BY seq`);
      return rows.map(({ state }) => state).join();
    };
    const cancel = (...events: Event[]) => store.cancel({ ids: events.map(({ id }) => id) });
    const settle = async () => {
      for (let n = 0; n < 2; n++) await claim(store, 1, "nobody");
    };
    await store.enqueue([first, second, third]);
    await settle();
    expect(await states()).toBe("waiting,parked,parked");
    await store.enqueue([fourth]);
    expect(await cancel(second, fourth)).toEqual({ cancelled: 2, tooLate: 0 });
    expect(await states()).toBe("waiting,cancelled,parked,cancelled");
    expect(await cancel(first)).toEqual({ cancelled: 1, tooLate: 0 });
    expect(await states()).toBe("cancelled,cancelled,waiting,cancelled");
    expect((await claim(store, 10, "orders")).map(textOf)).toEqual(["3"]);
    const { rows } = await outbox.pool.query(
      `SELECT DISTINCT body FROM ${outbox.schema}.event WHERE ended_at IS NOT NULL`,
    );
    expect(rows).toEqual([{ body: null }]);
  });

  it("cancels page after page among events that were tried, and counts those", async () => {
    const put = (count: number, key?: (n: number) => string) =>
      store.enqueue(Array.from({ length: count }, (_, n) => outboxEvent("one", { orderingKey: key?.(n) })));
    await put(300);
    const tried = await claim(store, 300, "orders");
    await Promise.all(
      tried.slice(20).map(({ lease, now }) => store.reschedule(lease, now - 60_000, ATTEMPT)),
    );
    await put(1_100);
    await put(1_100, (n) => `key ${n % 7}`);
    await claim(store, 1, "nobody");
    await store.enqueue([outboxEvent("elsewhere", { listener: "bills" })]);
    expect(await store.cancel({ listener: "orders" })).toEqual({ cancelled: 2_200, tooLate: 300 });
    expect(await store.stats()).toMatchObject([
      { listener: "bills", pending: 1 },
      { listener: "orders", pending: 280, inFlight: 20, delivered: 0, dead: 0 },
    ]);
    expect(await store.cancel({})).toEqual({ cancelled: 1, tooLate: 300 });
  });

  it("cancels what is cancelled by many ids, of which some are none", async () => {
    const events = Array.from({ length: 1_203 }, (_, n) => outboxEvent(String(n)));
    await store.enqueue(events);
    const ids = events.map(({ id }) => id);
    const given = [...ids, ...ids, "nonsense", "'}'", outboxEvent("unknown").id];
    expect(await store.cancel({ ids: given })).toEqual({ cancelled: 1_203, tooLate: 0 });
    expect(await store.cancel({ ids: ["nonsense"] })).toEqual({ cancelled: 0, tooLate: 0 });
    expect(await store.pending({ ids: ["nonsense"] }, 10)).toEqual([]);
  });

  it("lists what waits without a look at what has ended", async () => {
    await store.enqueue(Array.from({ length: 3_000 }, () => outboxEvent("ended")));
    await outbox.pool.query(`UPDATE ${outbox.schema}.event SET state = 'delivered', ended_at = now()`);
    const waits = Array.from({ length: 30 }, () => outboxEvent("waits"));
    await store.enqueue(waits);
    for (const filter of [{}, { listener: "orders" }]) {
      const { text } = await planOf(
        outbox,
        "SELECT e.listener, (SELECT json_build_object",
        async (planned) => {
          const listed = await planned.pending(filter, 10);
          expect(listed.map(({ id }) => id)).toEqual(waits.slice(0, 10).map(({ id }) => id));
        },
      );
      expect(text).toContain("event_due");
      expect(text).not.toMatch(/Seq Scan|event_pkey|"Rows Removed by Filter":[1-9]/);
    }
  });
});

type Event = ReturnType<typeof outboxEvent>;

itWith("postgresql", postgres).each(["read committed", "serializable"])(
  "an event is either claimed or cancelled where both are tried at once, and the default is %s",
  async (isolation) => {
    const options = `-c default_transaction_isolation=${isolation.replace(" ", "\\ ")}`;
    const outbox = testOutbox(postgres?.url ?? "", { max: 12, options });
    const [one, other] = [outbox.store() as OutboxStore, outbox.store() as OutboxStore];
    const events = Array.from({ length: 400 }, (_, n) =>
      outboxEvent(String(n), { orderingKey: n % 4 === 0 ? `key ${n % 20}` : undefined }),
    );
    await one.enqueue(events);
    const claimed: ClaimedEvent[] = [];
    const worked = async () => {
      for (let idle = 0; idle < 20; ) {
        const some = await claim(one, 5, "orders");
        claimed.push(...some);
        idle = some.length > 0 ? 0 : idle + 1;
        await one.markDelivered(some.map(({ lease }) => ({ lease, outcome: "delivered", attempt: ATTEMPT })));
      }
    };
    const cancelledIds = async () => {
      const results = [];
      for (let n = 0; n < events.length; n += 8)
        results.push(await other.cancel({ ids: events.slice(n, n + 4).map(({ id }) => id) }));
      return results;
    };
    const restOfAll = async () => {
      await expect.poll(() => claimed.length).toBeGreaterThan(0); // so that both have had some
      return other.cancel({ listener: "orders" });
    };
    const [results, all] = await Promise.all([cancelledIds(), restOfAll(), worked(), worked()]);
    const cancelled = [...results, all].reduce((sum, result) => sum + result.cancelled, 0);
    const states = await outbox.states();
    expect(states).toEqual({ cancelled, delivered: claimed.length });
    expect(cancelled + claimed.length).toBe(events.length);
    expect(new Set(claimed.map(({ event }) => event.id)).size).toBe(claimed.length);
    expect(await one.stats()).toMatchObject([{ pending: 0, inFlight: 0, delivered: claimed.length }]);
    await outbox.drop();
  },
);

itWith("postgresql", postgres)("a cancellation whose answer was lost can be repeated", async () => {
  const outbox = await testOutboxBehindProxy(postgres?.url ?? "");
  const store = outbox.store() as OutboxStore;
  const events = [outboxEvent("one"), outboxEvent("two", { orderingKey: "k" })];
  await store.enqueue(events);
  const cancel = () => store.cancel({ ids: events.map(({ id }) => id) });
  const lost = outbox.subject.loseAnswers?.(async () => {
    await expect(cancel()).rejects.toMatchObject({ code: "OUTBOX_OUTCOME_UNKNOWN" });
  });
  await lost;
  expect(await cancel()).toEqual({ cancelled: 0, tooLate: 2 });
  expect(await outbox.states()).toEqual({ cancelled: 2 });
  expect(await store.stats()).toEqual([]);
  await outbox.drop();
});
