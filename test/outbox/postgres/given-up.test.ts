// What a call that was given up leaves in the server, and places that connections of other settings hand on.
import { afterAll, afterEach, beforeEach, expect, it, vi } from "vitest";
import { enqueueStatements } from "../../../src/outbox/postgres/enqueue.js";
import { outboxNames } from "../../../src/outbox/postgres/names.js";
import { Database } from "../../../src/postgres/database.js";
import { postgresReplayStore } from "../../../src/replay/node/postgres-replay-store.js";
import { describeWith } from "../../kit/needs.js";
import { outboxEvent } from "../../kit/outbox-event.js";
import { testPostgres } from "../../kit/postgres.js";
import { type TestOutbox, testOutbox } from "../../kit/postgres-outbox.js";

const postgres = await testPostgres();
afterAll(() => postgres?.stop());

describeWith("postgresql", postgres)("PostgreSQL", () => {
  let outbox: TestOutbox;
  beforeEach(() => {
    outbox = testOutbox(postgres?.url ?? "");
  });
  afterEach(() => {
    vi.restoreAllMocks();
    return outbox.drop();
  });

  /** How many statements with this text run. */
  const running = async (asked: string) =>
    (
      await outbox.pool.query(
        `SELECT FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%${asked}%' AND pid <> pg_backend_pid()`,
      )
    ).rowCount;
  const ends = (asked: string) => expect.poll(() => running(asked), { interval: 200 }).toBe(0);

  it("ends a look that was given up", async () => {
    const asked = `${outbox.schema} asks`;
    const looking = new Database(outbox.pool, 200).read(`SELECT '${asked}', pg_sleep(600)`);
    await expect(looking).rejects.toMatchObject({ code: "OUTBOX_UNAVAILABLE" });
    await ends(asked);
  });

  it("ends an enqueue that was given up while another transaction stores its id", async () => {
    await outbox.store().stats(); // makes the tables
    const event = outboxEvent("same");
    const other = await outbox.pool.connect();
    await other.query("BEGIN");
    await outbox.store().enqueue([event], other);
    const late = new Database(outbox.pool, 400);
    const given = enqueueStatements(outboxNames(outbox.schema)).byItself(late, [event]);
    await expect(given).rejects.toMatchObject({ code: expect.stringMatching(/^OUTBOX_/) });
    await ends(`${outbox.schema}".store(`);
    await other.query("ROLLBACK");
    other.release();
    await outbox.store().enqueue([event]);
    expect(await outbox.states()).toEqual({ waiting: 1 });
  });

  it.each(["reserve", "commit", "release"] as const)(
    "ends a %s of a replay store that was given up while a transaction has the id",
    async (name) => {
      const table = `replay_${outbox.schema}`;
      const of = (timeoutMs: number) => postgresReplayStore({ pool: outbox.pool, table, timeoutMs });
      const reserved = await of(10_000).reserve("lst_1", "one");
      const other = await outbox.pool.connect();
      if (reserved.state !== "reserved") expect.fail(reserved.state);
      const { reservation } = reserved;
      if (name === "reserve") await of(10_000).release(reservation); // the id is nobody's
      await other.query("BEGIN");
      await of(10_000).commit(reservation, other);
      const late = of(300);
      const given = name === "reserve" ? late.reserve("lst_1", "one") : late[name](reservation);
      await expect(given).rejects.toMatchObject({ code: "REPLAY_STORE_UNAVAILABLE" });
      await ends(`"${table}"`);
      await other.query(`ROLLBACK; DROP TABLE ${table}`);
      other.release();
    },
  );

  it("goes on where another connection ended, whatever way each writes dates", async () => {
    const store = outbox.store();
    await store.pause("orders", "");
    await outbox.pool.query(`UPDATE ${outbox.schema}.listener SET has_aside = true;
      INSERT INTO ${outbox.schema}.event (id, listener, state, digest, ready_at)
        SELECT gen_random_uuid(), 'orders', 'aside', '', '2026-03-25T10:00Z'::timestamptz + g * interval '1 ms' FROM generate_series(1, 2500) g;
      INSERT INTO ${outbox.schema}.event (id, listener, state, digest, reason, code, history, ended_at)
        SELECT gen_random_uuid(), 'letters', 'dead', '', 'final', 'REQUEST_REFUSED', '{}', '2026-03-25T10:00Z'::timestamptz + g * interval '1 ms'
        FROM generate_series(1, 2500) g`);
    const connect = outbox.pool.connect.bind(outbox.pool);
    let count = 0;
    vi.spyOn(outbox.pool, "connect").mockImplementation((async (callback?: never) => {
      if (callback) return connect(callback); // of the pool's own query
      const client = await connect();
      await client.query(count++ % 2 ? "SET DateStyle = 'SQL, DMY'" : "SET DateStyle = 'SQL, MDY'");
      return client;
    }) as never);
    await store.resume("orders");
    const letters = new Set<string>();
    for await (const letter of store.deadLetters({})) letters.add(letter.event.id);
    expect(letters.size).toBe(2_500);
    const before = { delivered: Date.now(), dead: Date.now() };
    let removed = 0;
    for (let gone = 1; gone > 0; removed += gone) gone = await store.prune(before);
    expect(removed).toBe(2_500);
    vi.restoreAllMocks();
    expect((await outbox.states()).waiting).toBe(2_500);
  });
});
