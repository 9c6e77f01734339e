import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { hmacSigner } from "hookproof";
import { createOutbox } from "hookproof/outbox";
import { postgresStore } from "hookproof/outbox/postgres";
import pg from "pg";
import { afterAll, afterEach, beforeEach, expect, it } from "vitest";
import { describeWith } from "../../kit/needs.js";
import { outboxEvent } from "../../kit/outbox-event.js";
import { testPool, testPostgres } from "../../kit/postgres.js";
import { type TestOutbox, testOutbox } from "../../kit/postgres-outbox.js";
import { receiverServer, SECRET } from "../../kit/receiver-server.js";
import { type TcpProxy, tcpProxy } from "../../kit/tcp-proxy.js";

const postgres = await testPostgres();
afterAll(() => postgres?.stop());

const LISTENERS = new Map([["orders", { most: 100, windowMs: 600_000 }]]);

describeWith("postgresql", postgres)("postgresStore in a network that fails", () => {
  let outbox: TestOutbox;
  let proxy: TcpProxy;
  let far: pg.Pool;
  beforeEach(async () => {
    const url = new URL(postgres?.url ?? "");
    outbox = testOutbox(url.href);
    await outbox.store().stats();
    proxy = await tcpProxy({ host: url.hostname, port: Number(url.port) });
    url.port = String(proxy.port);
    far = testPool({ connectionString: url.href, idleTimeoutMillis: 0 }); // what is forgotten stays in the pool
  });
  afterEach(async () => {
    void far.end().catch(() => {});
    await proxy.stop();
    await outbox.drop();
  });

  /** Holds every write to the events up until it is called. */
  async function locked(): Promise<() => Promise<void>> {
    const client = await outbox.pool.connect();
    await client.query(`BEGIN; LOCK TABLE ${outbox.schema}.event`);
    return async () => {
      await client.query("COMMIT");
      client.release();
    };
  }

  /** A store whose calls end soon when they hang; it has looked at its tables, for which it has as long as it takes. */
  async function hasty(options: Parameters<TestOutbox["store"]>[0]) {
    const store = outbox.store({ timeoutMs: 500, ...options });
    await expect.poll(() => store.stats().catch(() => undefined)).toBeDefined();
    return store;
  }

  it("a worker whose connections were all forgotten works on over new ones", async () => {
    const receiver = await receiverServer({});
    const worker = createOutbox({
      store: outbox.store({ pool: far, timeoutMs: 500 }), // the limit by which it notices; what else it ends is done again
      listeners: { orders: { url: receiver.url, signer: hmacSigner({ secret: SECRET }) } },
      pollMs: 20,
    });
    const near = outbox.store();
    const put = (count: number) => near.enqueue(Array.from({ length: count }, () => outboxEvent("one")));
    try {
      await put(50);
      worker.start();
      const patient = outbox.store({ pool: far });
      await Promise.all(Array.from({ length: 8 }, () => patient.stats())); // so that the pool has many connections
      await expect.poll(() => receiver.runs.size).toBe(50);
      proxy.forget();
      const before = proxy.connections;
      await put(50);
      await expect.poll(() => receiver.runs.size).toBe(100);
      await expect.poll(async () => (await near.stats())[0]?.delivered).toBe(100);
      expect(proxy.connections).toBeGreaterThan(before);
    } finally {
      await worker.stop();
      await receiver.stop();
    }
  });

  it("a network that swallows connections keeps no place of the pool, and all goes on after it", async () => {
    const swallowed: Socket[] = [];
    let isWell = false;
    const target = new URL(postgres?.url ?? "");
    const server = createServer((socket) => {
      swallowed.push(socket.on("error", () => {}));
      if (!isWell) return; // accepted, and never answered
      const upstream = connect(Number(target.port), target.hostname);
      socket.pipe(upstream.on("error", () => {})).pipe(socket);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = Object.assign(new URL(target), { port: (server.address() as AddressInfo).port });
    const pool = testPool({ connectionString: url.href, max: 3, connectionTimeoutMillis: 500 });
    const receiver = await receiverServer({});
    const worker = createOutbox({
      store: outbox.store({ pool, timeoutMs: 400 }), // the limit by which it gives up on a connection
      listeners: { orders: { url: receiver.url, signer: hmacSigner({ secret: SECRET }) } },
      quiet: true,
    });
    try {
      await outbox.store().enqueue(Array.from({ length: 20 }, () => outboxEvent("one")));
      worker.start();
      await expect.poll(() => swallowed.length).toBeGreaterThan(6); // each place was given back, and taken again
      isWell = true;
      await expect.poll(() => receiver.runs.size).toBe(20);
      expect((await pool.query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]); // the application's own
    } finally {
      await worker.stop();
      await receiver.stop();
      for (const socket of swallowed) socket.destroy();
      void pool.end().catch(() => {});
      server.close();
    }
  });

  it("refuses a pool that would wait for a connection for ever", () => {
    for (const options of [{}, { connectionTimeoutMillis: 0 }])
      expect(() => postgresStore({ pool: new pg.Pool(options) })).toThrow(/connectionTimeoutMillis: 5_000/);
  });

  it("says that a pool is in use, where it is", async () => {
    const pool = testPool({ connectionString: postgres?.url, max: 2, connectionTimeoutMillis: 60_000 });
    const used = await Promise.all([pool.connect(), pool.connect()]);
    const error = await outbox
      .store({ pool, timeoutMs: 100 })
      .stats()
      .catch((caught) => caught);
    expect(error.cause.message).toBe(
      "The pool gave no connection within 100 ms: all 2 are in use, or being made",
    );
    for (const client of used) client.release();
    await pool.end();
  });

  it("a lost connection ends no process, whose pool nobody listens to", async () => {
    const pool = new pg.Pool({ connectionString: postgres?.url, connectionTimeoutMillis: 10_000 });
    const store = outbox.store({ pool });
    const own = await pool.connect(); // of the application, which asks nothing at the moment
    await store.stats(); // on another one
    const { rows } = await outbox.pool.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()`,
    );
    expect(rows.length).toBeGreaterThan(1);
    await expect
      .poll(() => own.query("SELECT 1").catch((error) => error.message))
      .toMatch(/not queryable|terminat/);
    own.release(true);
    await expect.poll(() => store.stats().catch(() => undefined)).toBeDefined();
    await pool.end();
  });

  it("a worker is notified again after the connection that listens was forgotten", async () => {
    const store = await hasty({ pool: far });
    const near = outbox.store();
    let wakes = 0;
    const stop = store.onWork?.(() => wakes++);
    // A notification is sent when something is enqueued, and one that nobody listens to is lost.
    const notified = async () => {
      const before = wakes;
      const hasWoken = () => near.enqueue([outboxEvent("one")])?.then(() => wakes > before);
      await expect.poll(hasWoken).toBe(true);
    };
    try {
      await notified();
      await outbox.store({ pool: far }).stats(); // so that the pool has another connection
      proxy.forget();
      await expect(store.stats()).rejects.toMatchObject({ code: "OUTBOX_UNAVAILABLE" });
      const before = proxy.connections;
      await notified();
      expect(proxy.connections).toBeGreaterThan(before);
    } finally {
      stop?.();
    }
  });

  it("what a claim took whose answer was lost is handed out again at once, as its first attempt", async () => {
    const store = outbox.store({ pool: far });
    await store.enqueue([outboxEvent("one"), outboxEvent("keyed", { orderingKey: "k" })]);
    const claim = (listeners = LISTENERS) => store.claim({ limit: 10, leaseMs: 60_000, listeners });
    await claim(new Map([["none", { most: 1, windowMs: 1_000 }]])); // places the one with a key
    proxy.cutAfter(".claim(");
    await expect(claim()).rejects.toMatchObject({ code: "OUTBOX_OUTCOME_UNKNOWN" });
    expect(await outbox.states()).toEqual({ leased: 2 });
    const claimed = await claim();
    expect(claimed.map(({ attempt, sentBefore }) => [attempt, sentBefore])).toEqual([
      [1, false],
      [1, false],
    ]);
  });

  it("an enqueueing whose answer was lost is unknown, and can be repeated under its id", async () => {
    const store = outbox.store({ pool: far });
    await store.stats();
    for (const events of [[outboxEvent("one")], [outboxEvent("two"), outboxEvent("three")]]) {
      proxy.cutAfter(events.length === 1 ? ".store(CASE" : "\u000bCOMMIT"); // a message by itself
      const error = await Promise.resolve(store.enqueue(events)).catch((caught) => caught);
      expect(error).toMatchObject({ code: "OUTBOX_OUTCOME_UNKNOWN" });
      for (const { id } of events) expect(error.message).toContain(id);
      await expect.poll(() => store.find(events[0]?.id ?? "")).toHaveLength(1);
      await store.enqueue(events);
      for (const { id } of events) expect(await store.find(id)).toHaveLength(1);
    }
    expect(await store.stats()).toMatchObject([{ pending: 3 }]);
  });

  it("an enqueueing that outlasts its time limit is unknown; before it was asked, it is not", async () => {
    const store = await hasty({ timeoutMs: 2_000 }); // in which it comes as far as the lock
    const unlock = await locked();
    const event = outboxEvent("one");
    await expect(store.enqueue([event])).rejects.toMatchObject({ code: "OUTBOX_OUTCOME_UNKNOWN" });
    await unlock();
    await expect.poll(() => store.find(event.id)).toHaveLength(1); // so it was no "nothing was stored"
    const full = testPool({ connectionString: postgres?.url, max: 1 });
    const only = await full.connect();
    const waits = outbox.store({ pool: full, timeoutMs: 100 });
    await expect(waits.enqueue([outboxEvent("two")])).rejects.toMatchObject({ code: "OUTBOX_UNAVAILABLE" });
    only.release();
    await full.end();
    expect(await outbox.store().stats()).toMatchObject([{ pending: 1 }]);
  });

  it("inside a transaction it waits as long as the caller does, and writes nothing afterwards", async () => {
    const store = await hasty({ timeoutMs: 200 });
    const client = await outbox.pool.connect();
    const unlock = await locked();
    await client.query("BEGIN; SET LOCAL statement_timeout = 400");
    const error = await Promise.resolve(store.enqueue([outboxEvent("one")], client)).catch(
      (caught) => caught,
    );
    expect(error).toMatchObject({ code: "OUTBOX_UNAVAILABLE", cause: { code: "57014" } }); // the caller's own limit
    await client.query("ROLLBACK");
    await unlock();
    await client.query("BEGIN");
    const kept = outboxEvent("two");
    await store.enqueue([kept], client);
    await client.query("COMMIT");
    client.release();
    const { rows } = await outbox.pool.query(`SELECT id FROM ${outbox.schema}.event`);
    expect(rows).toEqual([{ id: kept.id }]);
  });

  it.each(["REPEATABLE READ", "SERIALIZABLE"])(
    "passes a serialization failure of a %s transaction on as the driver gave it",
    async (level) => {
      const store = outbox.store();
      const client = await outbox.pool.connect();
      await client.query(`BEGIN ISOLATION LEVEL ${level}; SELECT 1`);
      const event = outboxEvent("one");
      await store.enqueue([event]);
      await expect(store.enqueue([event], client)).rejects.toMatchObject({
        code: "40001",
        severity: "ERROR",
      });
      await client.query("ROLLBACK");
      client.release();
    },
  );

  it("runs its own work again when PostgreSQL ended it for a deadlock", async () => {
    const store = outbox.store();
    await store.enqueue([outboxEvent("one", { orderingKey: "k" })]);
    const [claimed] = await store.claim({ limit: 1, leaseMs: 60_000, listeners: LISTENERS });
    const other = await outbox.pool.connect();
    await other.query("BEGIN; SET LOCAL deadlock_timeout = '1min'"); // whoever looks first is the one that ends
    await other.query(`SELECT FROM ${outbox.schema}.event FOR UPDATE`);
    const completed = store.markDelivered([
      {
        lease: claimed?.lease ?? expect.fail("nothing was claimed"),
        outcome: "delivered",
        attempt: { number: 1, startedAt: 0, durationMs: 1 },
      },
    ]);
    // It has the lock of the order and waits for the event; now the other one wants the lock, and comes second.
    const waiting = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%' || $1 || '%'`;
    await expect.poll(async () => (await outbox.pool.query(waiting, [outbox.schema])).rowCount).toBe(1);
    await other.query(
      `SELECT pg_advisory_xact_lock(hashtextextended('hookproof ${outbox.schema} order', 0)); COMMIT`,
    );
    other.release();
    expect(await completed).toBe(1);
  });

  it("asks once where nothing is due, for thousands of listeners as for one", async () => {
    let asked = 0;
    const counting = {
      async connect() {
        const client = await outbox.pool.connect();
        return {
          query(text: string, values?: unknown[]) {
            asked += 1;
            return client.query(text, values);
          },
          release: (error?: Error | boolean) => client.release(error),
        };
      },
    };
    const store = outbox.store({ pool: counting });
    const names = Array.from({ length: 2_000 }, (_, n): [string, { most: number; windowMs: number }] => [
      `listener ${n}`,
      { most: 10, windowMs: 600_000 },
    ]);
    const claim = () => store.claim({ limit: 100, leaseMs: 60_000, listeners: new Map(names) });
    await claim();
    asked = 0;
    await claim();
    expect(asked).toBe(1);
  });
});
