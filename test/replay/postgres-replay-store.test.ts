import type { PostgresPool, PostgresPoolClient } from "hookproof/outbox/postgres";
import { createReceiver, type Reservation } from "hookproof/receiver";
import { postgresReplayStore } from "hookproof/replay";
import { replayStoreContract } from "hookproof/testing";
import pg from "pg";
import { afterAll, afterEach, beforeEach, expect, it, onTestFinished } from "vitest";
import { heldPort } from "../kit/held-port.mjs";
import { describeWith } from "../kit/needs.js";
import { TIMEOUT_MS } from "../kit/open-replay-store.js";
import { testPool, testPostgres } from "../kit/postgres.js";
import { LISTENER, signedRequest } from "../kit/signed-request.js";

/** A pool whose connections all ask in one way. */
const poolOf = (query: PostgresPoolClient["query"]): PostgresPool => ({
  connect: async () => ({ query, release() {} }),
});

const postgres = await testPostgres();
afterAll(() => postgres?.stop());

describeWith("postgresql", postgres)("postgresReplayStore", () => {
  let schema: Awaited<ReturnType<NonNullable<typeof postgres>["schema"]>>;
  beforeEach(async () => {
    schema = await (postgres as NonNullable<typeof postgres>).schema();
  });
  afterEach(() => schema.drop());

  const openStore = () => postgresReplayStore({ pool: schema.pool, timeoutMs: TIMEOUT_MS });

  for (const { name, run } of replayStoreContract) {
    it(name, () =>
      run({
        open: openStore,
        async passTime(ms) {
          await schema.pool.query(
            "UPDATE hookproof_event_ids SET expires_at = expires_at - $1 * interval '1 ms'",
            [ms],
          );
        },
      }),
    );
  }

  it("creates its table once, however many ask at once", async () => {
    const asked = Array.from({ length: 20 }, () => openStore().reserve("lst_1", "id"));
    const states = (await Promise.all(asked)).map(({ state }) => state);
    expect(states.filter((state) => state === "reserved")).toHaveLength(1);
    const named = postgresReplayStore({
      pool: schema.pool,
      table: `${schema.name}.other_ids`,
      timeoutMs: TIMEOUT_MS,
    });
    expect((await named.reserve("lst_1", "id")).state).toBe("reserved");
  });

  it("removes expired ids, at most 500 a call", async () => {
    await openStore().reserve("lst_new", "first");
    const store = openStore();
    await schema.pool.query(
      "INSERT INTO hookproof_event_ids SELECT 'lst_old', i, 'token', true, now() FROM generate_series(1, 1200) i",
    );
    const counts: number[] = [];
    for (const eventId of ["a", "b", "c", "d"]) {
      await store.reserve("lst_new", eventId);
      const { rows } = await schema.pool.query(
        "SELECT count(*)::int AS n FROM hookproof_event_ids WHERE listener_id = 'lst_old'",
      );
      counts.push(rows[0].n);
    }
    expect(counts).toEqual([700, 200, 0, 0]);
  });

  it("looks for expired ids by their index, however many are kept", async () => {
    const asked: string[] = [];
    const pool = poolOf((text, values) => {
      asked.push(text);
      return schema.pool.query(text, values);
    });
    await postgresReplayStore({ pool, timeoutMs: TIMEOUT_MS }).reserve("lst_1", "id");
    await schema.pool.query(`INSERT INTO hookproof_event_ids
      SELECT 'lst_1', i, 'token', true, now() + random() * interval '7 days' FROM generate_series(1, 20000) i;
      ANALYZE hookproof_event_ids`);
    const cleanup = asked.find((text) => text.startsWith("DELETE")) ?? expect.fail("it did not look");
    const { rows } = await schema.pool.query(`EXPLAIN ${cleanup}`);
    const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
    expect(plan).toMatch(/Index Cond: \(expires_at <=/);
    expect(plan).not.toMatch(/Seq Scan/);
  });

  it("commits id and work together, or neither", async () => {
    const store = openStore();
    await schema.pool.query("CREATE TABLE jobs (event_id text)");
    const receiver = createReceiver({ listener: LISTENER, replayStore: store });
    const request = await signedRequest();
    const jobs = async () => (await schema.pool.query("SELECT FROM jobs")).rowCount;
    const accept = (fail: boolean) =>
      receiver.receive(request, async (event, reservation) => {
        const client = await schema.pool.connect();
        try {
          await client.query("BEGIN");
          await client.query("INSERT INTO jobs VALUES ($1)", [event.id]);
          await store.commit(reservation, client);
          if (fail) throw new Error("the disk is full");
          await client.query("COMMIT");
        } catch (error) {
          await client.query("ROLLBACK");
          throw error;
        } finally {
          client.release();
        }
      });
    expect([(await accept(true)).status, await jobs()]).toEqual([503, 0]);
    expect([(await accept(false)).status, await jobs()]).toEqual([200, 1]);
    expect([(await accept(false)).status, await jobs()]).toEqual([409, 1]);
  });

  it("a copy is answered while the transaction that commits its id is open", async () => {
    const store = openStore();
    const first = await store.reserve("lst_1", "id");
    if (first.state !== "reserved") throw new Error(first.state);
    const client = await schema.pool.connect();
    await client.query("BEGIN");
    await store.commit(first.reservation, client);
    expect((await store.reserve("lst_1", "id")).state).toBe("in-flight");
    await client.query("COMMIT");
    client.release();
    expect((await store.reserve("lst_1", "id")).state).toBe("processed");
  });

  it("answers 503 with Retry-After while its table cannot be created, and the id is not used up", async () => {
    let isDown = true;
    const pool = poolOf((sql, values) =>
      isDown ? Promise.reject(new Error("down")) : schema.pool.query(sql, values),
    );
    const receiver = createReceiver({ listener: LISTENER, replayStore: postgresReplayStore({ pool }) });
    const request = await signedRequest();
    const refused = await receiver.receive(request, async () => {});
    expect([refused.status, Object.fromEntries(refused.headers)["Retry-After"]]).toEqual([503, "1"]);
    isDown = false;
    expect((await receiver.receive(request, async () => {})).status).toBe(200);
  });

  it("calls of one moment share a statement, but for those with one id", async () => {
    let statements = 0;
    const query = (sql: string, values?: unknown[]) => {
      statements++;
      return schema.pool.query(sql, values);
    };
    const store = postgresReplayStore({ pool: poolOf(query) });
    await store.reserve("lst_1", "before");
    statements = 0;
    const ids = [...Array.from({ length: 98 }, (_, at) => `id ${at}`), "twice", "twice"];
    const found = await Promise.all(ids.map((eventId) => store.reserve("lst_1", eventId)));
    const reservations = found.flatMap((one) => (one.state === "reserved" ? [one.reservation] : []));
    expect(statements).toBe(2);
    expect(reservations.map(({ eventId }) => eventId)).toEqual(ids.slice(0, 99));
    const [lost, ...kept] = reservations;
    await schema.pool.query(
      "UPDATE hookproof_event_ids SET token = 'of another process' WHERE event_id = 'id 0'",
    );
    const committed = await Promise.allSettled(
      [lost, ...kept, kept[0]].map((one) => store.commit(one as never)),
    );
    expect(statements).toBe(4);
    expect(committed.map(({ status }) => status)).toEqual(["rejected", ...Array(99).fill("fulfilled")]);
    const again = await Promise.all(ids.map((eventId) => store.reserve("lst_1", eventId)));
    expect(again.map(({ state }) => state)).toEqual(
      ids.map((id) => (id === "id 0" ? "in-flight" : "processed")),
    );
  });

  it("2,000 calls of one moment make statements of 500, and one look for expired ids", async () => {
    const statements: string[] = [];
    const query = (sql: string, values?: unknown[]) => {
      statements.push(sql);
      return schema.pool.query(sql, values);
    };
    const store = postgresReplayStore({ pool: poolOf(query), timeoutMs: 60_000 });
    const found = await Promise.all(
      Array.from({ length: 2_000 }, (_, at) => store.reserve("lst_1", `${at}`)),
    );
    expect(found.filter(({ state }) => state === "reserved")).toHaveLength(2_000);
    expect(statements.filter((sql) => sql.startsWith("WITH given")).length).toBeGreaterThanOrEqual(4);
    expect(statements.length).toBeLessThan(20);
    const { rows } = await schema.pool.query("SELECT count(*)::int AS n FROM hookproof_event_ids");
    expect(rows).toEqual([{ n: 2_000 }]);
  });

  it("a call that cannot be is refused alone", async () => {
    const store = openStore();
    await store.reserve("lst_1", "first"); // makes the table, so that the next share a statement
    const calls = ["id 1", "an id with \0", "id 2"].map((id) => store.reserve("lst_1", id));
    const wrong = store.commit(undefined as never);
    const found = await Promise.allSettled([...calls, wrong]);
    expect(found.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "rejected"]);
  });

  it("releases what is held and not committed, in one statement, and nothing of others", async () => {
    const store = openStore();
    const found = await Promise.all(["a", "b", "c"].map((id) => store.reserve("lst_1", id)));
    const [a, b, c] = found.map((one) => (one.state === "reserved" ? one.reservation : undefined)) as [
      Reservation,
      Reservation,
      Reservation,
    ];
    await store.commit(b);
    await Promise.all([a, b, { ...c, token: "of another process" }].map((one) => store.release(one)));
    const again = await Promise.all(["a", "b", "c"].map((id) => store.reserve("lst_1", id)));
    expect(again.map(({ state }) => state)).toEqual(["reserved", "processed", "in-flight"]);
  });

  it("under serializable isolation, one id that collides fails none of its statement", async () => {
    const options = `${schema.pool.options.options ?? ""} -c default_transaction_isolation=serializable`;
    const pools = [1, 2].map(() => testPool({ ...schema.pool.options, options }));
    for (const pool of pools) onTestFinished(() => pool.end());
    const stores = pools.map((pool) => postgresReplayStore({ pool, timeoutMs: 30_000 }));
    let reserved = 0;
    for (let round = 0; round < 20; round++)
      for (const result of await Promise.all(
        stores.flatMap((store, of) =>
          Array.from({ length: 20 }, (_, at) =>
            store.reserve("lst_1", at < 4 ? `${round} ${at}` : `${round} ${at} of ${of}`),
          ),
        ),
      ))
        if (result.state === "reserved") reserved++;
    expect(reserved).toBe(20 * (16 * 2 + 4));
  });

  it("works for a role that may not create tables, over a table that is there", async () => {
    await openStore().reserve("lst_1", "first");
    const role = `${schema.name}_app`;
    await schema.pool.query(`CREATE ROLE ${role};
      GRANT USAGE ON SCHEMA ${schema.name} TO ${role};
      GRANT SELECT, INSERT, UPDATE, DELETE ON hookproof_event_ids TO ${role}`);
    const client = await schema.pool.connect();
    try {
      await client.query(`SET ROLE ${role}`);
      await expect(client.query("CREATE TABLE other_ids ()")).rejects.toThrow(/permission denied/);
      const store = postgresReplayStore({
        pool: poolOf((...given) => client.query(...given)),
        timeoutMs: TIMEOUT_MS,
      });
      expect((await store.reserve("lst_1", "second")).state).toBe("reserved");
    } finally {
      await client.query("RESET ROLE");
      client.release();
      await schema.pool.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
    }
  });
});

