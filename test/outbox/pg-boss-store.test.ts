import { drizzle } from "drizzle-orm/node-postgres";
import { sql } from "drizzle-orm/sql";
import { type ClaimedEvent, type OutboxStore, type PgBossTransaction, pgBossStore } from "hookproof/outbox";
import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import { fromDrizzle, fromKysely, PgBoss } from "pg-boss";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { describeWith } from "../support/needs.js";
import { outboxEvent } from "../support/outbox-event.js";
import { freePort } from "../support/own-server.js";
import { bossOnPostgres, type TestBoss, type TestOutbox } from "../support/pg-boss.js";
import { testPostgres } from "../support/postgres.js";

const postgres = await testPostgres();
afterAll(() => postgres?.stop());

const ATTEMPT = { number: 1, startedAt: 0, durationMs: 1 };

describeWith("postgresql", postgres)("pgBossStore", () => {
  let boss: TestBoss;
  let outbox: TestOutbox;
  let store: OutboxStore<PgBossTransaction>;
  let pool: pg.Pool;
  beforeAll(async () => {
    boss = await bossOnPostgres(postgres?.url ?? "");
    pool = new pg.Pool({ connectionString: postgres?.url });
    pool.on("error", () => {}); // end() returns before its connections are closed
  });
  afterAll(async () => {
    await pool.end();
    await boss.drop();
  });
  beforeEach(() => {
    outbox = boss.outbox();
    store = pgBossStore({ boss: boss.boss, schema: outbox.schema });
  });
  afterEach(() => outbox.drop());

  const take = (limit = 10, listener = "orders") =>
    store.claim({
      limit,
      leaseMs: 60_000,
      listeners: new Map([[listener, { most: limit, windowMs: 604_800_000 }]]),
    });
  const taken = async () => (await take()).map(({ event }) => event.id);
  const one = async () => (await take(1))[0] as ClaimedEvent;

  it("makes its tables once, however many ask at once", async () => {
    const stores = Array.from({ length: 12 }, () => pgBossStore({ boss: boss.boss, schema: outbox.schema }));
    await Promise.all(stores.map((each) => each.enqueue([outboxEvent("one")])));
    expect(await store.stats()).toMatchObject([{ listener: "orders", pending: 12 }]);
  });

  it("tries again when PostgreSQL ends it for a deadlock", async () => {
    await store.enqueue([outboxEvent("one", { orderingKey: "user 1" })]);
    const { lease } = await one();
    const [, , lock] = lease.token.split(":");
    const other = await pool.connect();
    await other.query("BEGIN");
    await other.query("SET LOCAL deadlock_timeout = '1min'"); // whoever looks first is the one that ends
    await other.query(`SELECT FROM ${outbox.schema}.event FOR UPDATE`);
    const completed = store.complete([{ lease, outcome: "accepted", attempt: ATTEMPT }]);
    // It has the key's lock and waits for the event; now the other one wants the lock, and comes second.
    const waiting = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%' || $1 || '%'`;
    await expect.poll(async () => (await pool.query(waiting, [outbox.schema])).rowCount).toBe(1);
    await other.query("SELECT pg_advisory_xact_lock($1)", [lock]);
    const { rows } = await pool.query(`SELECT state FROM ${outbox.schema}.event`);
    await other.query("COMMIT");
    other.release();
    expect(rows).toEqual([{ state: "leased" }]);
    expect(await completed).toBe(1);
    expect(await store.stats()).toMatchObject([{ pending: 0, inFlight: 0, delivered: 1 }]);
  });

  it("refuses tables that a newer version made", async () => {
    await store.stats();
    await boss.query(`UPDATE ${outbox.schema}.version SET version = version + 1`);
    const older = pgBossStore({ boss: boss.boss, schema: outbox.schema });
    await expect(older.enqueue([outboxEvent("one")])).rejects.toMatchObject({ code: "OUTBOX_NEWER" });
    await expect(take()).resolves.toEqual([]); // this one had looked before
  });

  it("brings tables of an older version up to date, with what is in them", async () => {
    const [old, repeated] = [outboxEvent("old"), outboxEvent("new")];
    await store.enqueue([old]);
    await boss.query(
      `DROP FUNCTION ${outbox.schema}.enqueue; UPDATE ${outbox.schema}.version SET version = 1`,
    );
    const newer = pgBossStore({ boss: boss.boss, schema: outbox.schema });
    await newer.enqueue([repeated]);
    expect((await boss.query(`SELECT version FROM ${outbox.schema}.version`)).rows).toEqual([{ version: 2 }]);
    expect(await taken()).toEqual([old.id, repeated.id]);
  });

  it("stores what is new among what is known, an event named twice once, each with its job", async () => {
    const [known, one, other] = [outboxEvent("known"), outboxEvent("one"), outboxEvent("other")];
    const elsewhere = outboxEvent("elsewhere", { listener: "bills" });
    await store.enqueue([known]);
    await store.enqueue([one, known, elsewhere, one, other]);
    expect(await taken()).toEqual([known.id, one.id, other.id]);
    expect((await take(10, "bills")).map(({ event }) => event.id)).toEqual([elsewhere.id]);
    const jobs = await boss.query(`SELECT FROM ${boss.schema}.job WHERE state = 'active'`);
    expect(jobs.rows).toHaveLength(4);
    const twice = [outboxEvent("two"), outboxEvent("three", { id: one.id })];
    await expect(store.enqueue(twice)).rejects.toMatchObject({ code: "EVENT_ID_REUSED" });
    const fresh = outboxEvent("four");
    const alike = outboxEvent("five", { id: fresh.id });
    await expect(store.enqueue([fresh, alike])).rejects.toMatchObject({ code: "EVENT_ID_REUSED" });
    expect(await taken()).toEqual([]);
  });

  it("stores nothing where the transaction does not see the queue yet", async () => {
    await store.stats();
    const client = await pool.connect();
    await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
    await client.query("SELECT 1");
    const event = outboxEvent("early", { listener: "unseen" });
    await expect(store.enqueue([event], client)).rejects.toMatchObject({ code: "OUTBOX_UNAVAILABLE" });
    await client.query("COMMIT");
    client.release();
    expect(await store.find(event.id)).toEqual([]);
    await store.enqueue([event]);
    expect((await take(10, "unseen")).map(({ event: { id } }) => id)).toEqual([event.id]);
  });

  it("stores events in the transaction of a client of pg, or of an ORM", async () => {
    await boss.query(`CREATE TABLE ${outbox.schema.replace("outbox", "orders")} (id text)`);
    const table = outbox.schema.replace("outbox", "orders");
    const kysely = new Kysely<never>({ dialect: new PostgresDialect({ pool }) });
    const insert = `INSERT INTO ${table} VALUES ('1')`;
    const ways: Record<string, (work: (tx: PgBossTransaction) => Promise<void>) => Promise<void>> = {
      async pg(work) {
        const client = await pool.connect();
        await client.query("BEGIN");
        await client.query(insert);
        await work(client).then(
          () => client.query("COMMIT"),
          () => client.query("ROLLBACK"),
        );
        client.release();
      },
      drizzle: (work) =>
        drizzle(pool)
          .transaction(async (tx) => {
            await tx.execute(sql.raw(insert));
            await work(fromDrizzle(tx, sql));
          })
          .catch(() => {}),
      kysely: (work) =>
        kysely
          .transaction()
          .execute(async (tx) => {
            await fromKysely(tx).executeSql(insert);
            await work(fromKysely(tx));
          })
          .catch(() => {}),
    };
    for (const [name, transaction] of Object.entries(ways)) {
      const [kept, undone] = [outboxEvent(name), outboxEvent(name)];
      await transaction((tx) => store.enqueue([kept], tx) as Promise<void>);
      await transaction(async (tx) => {
        await store.enqueue([undone], tx);
        throw new Error("the caller's own");
      });
      expect(await taken(), name).toEqual([kept.id]);
      expect((await boss.query(`DELETE FROM ${table} RETURNING id`)).rows, name).toHaveLength(1);
    }
    await boss.query(`DROP TABLE ${table}`);
  });

  it("leaves a transaction as it was when an id was used with other bytes", async () => {
    const known = outboxEvent("known");
    await store.enqueue([known]);
    const client = await pool.connect();
    await client.query("BEGIN");
    const events = [outboxEvent("beside"), outboxEvent("other", { id: known.id })];
    await expect(store.enqueue(events, client)).rejects.toMatchObject({ code: "EVENT_ID_REUSED" });
    const after = outboxEvent("after");
    await store.enqueue([after], client);
    await client.query("COMMIT");
    client.release();
    expect(await taken()).toEqual([known.id, after.id]);
  });

  it("delivers nothing of a transaction before its commit", async () => {
    const client = await pool.connect();
    await client.query("BEGIN");
    const event = outboxEvent("one");
    await store.enqueue([event], client);
    expect(await taken()).toEqual([]);
    await client.query("COMMIT");
    client.release();
    expect(await taken()).toEqual([event.id]);
  });

  it("takes a late completion as long as nobody else was handed the event", async () => {
    await store.enqueue([outboxEvent("one"), outboxEvent("two")]);
    const [late, later] = await take();
    await outbox.subject.passTime(70_000);
    await store.claim({
      limit: 1,
      leaseMs: 60_000,
      listeners: new Map([["none", { most: 1, windowMs: 604_800_000 }]]),
    }); // takes both over
    const complete = (claimed: ClaimedEvent | undefined) =>
      store.complete([{ lease: (claimed as ClaimedEvent).lease, outcome: "accepted", attempt: ATTEMPT }]);
    expect(await complete(late)).toBe(1);
    const [again] = await take();
    expect(again?.event.id).toBe(later?.event.id);
    expect(await complete(later)).toBe(0);
    expect(await complete(again)).toBe(1);
  });

  it("makes dead letters of what was cancelled or deleted in pg-boss, with its history", async () => {
    const events = [outboxEvent("cancelled"), outboxEvent("deleted"), outboxEvent("good")];
    await store.enqueue(events);
    const [claimed] = await take(1);
    await store.reschedule((claimed as ClaimedEvent).lease, Date.now(), { ...ATTEMPT, code: "TIMED_OUT" });
    const queue = `${outbox.schema}/orders`;
    const { rows } = await boss.query(
      `SELECT job_id, id FROM ${outbox.schema}.event WHERE state = 'waiting' ORDER BY seq`,
    );
    await boss.boss.cancel(queue, String(rows[0]?.job_id));
    await boss.boss.deleteJob(queue, String(rows[1]?.job_id));
    await outbox.subject.passTime(120_000);
    expect(await taken()).toEqual([events[2]?.id]);
    expect(await taken()).toEqual([]);
    const dead = [];
    for await (const letter of store.dead()) dead.push(letter);
    const codes = dead.map(({ event, reason, code, attempts }) => [event.id, reason, code, attempts.length]);
    expect(codes.sort()).toEqual(
      [
        [events[0]?.id, "lost", "LEASE_LOST", 1],
        [events[1]?.id, "lost", "LEASE_LOST", 0],
      ].sort(),
    );
    expect(await store.redrive({ reason: "lost" }, { windowMs: 600_000 })).toEqual({
      redriven: 2,
      pastWindow: 0,
    });
    expect((await taken()).sort()).toEqual([events[0]?.id, events[1]?.id].sort());
  });

  it("hands out other events while hundreds wait for one of their ordering key", async () => {
    const waiting = Array.from({ length: 300 }, (_, index) =>
      outboxEvent(String(index), { orderingKey: "k" }),
    );
    const free = outboxEvent("free");
    await store.enqueue([...waiting, free]);
    const first = await take(1);
    expect(first.map(({ event }) => event.id)).toEqual([waiting[0]?.id]);
    const seen: string[] = [];
    for (let calls = 0; calls < 30 && seen.length === 0; calls++) seen.push(...(await taken()));
    expect(seen).toEqual([free.id]);
    const { lease } = first[0] as ClaimedEvent;
    await store.complete([{ lease, outcome: "accepted", attempt: ATTEMPT }]);
    expect(await taken()).toEqual([waiting[1]?.id]);
  });

  it("keeps no bytes of what was delivered, and knows its id", async () => {
    const event = outboxEvent("secret");
    await store.enqueue([event]);
    const { lease } = await one();
    await store.complete([{ lease, outcome: "accepted", attempt: ATTEMPT }]);
    const { rows } = await boss.query(`SELECT body, digest FROM ${outbox.schema}.event`);
    expect(rows).toEqual([{ body: null, digest: event.digest }]);
    const { rows: jobs } = await boss.query(
      `SELECT data FROM ${boss.schema}.job WHERE name LIKE '${outbox.schema}/%'`,
    );
    expect(jobs).toEqual([{ data: { id: event.id } }]);
  });

  it("tells other processes of work as soon as it is committed", async () => {
    let told = 0;
    const stop = store.onWork?.(() => told++);
    await expect.poll(() => told).toBe(1); // it listens
    await pgBossStore({ boss: boss.boss, schema: outbox.schema }).enqueue([outboxEvent("one")]);
    await expect.poll(() => told).toBe(2);
    stop?.();
    await store.close();
  });

  it.each([3, 40])("among %i listeners hands out what is due, and what a lost worker held", async (count) => {
    const names = Array.from({ length: count }, (_, n) => `listener ${n}`);
    const due = ["listener 0", "listener 2"];
    await store.enqueue([...due, "not asked for"].map((listener) => outboxEvent("one", { listener })));
    const listeners = new Map(names.map((name) => [name, { most: 5, windowMs: 604_800_000 }]));
    const claim = async () =>
      (await store.claim({ limit: 10, leaseMs: 60_000, listeners })).map(({ event }) => event.listener);
    expect(await claim()).toEqual(due);
    expect(await claim()).toEqual([]);
    await outbox.subject.passTime(70_000);
    expect(await claim()).toEqual(due);
  });

  it("has listeners of any name, and ids that are none", async () => {
    const listener = "a/b_c 'ü' 🦉";
    await store.enqueue([outboxEvent("one", { listener }), outboxEvent("two", { listener: "a/b_c" })]);
    expect(await take(10, listener)).toHaveLength(1);
    expect(await take(10, "a/b_c")).toHaveLength(1);
    expect(await store.find("nonsense")).toEqual([]);
    expect(await store.redrive({ ids: ["nonsense"] }, { windowMs: 1 })).toEqual({
      redriven: 0,
      pastWindow: 0,
    });
  });

  it("names what cannot work", async () => {
    expect(() => pgBossStore({ boss: {} as never })).toThrow(/^boss must be a PgBoss/);
    expect(() => pgBossStore({ boss: boss.boss, schema: 'a"b' })).toThrow(/^schema must be/);
    expect(() => pgBossStore({ boss: boss.boss, timeoutMs: 0 })).toThrow(/^timeoutMs must be/);
    await expect(store.enqueue([outboxEvent("one")], {} as never)).rejects.toThrow(/^tx must be/);
    const bare = { executeSql: async () => ({ rows: [] }) };
    const other = pgBossStore({ boss: { ...boss.boss, getDb: () => bare } as never });
    await expect(other.stats()).rejects.toThrow(/^boss must have a connection with beginTransaction/);
  });
});

it("a server that is not there is OUTBOX_UNAVAILABLE, at once and without the password", async () => {
  const port = await freePort();
  const boss = new PgBoss({ host: "127.0.0.1", port, user: "nobody", password: "hush", database: "none" });
  boss.on("error", () => {});
  await boss.start().catch(() => {});
  const store = pgBossStore({ boss });
  const startedAt = performance.now();
  const error = await Promise.resolve(store.enqueue([outboxEvent("one")])).catch((caught) => caught);
  expect(error).toMatchObject({ code: "OUTBOX_UNAVAILABLE" });
  expect(performance.now() - startedAt).toBeLessThan(5_000);
  expect(JSON.stringify([error, error.message, error.cause?.message])).not.toContain("hush");
  await boss.stop({ graceful: false }).catch(() => {});
});
