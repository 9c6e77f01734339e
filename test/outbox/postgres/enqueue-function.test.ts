import { execFile, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { hmacSigner } from "hookproof";
import { createOutbox } from "hookproof/outbox";
import { postgresStore } from "hookproof/outbox/postgres";
import pg from "pg";
import { afterAll, afterEach, beforeEach, expect, it } from "vitest";
import { fencedBlocks } from "../../kit/markdown.js";
import { describeWith, itWith } from "../../kit/needs.js";
import { outboxEvent } from "../../kit/outbox-event.js";
import { testPool, testPostgres } from "../../kit/postgres.js";
import { type TestOutbox, testOutbox } from "../../kit/postgres-outbox.js";
import { receiverServer, SECRET } from "../../kit/receiver-server.js";

const postgres = await testPostgres();
afterAll(() => postgres?.stop());

/** Debian's package is for Debian's own Python. */
const python = ["python3", "/usr/bin/python3"].find(
  (name) => spawnSync(name, ["-c", "import psycopg"]).status === 0,
);
const example = (name: string) => fileURLToPath(new URL(`../../../examples/${name}`, import.meta.url));

describeWith("postgresql", postgres)("the SQL function enqueue", () => {
  let outbox: TestOutbox;
  beforeEach(async () => {
    outbox = testOutbox(postgres?.url ?? "");
    await outbox.store().stats();
  });
  afterEach(() => outbox.drop());

  const enqueue = async (given: string, values: unknown[] = []) => {
    const { rows } = await outbox.pool.query(`SELECT ${outbox.schema}.enqueue(${given}) AS id`, values);
    return rows[0].id as string;
  };
  const row = async (id: string) => {
    const columns =
      "listener, state, body, digest, ordering_key, traceparent, encryption_key_id, attempts, history";
    const { rows } = await outbox.pool.query(
      `SELECT ${columns}, due_at BETWEEN enqueued_at - interval '1 min' AND enqueued_at AS is_due, ready_at = due_at AS is_ready_then FROM ${outbox.schema}.event WHERE id = $1`,
      [id],
    );
    return rows[0];
  };

  it("means PostgreSQL's own functions, whatever its caller's search path has, as every function here does", async () => {
    const { schema, pool } = outbox;
    const client = await pool.connect();
    await client.query(`
      CREATE FUNCTION ${schema}.sha256(bytea) RETURNS bytea LANGUAGE sql AS $$ SELECT 'foreign'::bytea $$;
      CREATE FUNCTION ${schema}.now() RETURNS timestamptz LANGUAGE sql AS $$ SELECT 'epoch'::timestamptz $$;
      SET search_path = ${schema}, pg_catalog`);
    await client.query(`SELECT enqueue('orders', '{}'::jsonb)`);
    await client.query("RESET search_path");
    client.release();
    const { rows } = await pool.query(
      `SELECT digest, due_at > now() - interval '1 min' AS is_due FROM ${schema}.event`,
    );
    expect(rows).toEqual([{ digest: "RBNvo1WzZ4oRRq0W9-hknpT7T8If536DEMBg9hyq_4o", is_due: true }]);
    await pool.query(`DROP FUNCTION ${schema}.sha256, ${schema}.now`);
    const open = await pool.query(
      `SELECT proname FROM pg_proc WHERE pronamespace = '${schema}'::regnamespace
         AND NOT coalesce('search_path=pg_catalog, pg_temp' = ANY (proconfig), false)`,
    );
    expect(open.rows).toEqual([]);
  });

  it.each([undefined, "user 'ü' 1"])(
    "makes the same row as the library does, with the key %s",
    async (key) => {
      const traceparent = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
      const body = `{"text": "ü 🦉",  "n": 1.0}`;
      const { digest } = outboxEvent("x");
      expect(digest).toHaveLength(43);
      const ours = { ...outboxEvent("x"), body: Buffer.from(body), orderingKey: key, traceparent };
      const { createHash } = await import("node:crypto");
      const event = { ...ours, digest: createHash("sha256").update(ours.body).digest("base64url") };
      await outbox.store().enqueue([event]);
      const id = await enqueue("$1, $2, ordering_key => $3, traceparent => $4", [
        "orders",
        body,
        key,
        traceparent,
      ]);
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(await row(id)).toEqual(await row(event.id));
      expect(await outbox.store().stats()).toMatchObject([{ listener: "orders", pending: 2 }]);
    },
  );

  it("takes a text, json or jsonb, and stands or falls with the caller's transaction", async () => {
    const texts: unknown[] = [];
    for (const body of [
      `'{"a": 1}'`,
      `json_build_object('a', 1)`,
      `jsonb_build_object('a', 1)`,
      `'"x"'::text`,
    ])
      texts.push((await row(await enqueue(`'orders', ${body}`))).body.toString());
    expect(texts).toEqual([`{"a": 1}`, `{"a" : 1}`, `{"a": 1}`, `"x"`]);
    const client = await outbox.pool.connect();
    await client.query(`BEGIN; SELECT ${outbox.schema}.enqueue('orders', '{}'); ROLLBACK`);
    client.release();
    expect(await outbox.store().stats()).toMatchObject([{ pending: 4 }]);
  });

  it("makes an event for later as the library does, and one for a time that has passed for now", async () => {
    const deliverAt = Date.now() + 3_600_000;
    const event = outboxEvent("later", { deliverAt });
    await outbox.store().enqueue([event]);
    for (const type of ["text", "json", "jsonb"]) {
      const values = [new Date(deliverAt).toISOString()];
      const id = await enqueue(
        `'orders', '{"text":"later"}'::${type}, deliver_at => $1::timestamptz`,
        values,
      );
      for (const one of [id, event.id]) {
        expect(await row(one), type).toMatchObject({ is_due: false, is_ready_then: true });
        expect(await outbox.store().find(one)).toMatchObject([{ dueAt: deliverAt }]);
      }
    }
    for (const past of ["now() - interval '1 hour'", "'-infinity'", "NULL"]) {
      const id = await enqueue(`'orders', '{}', deliver_at => ${past}`);
      expect(await row(id), past).toMatchObject({ is_due: true, is_ready_then: true });
    }
    const early = outboxEvent("early", { deliverAt: -1e300 });
    await outbox.store().enqueue([early]);
    expect(await row(early.id)).toMatchObject({ is_due: true, is_ready_then: true });
    expect(await outbox.store().stats()).toMatchObject([{ pending: 8 }]);
  });

  it("takes an id of the caller's own: the same again is no second event, other bytes are refused", async () => {
    const id = randomUUID();
    for (let n = 0; n < 2; n++) expect(await enqueue("'orders', '{}', event_id => $1::uuid", [id])).toBe(id);
    const other = enqueue("'orders', '[]', event_id => $1::uuid", [id]);
    await expect(other).rejects.toMatchObject({
      code: "23505",
      message: expect.stringContaining("EVENT_ID_REUSED"),
    });
    expect(await outbox.store().stats()).toMatchObject([{ pending: 1 }]);
  });

  it.each([
    ["a body that is no JSON", "'orders', '{\"a\":'", "22P02"],
    ["no body", "'orders', NULL::text", "22023"],
    ["a body of 65,537 bytes", "'orders', to_json(repeat('ü', 32767) || 'a')", "22023"],
    ["no listener", "'', '{}'", "22023"],
    ["a listener that is null", "NULL, '{}'", "22023"],
    ["an empty ordering key", "'orders', '{}', ''", "22023"],
    ["a long ordering key", "'orders', '{}', repeat('a', 201)", "22023"],
    ["an id of another version", "'orders', '{}', NULL, '7d3a1c52-90be-1f0e-8b1d-5c2f4e6a7b81'", "22023"],
    ["an id of another variant", "'orders', '{}', NULL, '7d3a1c52-90be-4f0e-cb1d-5c2f4e6a7b81'", "22023"],
    ["an id that is null", "'orders', '{}', NULL, NULL", "22023"],
    ["a traceparent that is none", "'orders', '{}', traceparent => '00-1-2-3'", "22023"],
    ["a time beyond a year", "'orders', '{}', deliver_at => now() + interval '367 days'", "22023"],
    ["a time that never comes", "'orders', '{}', deliver_at => 'infinity'", "22023"],
  ])("refuses %s", async (_, given, code) => {
    await expect(enqueue(given)).rejects.toMatchObject({ code });
    expect(await outbox.store().stats()).toEqual([]);
  });

  it("is called as in the guide", async () => {
    const guide = fileURLToPath(new URL("../../../docs/guides/outbox-postgresql.md", import.meta.url));
    const call = fencedBlocks(guide).find(({ text }) => text.startsWith("SELECT hookproof.enqueue("));
    const { rows } = await outbox.pool.query((call?.text ?? "").replace("hookproof", outbox.schema));
    expect(await row(rows[0].enqueue)).toMatchObject({
      ...{ listener: "offboarding", ordering_key: "u_1", is_due: false, is_ready_then: true },
    });
  });

  it("takes what is just allowed", async () => {
    await enqueue("'orders', to_json(repeat('ü', 32767))");
    await enqueue("'orders', '{}', repeat('a', 200)");
    expect(await outbox.store().stats()).toMatchObject([{ pending: 2 }]);
  });
});

/** A database of its own, in whose default schema the examples find what they need. */
async function exampleDatabase() {
  const admin = new pg.Client({ connectionString: postgres?.url });
  await admin.connect();
  const database = `example_${randomUUID().replaceAll("-", "")}`;
  await admin.query(`CREATE DATABASE ${database}`);
  const url = Object.assign(new URL(postgres?.url ?? ""), { pathname: `/${database}` }).href;
  const pool = testPool({ connectionString: url });
  await pool.query(
    "CREATE TABLE users (id text PRIMARY KEY, active boolean NOT NULL); INSERT INTO users VALUES ('u_1', true), ('u_2', true)",
  );
  return {
    url,
    pool,
    async drop() {
      await pool.end();
      await admin.query(`DROP DATABASE ${database} WITH (FORCE)`);
      await admin.end();
    },
  };
}

itWith("postgresql, psycopg and psql", postgres && python)(
  "programs in Python and SQL enqueue what a worker signs and delivers",
  async () => {
    const { url, pool, drop } = await exampleDatabase();
    const receiver = await receiverServer({});
    const signer = hmacSigner({ secret: SECRET });
    const store = postgresStore({ pool });
    const worker = createOutbox({
      store,
      listeners: { offboarding: { url: receiver.url, signer }, audit: { url: receiver.url, signer } },
    });
    try {
      await store.stats(); // makes the tables
      const run = promisify(execFile);
      const { stdout } = await run(python ?? "", [example("outbox-enqueue.py"), "u_1"], {
        env: { ...process.env, DATABASE_URL: url },
      });
      expect(stdout).toMatch(/^offboarded u_1 [0-9a-f-]{36}\n$/);
      await run("psql", [
        url,
        "-v",
        "ON_ERROR_STOP=1",
        "-v",
        "user=u_2",
        "-f",
        example("outbox-enqueue.sql"),
      ]);
      await worker.drain();
      expect(receiver.runs.size).toBe(3);
      expect(await store.stats()).toMatchObject([
        { listener: "audit", delivered: 1 },
        { listener: "offboarding", delivered: 2 },
      ]);
      expect((await pool.query("SELECT count(*)::int FROM users WHERE active")).rows).toEqual([{ count: 0 }]);
    } finally {
      await receiver.stop();
      await drop();
    }
  },
);