it("a server that is not there is REPLAY_STORE_UNAVAILABLE", async () => {
  const pool = testPool({
    ...{ host: "127.0.0.1", port: await heldPort(), user: "nobody", password: "hush" },
  });
  const error = await postgresReplayStore({ pool })
    .reserve("lst_1", "id")
    .catch((caught) => caught);
  expect(error).toMatchObject({ code: "REPLAY_STORE_UNAVAILABLE", cause: { code: "ECONNREFUSED" } });
  await pool.end();
});

it("a server that is late is REPLAY_STORE_UNAVAILABLE", async () => {
  const pool = poolOf(() => new Promise<never>(() => {}));
  const store = postgresReplayStore({ pool, timeoutMs: 5 });
  await expect(store.reserve("lst_1", "id")).rejects.toMatchObject({ code: "REPLAY_STORE_UNAVAILABLE" });
});

it("names what cannot work", () => {
  expect(() => postgresReplayStore({ pool: {} as never })).toThrow(/^pool must be/);
  expect(() => postgresReplayStore({ pool: new pg.Pool() })).toThrow(/^pool must have a time limit/);
  const pool = poolOf(async () => ({ rows: [] }));
  expect(() => postgresReplayStore({ pool, table: 'a"b' })).toThrow(/^table must be/);
  expect(() => postgresReplayStore({ pool, timeoutMs: -1 })).toThrow(/^timeoutMs must be/);
});
