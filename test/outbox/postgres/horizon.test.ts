// What claims and looks read in tables whose dead rows no vacuum removes, because a transaction holds its snapshot.
import { afterAll, afterEach, beforeEach, expect, it } from "vitest";
import { describeWith } from "../../kit/needs.js";
import { outboxEvent } from "../../kit/outbox-event.js";
import { testPostgres } from "../../kit/postgres.js";
import { type TestOutbox, testOutbox } from "../../kit/postgres-outbox.js";

const postgres = await testPostgres();
afterAll(() => postgres?.stop());

describeWith("postgresql", postgres)("while a snapshot is held", () => {
  let outbox: TestOutbox;
  let store: ReturnType<TestOutbox["store"]>;
  let end: () => Promise<void>;
  beforeEach(async () => {
    outbox = testOutbox(postgres?.url ?? "");
    store = outbox.store();
    await store.stats(); // makes the tables
    const holder = await outbox.pool.connect();
    await holder.query("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM pg_class LIMIT 1");
    end = async () => {
      await holder.query("ROLLBACK");
      holder.release();
    };
  });
  afterEach(async () => {
    await end();
    await outbox.drop();
  });

  const query = (sql: string) => outbox.pool.query(sql.replaceAll("hookproof.", `${outbox.schema}.`));

  /** Leaves what so many delivered events of a listener leave. */
  async function deliver(count: number, listener = "orders") {
    await query(`
      INSERT INTO hookproof.event (id, listener, state, digest, due_at)
        SELECT gen_random_uuid(), '${listener}', 'waiting', '', now() - interval '1 min' FROM generate_series(1, ${count});
      UPDATE hookproof.event SET state = 'leased', token = id, leased_until = now() - interval '1 s' WHERE state = 'waiting';
      UPDATE hookproof.event SET state = 'delivered', token = NULL, leased_until = NULL, ended_at = now()
        WHERE state = 'leased'`);
  }

  /** How many blocks a statement reads, when the connection has read what its plans are made from. */
  async function blocks(sql: string): Promise<number> {
    const client = await outbox.pool.connect();
    const explain = `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${sql.replaceAll("hookproof.", `${outbox.schema}.`)}`;
    await client.query(`SET enable_seqscan = off; SET enable_bitmapscan = off; BEGIN; ${explain}; ROLLBACK`);
    const results = (await client.query(`BEGIN; ${explain}; ROLLBACK`)) as unknown as {
      rows: { "QUERY PLAN": [{ Plan: Record<string, number> }] }[];
    }[];
    await client.query("RESET ALL");
    client.release();
    const plan = results[1]?.rows[0]?.["QUERY PLAN"][0].Plan ?? expect.fail("no plan");
    return (plan["Shared Hit Blocks"] ?? 0) + (plan["Shared Read Blocks"] ?? 0);
  }

  const claiming = (more: object = {}) => {
    const wanted = { place: 0, listener: "orders", most: 10, window_ms: 1e9, burst: 1, ...more };
    return `SELECT * FROM hookproof.claim('${JSON.stringify([wanted])}', 10, 60000, gen_random_uuid())`;
  };

  it("a claim goes over what was delivered once, and counts leases only where a limit is set", async () => {
    const put = () => store.enqueue(Array.from({ length: 20 }, () => outboxEvent("x")));
    await put();
    const before = await blocks(claiming());
    await deliver(20_000);
    const once = await blocks(
      "SELECT due_at FROM hookproof.event WHERE listener = 'orders' AND state = 'waiting' ORDER BY due_at LIMIT 1",
    );
    expect(once).toBeGreaterThan(400);
    expect((await blocks(claiming())) - before).toBeLessThan(1.5 * once);
    // Leases that have run out are not counted, dead ones of them not read.
    expect((await blocks(claiming({ concurrency: 5 }))) - before).toBeLessThan(1.5 * once + 50);
  });

  it("the look for leases that have run out reads none that runs", async () => {
    const before = await blocks("SELECT hookproof.unsettled()");
    await query(`INSERT INTO hookproof.event (id, listener, state, digest, token, leased_until)
      SELECT gen_random_uuid(), 'orders', 'leased', '', gen_random_uuid(), now() + interval '1 h' FROM generate_series(1, 20000)`);
    expect((await blocks("SELECT hookproof.unsettled()")) - before).toBeLessThan(20);
  });
});
