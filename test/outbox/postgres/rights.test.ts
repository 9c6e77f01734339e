import { readFileSync } from "node:fs";
import { type Activity, hmacSigner } from "hookproof";
import { createOutbox } from "hookproof/outbox";
import type { postgresStore } from "hookproof/outbox/postgres";
import type pg from "pg";
import { afterAll, afterEach, beforeEach, expect, it } from "vitest";
import { describeWith } from "../../kit/needs.js";
import { outboxEvent } from "../../kit/outbox-event.js";
import { testPool, testPostgres } from "../../kit/postgres.js";
import { type TestOutbox, testOutbox } from "../../kit/postgres-outbox.js";
import { receiverServer, SECRET } from "../../kit/receiver-server.js";

const postgres = await testPostgres();
afterAll(() => postgres?.stop());

/** The grants of the guide, in its order: who enqueues, who delivers. */
const guide = readFileSync(new URL("../../../docs/guides/outbox-postgresql.md", import.meta.url), "utf8");
const granted = [...guide.matchAll(/```sql\n(-- who \w+\n[^`]+)```/g)].map(([, text]) => text ?? "");

describeWith("postgresql", postgres)("roles that have only what the guide grants", () => {
  let outbox: TestOutbox;
  let pool: pg.Pool;
  let role: string;
  beforeEach(async () => {
    outbox = testOutbox(postgres?.url ?? "");
    await outbox.store().stats(); // a role with more rights makes the tables
    role = `role_${outbox.schema}`;
    await outbox.pool.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`);
    const url = Object.assign(new URL(postgres?.url ?? ""), { username: role, password: "secret" });
    pool = testPool({ connectionString: url.href });
  });
  afterEach(async () => {
    await pool.end();
    await outbox.pool.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
    await outbox.drop();
  });

  const grant = (text: string) =>
    outbox.pool.query(text.replaceAll(/\bhookproof\b/g, outbox.schema).replaceAll(/\bapp(?:_\w+)?\b/g, role));

  async function delivers(store: ReturnType<typeof postgresStore>): Promise<Activity[]> {
    const receiver = await receiverServer({});
    const told: Activity[] = [];
    const worker = createOutbox({
      store,
      listeners: { orders: { url: receiver.url, signer: hmacSigner({ secret: SECRET }) } },
      observe: (event) => told.push(event),
    });
    await outbox.store().enqueue([outboxEvent("one"), outboxEvent("two", { orderingKey: "k" })]);
    worker.start();
    await expect.poll(() => receiver.runs.size).toBe(2);
    await expect.poll(async () => (await store.stats())[0]?.delivered).toBe(2);
    await worker.stop();
    await receiver.stop();
    return told;
  }

  it("is told which right is missing, such as EXECUTE on the functions", async () => {
    await grant(granted[0] ?? "");
    const { schema } = outbox;
    await outbox.pool.query(`REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA ${schema} FROM PUBLIC, ${role}`);
    await expect(outbox.store({ pool }).enqueue([outboxEvent("one")])).rejects.toMatchObject({
      code: "OUTBOX_UNAVAILABLE",
      message: expect.stringMatching(
        new RegExp(
          `lacks a right in the outbox's schema "${schema}": permission denied for function .*EXECUTE`,
        ),
      ),
    });
  });

  it("enqueues, by the library and by the SQL function, and reads nothing else", async () => {
    await grant(granted[0] ?? "");
    const store = outbox.store({ pool });
    await store.enqueue([outboxEvent("one"), outboxEvent("two", { orderingKey: "k" })]);
    const client = await pool.connect();
    await client.query("BEGIN");
    await store.enqueue([outboxEvent("three")], client);
    await store.enqueue([outboxEvent("by a function")], (text, values) => client.query(text, values));
    await client.query(`SELECT ${outbox.schema}.enqueue('orders', '{}')`);
    await client.query(
      `SELECT ${outbox.schema}.enqueue('orders', '{}', deliver_at => now() + interval '1 day')`,
    );
    await client.query("COMMIT");
    client.release();
    const one = outboxEvent("for both");
    for (let twice = 0; twice < 2; twice++) await store.enqueue([one, { ...one, listener: "bills" }]);
    expect(await outbox.store().stats()).toMatchObject([{ pending: 1 }, { pending: 7 }]);
    await expect(store.pause("orders")).rejects.toMatchObject({ code: "OUTBOX_UNAVAILABLE" });
    // A worker with too few rights says so in the database's own words.
    const told: Activity[] = [];
    const worker = createOutbox({
      store: outbox.store({ pool }),
      listeners: {
        orders: {
          url: "http://127.0.0.1:9/api/v1/webhooks/incoming/lst_1",
          signer: hmacSigner({ secret: SECRET }),
        },
      },
      observe: (activity) => told.push(activity),
    });
    worker.start();
    await expect
      .poll(() => told.find(({ type }) => type === "store-changed"))
      .toMatchObject({
        code: "OUTBOX_UNAVAILABLE",
        reason: expect.stringMatching(/^"permission denied for /),
      });
    await worker.stop({ timeoutMs: 0 });
    await expect(pool.query(`SELECT body FROM ${outbox.schema}.event`)).rejects.toMatchObject({
      code: "42501",
    });
    const claiming = `SELECT ${outbox.schema}.claim('[{"listener":"orders","most":9}]', 9, 60000, gen_random_uuid())`;
    await expect(pool.query(claiming)).rejects.toMatchObject({ code: "42501" });
  });

  it("delivers, and looks after what ended", async () => {
    await grant(granted[1] ?? "");
    const store = outbox.store({ pool });
    const told = await delivers(store);
    expect(told.filter(({ type }) => type === "store-changed" || type === "warning")).toEqual([]);
    expect(await store.workers()).toEqual([]); // it has said that it stopped
    const [event] = [outboxEvent("dead")];
    await store.enqueue([event]);
    const [claimed] = await store.claim({
      limit: 1,
      leaseMs: 1_000,
      listeners: new Map([["orders", { most: 1, windowMs: 1_000 }]]),
    });
    const burial = { reason: "refused", code: "REQUEST_REFUSED", blocksKey: false } as const;
    await store.fail(claimed?.lease ?? expect.fail("nothing was claimed"), burial);
    expect(await store.redrive({}, 60_000)).toEqual({ redriven: 1, pastWindow: 0 });
    expect(await store.prune({ delivered: Date.now() + 60_000, dead: 0 })).toBe(2);
  });

  it("pauses, lists and cancels, and forgets the pause", async () => {
    await grant(granted[1] ?? "");
    const store = outbox.store({ pool });
    const event = outboxEvent("one", { orderingKey: "k" });
    await store.enqueue([event]);
    await store.pause("orders", "moving house");
    await store.rest("bills", 0);
    expect(await store.stats()).toMatchObject([{ pending: 1, paused: { reason: "moving house" } }]);
    expect(await store.pending({}, 10)).toMatchObject([{ id: event.id }]);
    expect(await store.cancel({ listener: "orders" })).toEqual({ cancelled: 1, tooLate: 0 });
    expect(await store.resume("orders")).toBe(true);
    expect(await store.prune({ delivered: Date.now() + 60_000, dead: 0 })).toBe(1);
    expect((await outbox.pool.query(`SELECT FROM ${outbox.schema}.listener`)).rowCount).toBe(0);
  });

  it("delivers where the grants are of before there was a table of workers, and says so once", async () => {
    await grant((granted[1] ?? "").replace(", hookproof.worker", ""));
    const told = await delivers(outbox.store({ pool }));
    expect(told.filter(({ type }) => type === "store-changed")).toEqual([]);
    expect(told.filter(({ type }) => type === "warning")).toMatchObject([
      {
        message: expect.stringMatching(
          /cannot note that this worker is alive.*permission denied for table worker/,
        ),
      },
    ]);
    await outbox.store().followClock();
    await outbox.subject.passTime(-3_600_000);
    expect(await outbox.store({ pool }).followClock()).toBeGreaterThan(3_000_000);
  });

  it("delivers without the right to remove what ended", async () => {
    await grant((granted[1] ?? "").replaceAll(", DELETE", ""));
    const store = outbox.store({ pool });
    const told = await delivers(store);
    const said = told.flatMap((one) => (one.type === "warning" ? one.message : []));
    expect(said.filter((message) => message.includes("this worker"))).toEqual([
      'The outbox cannot note that this worker has stopped. Cause: "permission denied for table worker"',
    ]);
    expect(await store.workers()).toHaveLength(1); // it is seen, and could not be removed when it stopped
  });
});
