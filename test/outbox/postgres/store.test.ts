import { drizzle } from "drizzle-orm/node-postgres";
import { type SQL, sql } from "drizzle-orm/sql";
import { type Activity, hmacSigner } from "hookproof";
import { createOutbox } from "hookproof/outbox";
import { type PostgresQuery, type PostgresTransaction, postgresStore } from "hookproof/outbox/postgres";
import type { ClaimedEvent } from "hookproof/outbox/store";
import { CompiledQuery, Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import { afterAll, afterEach, beforeEach, expect, it, onTestFinished } from "vitest";
import { heldPort } from "../../kit/held-port.mjs";
import { describeWith, itWith } from "../../kit/needs.js";
import { outboxEvent } from "../../kit/outbox-event.js";
import { testPool, testPostgres } from "../../kit/postgres.js";
import { type TestOutbox, testOutbox } from "../../kit/postgres-outbox.js";
import { receiverServer, SECRET } from "../../kit/receiver-server.js";

const postgres = await testPostgres();
afterAll(() => postgres?.stop());

const ATTEMPT = { number: 1, startedAt: 0, durationMs: 1 };
const WINDOW_MS = 600_000;
const HOUR_MS = 60 * 60_000;

/** A transaction of Drizzle as the store takes it. */
const ofDrizzle =
  (tx: { execute(query: SQL): Promise<pg.QueryResult> }): PostgresQuery =>
  (text, values) =>
    tx.execute(
      sql.join(
        text
          .split(/\$\d/)
          .flatMap((part, index) =>
            index === 0 ? [sql.raw(part)] : [sql`${values[index - 1]}`, sql.raw(part)],
          ),
      ),
    );

describeWith("postgresql", postgres)("postgresStore", () => {
  let outbox: TestOutbox;
  let store: ReturnType<typeof postgresStore>;
  let pool: pg.Pool;
  beforeEach(() => {
    outbox = testOutbox(postgres?.url ?? "");
    store = outbox.store();
    pool = outbox.pool;
  });
  afterEach(() => outbox.drop());

  const take = (limit = 10, ...listeners: string[]) =>
    store.claim({
      limit,
      leaseMs: 60_000,
      listeners: new Map(
        (listeners.length > 0 ? listeners : ["orders"]).map((name) => [
          name,
          { most: limit, windowMs: WINDOW_MS },
        ]),
      ),
    });
  const taken = async () => (await take()).map(({ event }) => event.id);
  const one = async () => (await take(1))[0] as ClaimedEvent;
  const complete = (...claimed: readonly ClaimedEvent[]) =>
    store.markDelivered(claimed.map(({ lease }) => ({ lease, outcome: "delivered", attempt: ATTEMPT })));
  const client = async () => {
    const given = await pool.connect();
    await given.query("BEGIN");
    return given;
  };

  it("stores an event for several listeners in the caller's transaction, or not at all", async () => {
    const url = "http://127.0.0.1:9/api/v1/webhooks/incoming/lst_1";
    const signer = hmacSigner({ secret: SECRET });
    const fanOut = createOutbox({ store, listeners: { orders: { url, signer }, mails: { url, signer } } });
    for (const end of ["ROLLBACK", "COMMIT"]) {
      const tx = await client();
      const receipts = await fanOut.enqueue({ listeners: ["orders", "mails"], payload: { n: 1 } }, { tx });
      await tx.query(end);
      tx.release();
      const entries = await store.find(receipts[0]?.eventId ?? "");
      expect(entries.map(({ listener }) => listener)).toEqual(end === "COMMIT" ? ["orders", "mails"] : []);
    }
  });

  it("makes its tables once, however many ask at once", async () => {
    const stores = Array.from({ length: 12 }, () => outbox.store());
    await Promise.all(stores.map((each) => each.enqueue([outboxEvent("one")])));
    expect(await store.stats()).toMatchObject([{ listener: "orders", pending: 12 }]);
  });

  it("makes its tables while the pool's only connection is in a transaction, or says that it cannot", async () => {
    const only = testOutbox(postgres?.url ?? "", { max: 1 });
    const [hasty, before, after] = [only.store({ timeoutMs: 300 }), only.store(), only.store()];
    const held = await only.pool.connect();
    await held.query("BEGIN");
    const event = outboxEvent("one");
    await expect(hasty.enqueue([event], held)).rejects.toMatchObject({ code: "OUTBOX_UNAVAILABLE" });
    await held.query("COMMIT");
    held.release();
    await before.stats();
    const again = await only.pool.connect();
    await again.query("BEGIN");
    await after.enqueue([event], again);
    await again.query("COMMIT");
    again.release();
    expect(await before.find(event.id)).toHaveLength(1);
    await only.drop();
  });

  it("stores inside a transaction while a worker that has begun waits for the pool's only connection", async () => {
    const only = testOutbox(postgres?.url ?? "", { max: 1 });
    await only.store().stats(); // makes the tables
    const held = await only.pool.connect();
    await held.query("BEGIN");
    const begun = only.store();
    const waiting = begun.stats(); // looks for the tables first
    const event = outboxEvent("one");
    await begun.enqueue([event], held);
    await held.query("COMMIT");
    held.release();
    expect(await waiting).toMatchObject([{ pending: 1 }]);
    await only.drop();
  });

  it("refuses tables that a newer version made", async () => {
    await store.stats();
    await pool.query(`UPDATE ${outbox.schema}.version SET version = version + 1`);
    const older = outbox.store();
    await expect(older.enqueue([outboxEvent("one")])).rejects.toMatchObject({ code: "OUTBOX_NEWER" });
    await expect(take()).resolves.toEqual([]); // this one had looked before
  });

  it("names the schema whose outbox is gone or of another version, and what mends it", async () => {
    await store.stats();
    const { schema } = outbox;
    const said = (words: string) =>
      expect.objectContaining({
        code: "OUTBOX_UNAVAILABLE",
        message: expect.stringMatching(new RegExp(`${schema}" ${words}`)),
      });
    await pool.query(`DROP FUNCTION ${schema}.store(text, text)`);
    const other = said(`has no outbox, or one of another version: function .* does not exist`);
    await expect(store.enqueue([outboxEvent("one")])).rejects.toEqual(other);
    await pool.query(`DROP SCHEMA ${schema} CASCADE`);
    const gone = said("has no outbox.*does not exist.*hookproof outbox create");
    await expect(store.enqueue([outboxEvent("one")])).rejects.toEqual(gone);
    await expect(take()).rejects.toEqual(gone);
    await expect(store.stats()).rejects.toEqual(gone);
    const client = await pool.connect();
    await client.query("BEGIN");
    await expect(store.enqueue([outboxEvent("one")], client)).rejects.toEqual(gone);
    await client.query("ROLLBACK");
    client.release();
    await outbox.store().stats(); // as `outbox create` does
    await store.enqueue([outboxEvent("one")]);
    expect(await take()).toHaveLength(1);
  });

  it("stores what is new among what is known, an event named twice once", async () => {
    const [known, first, other] = [outboxEvent("known"), outboxEvent("one"), outboxEvent("other")];
    const elsewhere = outboxEvent("elsewhere", { listener: "bills" });
    await store.enqueue([known]);
    await store.enqueue([first, known, elsewhere, first, other]);
    expect(await taken()).toEqual([known.id, first.id, other.id]);
    expect((await take(10, "bills")).map(({ event }) => event.id)).toEqual([elsewhere.id]);
    const twice = [outboxEvent("two"), outboxEvent("three", { id: first.id })];
    await expect(store.enqueue(twice)).rejects.toMatchObject({ code: "EVENT_ID_REUSED" });
    const fresh = outboxEvent("four");
    const alike = outboxEvent("five", { id: fresh.id });
    await expect(store.enqueue([fresh, alike])).rejects.toMatchObject({ code: "EVENT_ID_REUSED" });
    expect(await taken()).toEqual([]);
  });

  it("waits for another transaction that stores the same id, and then compares the bytes", async () => {
    await store.stats();
    for (const [end, text, code] of [
      ["ROLLBACK", "other", undefined],
      ["COMMIT", "one", undefined],
      ["COMMIT", "other", "EVENT_ID_REUSED"],
    ] as const) {
      const event = outboxEvent("one");
      const other = outboxEvent(text, { id: event.id });
      const beside = [outboxEvent("next to"), outboxEvent("next to")];
      const first = await client();
      await store.enqueue([event], first);
      const waits = Promise.resolve(store.enqueue([...beside, other])).then(
        () => undefined,
        (error) => error.code,
      );
      const blocked = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%' || $1 || '%'`;
      await expect.poll(async () => (await pool.query(blocked, [outbox.schema])).rowCount).toBe(1);
      await first.query(end);
      first.release();
      expect(await waits).toBe(code);
      expect(await store.find(beside[0]?.id ?? "")).toHaveLength(code ? 0 : 1);
      expect(await store.find(event.id)).toHaveLength(1);
    }
  });

  it("stores events in the transaction of a client of pg, or of an ORM", async () => {
    const table = outbox.schema.replace("outbox", "orders");
    await pool.query(`CREATE TABLE ${table} (id text)`);
    const kysely = new Kysely<never>({ dialect: new PostgresDialect({ pool }) });
    const insert = `INSERT INTO ${table} VALUES ('1')`;
    const ways: Record<string, (work: (tx: PostgresTransaction) => Promise<void>) => Promise<void>> = {
      async pg(work) {
        const given = await client();
        await given.query(insert);
        await work(given).then(
          () => given.query("COMMIT"),
          () => given.query("ROLLBACK"),
        );
        given.release();
      },
      drizzle: (work) =>
        drizzle(pool)
          .transaction(async (tx) => {
            await tx.execute(sql.raw(insert));
            await work(ofDrizzle(tx));
          })
          .catch(() => {}),
      kysely: (work) =>
        kysely
          .transaction()
          .execute(async (tx) => {
            await tx.executeQuery(CompiledQuery.raw(insert));
            await work((text, values) => tx.executeQuery(CompiledQuery.raw(text, values)));
          })
          .catch(() => {}),
    };
    for (const [name, transaction] of Object.entries(ways)) {
      const [kept, undone] = [outboxEvent(name), outboxEvent(name, { orderingKey: "a key" })];
      await transaction((tx) => store.enqueue([kept], tx) as Promise<void>);
      await transaction(async (tx) => {
        await store.enqueue([undone], tx);
        throw new Error("the caller's own");
      });
      expect(await taken(), name).toEqual([kept.id]);
      expect((await pool.query(`DELETE FROM ${table} RETURNING id`)).rows, name).toHaveLength(1);
    }
    await pool.query(`DROP TABLE ${table}`);
  });

  it("leaves a transaction as it was when an id was used with other bytes", async () => {
    const known = outboxEvent("known");
    await store.enqueue([known]);
    const given = await client();
    const events = [outboxEvent("next to"), outboxEvent("other", { id: known.id })];
    await expect(store.enqueue(events, given)).rejects.toMatchObject({ code: "EVENT_ID_REUSED" });
    const after = outboxEvent("after");
    await store.enqueue([after], given);
    await given.query("COMMIT");
    given.release();
    expect(await taken()).toEqual([known.id, after.id]);
    expect(await store.stats()).toMatchObject([{ pending: 0, inFlight: 2 }]);
  });

  it("refuses a pool, or a client without a transaction, where a transaction is wanted", async () => {
    const event = outboxEvent("one");
    const idle = await pool.connect();
    for (const tx of [pool, new pg.Pool(), idle, {}, null])
      await expect(store.enqueue([event], tx as never)).rejects.toThrow(TypeError);
    idle.release();
    expect(await store.find(event.id)).toEqual([]);
  });

  it("takes rows alone and rows in an object, from a function and a query, and nothing else", async () => {
    const answers: ((result: pg.QueryResult) => unknown)[] = [
      (result) => result,
      ({ rows }) => rows,
      ({ rows }) => ({ rows }),
    ];
    for (const shape of answers) {
      const given = await client();
      const run = async (text: string, values: unknown[] = []) => shape(await given.query(text, values));
      const events = [outboxEvent("by a function"), outboxEvent("by a query")];
      await store.enqueue([events[0] as never], run as PostgresQuery);
      await store.enqueue([events[1] as never], { query: run });
      await given.query("COMMIT");
      given.release();
      expect(await taken()).toEqual(events.map(({ id }) => id));
    }
    for (const wrong of [undefined, null, 1, "rows", {}, { rows: 1 }])
      for (const tx of [async () => wrong, { query: async () => wrong }])
        await expect(store.enqueue([outboxEvent("one")], tx as never)).rejects.toThrow("tx gave no rows");
    expect(await store.stats()).toMatchObject([{ pending: 0, inFlight: 6 }]);
  });

  it("refuses a function that runs each statement in a transaction of its own, and stores nothing", async () => {
    const event = outboxEvent("one");
    const wrong: PostgresTransaction[] = [
      (text, values) => pool.query(text, values),
      { query: (text, values) => pool.query(text, values) },
    ];
    for (const tx of wrong) {
      const refused = Promise.resolve(store.enqueue([event], tx));
      await expect(refused).rejects.toThrow("outside a transaction");
      await expect(refused).rejects.toBeInstanceOf(TypeError);
    }
    expect(await store.find(event.id)).toEqual([]);
  });

  it("has statements that any ORM can take: each value once and in its order, all texts, no question mark", async () => {
    const given = await client();
    const seen: [string, unknown[]][] = [];
    const tx: PostgresQuery = (text, values) => {
      seen.push([text, values]);
      return given.query(text, values);
    };
    const events = [outboxEvent("one", { orderingKey: "k" }), outboxEvent("?", { listener: "a ? $1 b" })];
    const shared = outboxEvent("several");
    await store.enqueue([...events, shared, { ...shared, listener: "others" }], tx);
    await store.enqueue([outboxEvent("next to"), events[0] as never], tx);
    const other = outboxEvent("other", { id: events[0]?.id ?? "" });
    await expect(store.enqueue([outboxEvent("removed"), other], tx)).rejects.toMatchObject({
      code: "EVENT_ID_REUSED",
    });
    await given.query("ROLLBACK");
    given.release();
    expect(seen.length).toBeGreaterThan(5);
    for (const [text, values] of seen) {
      expect(text.match(/\$\d+/g) ?? []).toEqual(values.map((_, index) => `$${index + 1}`));
      expect(text).not.toContain("?");
      expect(values.every((value) => typeof value === "string")).toBe(true);
    }
  });

  it("delivers nothing of a transaction before its commit", async () => {
    const given = await client();
    const events = [outboxEvent("one"), outboxEvent("keyed", { orderingKey: "k" })];
    await store.enqueue(events, given);
    expect(await taken()).toEqual([]);
    await given.query("COMMIT");
    given.release();
    expect(await taken()).toEqual(events.map(({ id }) => id));
  });

  it("takes a late completion as long as nobody else was handed the event", async () => {
    await store.enqueue([outboxEvent("one"), outboxEvent("two", { orderingKey: "k" }), outboxEvent("three")]);
    const [late, keyed, later] = (await take()) as [ClaimedEvent, ClaimedEvent, ClaimedEvent];
    await store.enqueue([outboxEvent("behind", { orderingKey: "k" })]);
    await outbox.subject.passTime(70_000);
    await take(1, "none"); // takes all of them over
    await take(1, "none");
    expect((await outbox.states()).leased).toBeUndefined();
    expect(await complete(late, keyed)).toBe(2);
    const again = await take();
    expect(again.map(({ event }) => event.id)).toContain(later.event.id);
    expect(again).toHaveLength(2);
    expect(await complete(later)).toBe(0);
    expect(await complete(...again)).toBe(2);
  });

  it("hands out other events while thousands wait for one of their ordering key", async () => {
    const waiting = Array.from({ length: 5_000 }, (_, index) =>
      outboxEvent(String(index), { orderingKey: "k" }),
    );
    const free = outboxEvent("free");
    await store.enqueue([...waiting, free]);
    const first = await take();
    expect(first.map(({ event }) => event.id)).toEqual([waiting[0]?.id, free.id]);
    expect(await taken()).toEqual([]);
    await complete(first[0] as ClaimedEvent);
    expect(await taken()).toEqual([waiting[1]?.id]);
  });

  it("keeps no bytes of what was delivered, and knows its id", async () => {
    const event = outboxEvent("secret");
    await store.enqueue([event]);
    await complete(await one());
    const { rows } = await pool.query(`SELECT body, digest FROM ${outbox.schema}.event`);
    expect(rows).toEqual([{ body: null, digest: event.digest }]);
  });

  it("tells other processes of what was stored by itself, as soon as it is committed", async () => {
    let told = 0;
    const stop = store.onWork?.(() => told++);
    const listens = `SELECT FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND query LIKE '%' || $1 || '%'`;
    await expect.poll(async () => (await pool.query(listens, [outbox.schema])).rowCount).toBe(1);
    await outbox.store().enqueue([outboxEvent("one")]);
    await expect.poll(() => told).toBe(1);
    stop?.();
    await store.close();
    await expect.poll(async () => (await pool.query(listens, [outbox.schema])).rowCount).toBe(0);
  });

  it("notifies nobody out of a caller's transaction, as notifications would make commits wait", async () => {
    const listener = new pg.Client({ connectionString: postgres?.url });
    await listener.connect();
    await listener.query(`LISTEN "hookproof ${outbox.schema}"`);
    const told: unknown[] = [];
    listener.on("notification", (message) => told.push(message));
    const given = await client();
    await store.enqueue([outboxEvent("one")], given);
    await given.query("COMMIT");
    given.release();
    await listener.query("SELECT 1");
    expect(told).toEqual([]);
    await store.enqueue([outboxEvent("two")]);
    await expect.poll(() => told.length).toBe(1);
    await listener.end();
  });

  it.each([3, 40])("among %i listeners hands out what is due, and what a lost worker held", async (count) => {
    const names = Array.from({ length: count }, (_, n) => `listener ${n}`);
    const due = ["listener 0", "listener 2"];
    await store.enqueue([...due, "not asked for"].map((listener) => outboxEvent("one", { listener })));
    const claim = async () => (await take(10, ...names)).map(({ event }) => event.listener);
    expect(await claim()).toEqual(due);
    expect(await claim()).toEqual([]);
    await outbox.subject.passTime(70_000);
    expect(await claim()).toEqual(due);
  });

  it("fills a claim from those that have more, where others have little", async () => {
    const names = Array.from({ length: 30 }, (_, n) => `listener ${n}`);
    const many = Array.from({ length: 200 }, () => outboxEvent("many", { listener: "listener 7" }));
    await store.enqueue([...many, ...names.map((listener) => outboxEvent("one", { listener }))]);
    const claimed = await take(100, ...names);
    expect(claimed).toHaveLength(100);
    expect(new Set(claimed.map(({ event }) => event.listener)).size).toBe(30);
  });

  it("enqueues to thousands of listeners nobody has heard of in one call", async () => {
    const events = Array.from({ length: 5_000 }, (_, n) => outboxEvent("one", { listener: `new ${n}` }));
    await store.enqueue(events);
    expect(await store.stats()).toHaveLength(5_000);
    expect(await take(10, "new 4999", "new 0", "none")).toHaveLength(2);
  });

  it("has listeners of any name, and ids that are none", async () => {
    const listener = "a/b_c 'ü' \\ \" 🦉";
    await store.enqueue([outboxEvent("one", { listener }), outboxEvent("two", { listener: "a/b_c" })]);
    const [claimed] = await take(10, listener);
    expect(claimed?.event.listener).toBe(listener);
    expect(await take(10, "a/b_c")).toHaveLength(1);
    await store.reschedule((claimed as ClaimedEvent).lease, Date.now() - 1_000, {
      ...ATTEMPT,
      answer: `it's \\ "so" \\u0000 \u0000 \ud800 $1 ; DROP`,
    });
    const [entry] = await store.find((claimed as ClaimedEvent).lease.id);
    expect(entry?.attempts).toEqual([{ ...ATTEMPT, answer: `it's \\ "so" \\u0000 \u0000 \ud800 $1 ; DROP` }]);
    expect(await complete(...(await take(10, listener)))).toBe(1);
    expect(await store.find("nonsense")).toEqual([]);
    expect(await store.redrive({ ids: ["nonsense"] }, 1)).toEqual({
      redriven: 0,
      pastWindow: 0,
    });
  });

  it("counts by the changes it has kept, also when they were summed up", async () => {
    const events = Array.from({ length: 20 }, (_, n) =>
      outboxEvent(String(n), { orderingKey: n % 3 === 0 ? "k" : undefined }),
    );
    await store.enqueue(events);
    await store.enqueue([...events, outboxEvent("elsewhere", { listener: "bills" })]);
    const [first, second, third, ...others] = (await take(8)) as [
      ClaimedEvent,
      ClaimedEvent,
      ClaimedEvent,
      ...ClaimedEvent[],
    ];
    await store.fail(first.lease, { reason: "refused", code: "REQUEST_REFUSED", blocksKey: true });
    await store.fail(second.lease, { reason: "refused", code: "REQUEST_REFUSED", blocksKey: false });
    await complete(third, ...others.slice(1));
    await store.release([others[0]?.lease as ClaimedEvent["lease"]]);
    await store.redrive({ ids: [second.event.id] }, WINDOW_MS);
    const counted = async () => {
      const { rows } = await pool.query(
        `SELECT listener, count(*) FILTER (WHERE ended_at IS NULL)::int AS pending,
           count(*) FILTER (WHERE state = 'delivered')::int AS delivered,
           count(*) FILTER (WHERE state = 'dead')::int AS dead
         FROM ${outbox.schema}.event GROUP BY listener ORDER BY listener`,
      );
      return rows;
    };
    const told = async () =>
      (await store.stats()).map(({ listener, pending, inFlight, delivered, dead }) => {
        return { listener, pending: pending + inFlight, delivered, dead };
      });
    expect(await told()).toEqual(await counted());
    await store.prune({ delivered: 0, dead: 0 });
    expect((await pool.query(`SELECT FROM ${outbox.schema}.tally`)).rowCount).toBe(2);
    expect(await told()).toEqual(await counted());
    await store.prune({ delivered: Date.now() + 60_000, dead: 0 });
    await store.drop({});
    expect(await told()).toEqual(await counted());
  });

  it("has as many rows of counts as listeners, however many events there were", async () => {
    const store = outbox.store();
    await store.stats();
    await outbox.pool.query(
      `INSERT INTO ${outbox.schema}.tally SELECT 'lst_' || n % 40, 1, 0, 0 FROM generate_series(1, 120000) n`,
    );
    await store.prune({ delivered: 0, dead: 0 });
    expect((await outbox.pool.query(`SELECT FROM ${outbox.schema}.tally`)).rowCount).toBeLessThan(5_100);
    expect((await store.stats()).map(({ pending }) => pending)).toEqual(Array(40).fill(3_000));
  });

  it("has one body of an event for many listeners, until none of them needs it", async () => {
    const one = outboxEvent("x".repeat(50_000));
    const names = Array.from({ length: 200 }, (_, n) => `listener ${n}`);
    await store.enqueue(names.map((listener) => ({ ...one, listener })));
    const bytes = async () => {
      const sums = ["event", "body"].map(
        (table) => `(SELECT coalesce(sum(length(body)), 0)::int FROM ${outbox.schema}.${table}) AS ${table}`,
      );
      return (await outbox.pool.query(`SELECT ${sums.join()}`)).rows;
    };
    expect(await bytes()).toEqual([{ event: 0, body: one.body.length }]);
    const claimed = await take(200, ...names);
    expect(claimed.map(({ event }) => Buffer.compare(event.body, one.body))).toEqual(names.map(() => 0));
    const [last, ...others] = claimed.map(({ lease }) => ({
      lease,
      outcome: "delivered" as const,
      attempt: ATTEMPT,
    }));
    await store.markDelivered(others);
    const pruneLater = async () => {
      await outbox.subject.passTime(HOUR_MS);
      await store.prune({ delivered: 0, dead: 0 });
    };
    await pruneLater();
    expect(await bytes()).toEqual([{ event: 0, body: one.body.length }]);
    if (last) await store.markDelivered([last]);
    await pruneLater();
    expect(await bytes()).toEqual([{ event: 0, body: 0 }]);
  });

  it("names what cannot work", async () => {
    expect(() => postgresStore({ pool: {} as never })).toThrow(/^pool must be a Pool of pg/);
    expect(() => postgresStore({ pool, schema: 'a"b' })).toThrow(/^schema must be/);
    for (const timeoutMs of [0, 1.5, Number.NaN])
      expect(() => postgresStore({ pool, timeoutMs })).toThrow(/^timeoutMs must be/);
    await expect(store.enqueue([outboxEvent("one")], {} as never)).rejects.toThrow(/^tx must be/);
  });
});

itWith("postgresql", postgres).each(["LATIN1", "SQL_ASCII"])(
  "refuses to make its tables in a database that is encoded in %s, and says so",
  async (encoding) => {
    const admin = new pg.Client({ connectionString: postgres?.url });
    await admin.connect();
    const name = `other_${encoding.toLowerCase()}`;
    await admin.query(`DROP DATABASE IF EXISTS ${name}`);
    await admin.query(
      `CREATE DATABASE ${name} ENCODING '${encoding}' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`,
    );
    const connectionString = Object.assign(new URL(postgres?.url ?? ""), { pathname: name }).href;
    const pool = testPool({ connectionString });
    const error = await postgresStore({ pool })
      .stats()
      .catch((caught) => caught);
    expect([error.code, error.message]).toEqual([
      "OUTBOX_ENCODING",
      `The outbox's database must be encoded in UTF8. It is ${encoding}.`,
    ]);
    await pool.end();
    await admin.query(`DROP DATABASE ${name}`);
    await admin.end();
  },
);

itWith("postgresql", postgres)("a trigger that refuses one delivery holds up no other", async () => {
  const outbox = testOutbox(postgres?.url ?? "");
  onTestFinished(() => outbox.drop());
  const receiver = await receiverServer({});
  onTestFinished(() => receiver.stop());
  const told: Activity[] = [];
  const worker = createOutbox({
    store: outbox.store(),
    listeners: { orders: { url: receiver.url, signer: hmacSigner({ secret: SECRET }) } },
    observe: (event) => told.push(event),
  });
  onTestFinished(() => worker.stop());
  const [refused = outboxEvent("one"), ...others] = ["one", "two", "three"].map((name) => outboxEvent(name));
  await outbox.store().enqueue([refused, ...others]);
  await outbox.pool.query(`
    CREATE FUNCTION ${outbox.schema}.audit() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE 'the audit refuses it'; END $$;
    CREATE TRIGGER audit BEFORE UPDATE OF state ON ${outbox.schema}.event FOR EACH ROW
      WHEN (NEW.state = 'delivered' AND NEW.id = '${refused.id}') EXECUTE FUNCTION ${outbox.schema}.audit()`);
  worker.start();
  const warnings = () => told.flatMap((event) => (event.type === "warning" ? [event.message] : []));
  await expect.poll(warnings).toHaveLength(1);
  await expect.poll(outbox.states).toEqual({ delivered: 2, leased: 1 });
  expect(warnings()[0]).toMatch(/was delivered, and the store cannot note it: "the audit refuses it"/);
  expect(told.filter(({ type }) => type === "store-changed")).toEqual([]);
});

it("a server that is not there is OUTBOX_UNAVAILABLE, at once and without the password", async () => {
  const port = await heldPort();
  const pool = testPool({
    host: "127.0.0.1",
    port,
    user: "nobody",
    password: "hush",
    database: "none",
  });
  const store = postgresStore({ pool });
  const error = await Promise.resolve(store.enqueue([outboxEvent("one")])).catch((caught) => caught);
  expect(error).toMatchObject({ code: "OUTBOX_UNAVAILABLE" });
  expect(JSON.stringify([error, error.message, error.cause?.message])).not.toContain("hush");
  await pool.end();
});
