import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { postgresStore } from "hookproof/outbox/postgres";
import type { OutboxStore } from "hookproof/outbox/store";
import pg from "pg";
import { afterAll, afterEach, beforeEach, expect, it } from "vitest";
import { describeWith } from "../../kit/needs.js";
import { outboxEvent } from "../../kit/outbox-event.js";
import { debianBinaries, ownPostgres, testPool } from "../../kit/postgres.js";

const postgres = await ownPostgres();
afterAll(() => postgres?.stop());

const TABLES = readFileSync(new URL("tables-1.sql", import.meta.url), "utf8");

/** What the dump holds, by listener, that can be claimed once its leases are over. */
const CLAIMABLE = ["retried", "leased", "first of key", "for two", "for two"];

describeWith("postgresql", postgres)("tables of version 1", () => {
  let pool: pg.Pool;
  let store: OutboxStore<pg.PoolClient>;
  beforeEach(async () => {
    const own = new pg.Client({ connectionString: postgres?.url ?? "" });
    await own.connect();
    await own.query("DROP SCHEMA IF EXISTS hookproof CASCADE");
    await own.query(TABLES); // it sets what stays with a connection
    await own.end();
    pool = testPool({ connectionString: postgres?.url ?? "" });
    store = postgresStore({ pool });
  });
  afterEach(async () => {
    await store.close();
    await pool.end();
  });

  const texts = async (...listeners: string[]) => {
    const shares = listeners.map((name) => [name, { most: 10, windowMs: 1e12 }] as const);
    const claimed = await store.claim({ limit: 20, leaseMs: 60_000, listeners: new Map(shares) });
    return claimed.map(({ event }) => JSON.parse(new TextDecoder().decode(event.body)).text).sort();
  };
  const version = async () => (await pool.query("SELECT version FROM hookproof.version")).rows;
  const shape = () =>
    execFileSync(
      join(debianBinaries() ?? "", "pg_dump"),
      ["--schema-only", "--no-owner", "-n", "hookproof", postgres?.url ?? ""],
      { encoding: "utf8" },
    ).replaceAll(/^\\.*$/gm, "");

  it("become what a new outbox has, by the first call", async () => {
    await store.stats();
    const upgraded = shape();
    await pool.query("DROP SCHEMA hookproof CASCADE");
    await postgresStore({ pool }).stats();
    expect(upgraded).toBe(shape());
  });

  it("may take longer than a call: that one says so, and the same try goes on", async () => {
    // Each index waits until the gate is open, and is counted by what a rollback takes nothing back of.
    await pool.query(`CREATE TABLE hookproof.gate (); INSERT INTO hookproof.gate DEFAULT VALUES;
      CREATE SEQUENCE hookproof.tried;
      CREATE FUNCTION hookproof.wait_at_gate() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
        PERFORM nextval('hookproof.tried');
        WHILE EXISTS (SELECT FROM hookproof.gate) LOOP PERFORM pg_catalog.pg_sleep(0.01); END LOOP; END $$;
      CREATE EVENT TRIGGER gated ON ddl_command_start WHEN TAG IN ('CREATE INDEX')
        EXECUTE FUNCTION hookproof.wait_at_gate()`);
    const hasty = postgresStore({ pool, timeoutMs: 1_000 });
    for (let i = 0; i < 2; i++)
      await expect(hasty.stats()).rejects.toMatchObject({
        code: "OUTBOX_UNAVAILABLE",
        cause: { message: "Its tables are being made, or brought up to date" },
      });
    await pool.query("DELETE FROM hookproof.gate");
    await expect.poll(() => hasty.stats().catch(() => undefined)).toHaveLength(4);
    expect((await pool.query("SELECT last_value::int AS tried FROM hookproof.tried")).rows).toEqual([
      { tried: 3 },
    ]);
    await hasty.close();
  });

  it("lose nothing: what waits is claimed, what is dead can be brought back", async () => {
    const stats = await store.stats();
    expect(
      stats.map(({ listener, pending, inFlight, delivered, dead }) => [
        listener,
        pending + inFlight,
        delivered,
        dead,
      ]),
    ).toEqual([
      ["billing", 1, 0, 0],
      ["gone", 1, 0, 0],
      ["orders", 7, 1, 2],
      ["paused", 1, 0, 0],
    ]);
    await pool.query("UPDATE hookproof.event SET leased_until = now() WHERE leased_until > now()");
    await pool.query("UPDATE hookproof.event SET due_at = now() WHERE state IN ('waiting', 'later')");
    await pool.query("UPDATE hookproof.listener SET rest_until = now() WHERE name = 'billing'");
    expect(await texts("orders", "billing")).toEqual([...CLAIMABLE, "at a time"].sort());
    await store.resume("paused");
    await store.changed("gone");
    expect(await texts("paused", "gone")).toEqual(["of a paused one", "of a stranger"]);
    expect(await store.redrive({}, 1e12)).toEqual({ redriven: 2, pastWindow: 0 });
    expect(await texts("orders")).toEqual(["behind", "dead"]);
  });

  it("are brought up by one of many processes that start at once", async () => {
    const others = Array.from({ length: 8 }, () => postgresStore({ pool }));
    await Promise.all(others.map((one) => one.enqueue([outboxEvent("one")])));
    expect(await version()).toEqual([{ version: 7 }]);
    const { pending = 0, inFlight = 0 } =
      (await store.stats()).find(({ listener }) => listener === "orders") ?? {};
    expect(pending + inFlight).toBe(15);
  });

  it("keep every function and column that a running worker of version 1 calls", async () => {
    const asked = `SELECT p.oid::regprocedure::text || ' ' || pg_get_function_result(p.oid) AS name FROM pg_proc p
        WHERE p.pronamespace = 'hookproof'::regnamespace
      UNION ALL SELECT table_name || '.' || column_name || ' ' || data_type FROM information_schema.columns
        WHERE table_schema = 'hookproof' ORDER BY name`;
    const names = async () => (await pool.query(asked)).rows.map(({ name }) => name as string);
    const before = await names();
    await store.stats();
    const after = new Set(await names());
    expect(before.length).toBeGreaterThan(50);
    expect(before.filter((name) => !after.has(name))).toEqual([]);
    // What it writes needs no value that it does not know.
    const { rows } = await pool.query(`SELECT table_name, column_name FROM information_schema.columns
      WHERE table_schema = 'hookproof' AND table_name IN ('event', 'body', 'tally', 'listener', 'floor')
        AND is_nullable = 'NO' AND column_default IS NULL AND is_identity = 'NO'`);
    expect(
      rows.every(({ table_name, column_name }) => TABLES.includes(`${column_name} `) && table_name),
    ).toBe(true);
  });

  it("are named where a role may not bring them up to date", async () => {
    const role = "app_of_version_1";
    await pool.query(`CREATE ROLE ${role} LOGIN; GRANT USAGE ON SCHEMA hookproof TO ${role};
      GRANT ALL ON ALL TABLES IN SCHEMA hookproof TO ${role}`);
    const url = Object.assign(new URL(postgres?.url ?? ""), { username: role });
    const few = testPool({ connectionString: url.href });
    await expect(postgresStore({ pool: few }).enqueue([outboxEvent("one")])).rejects.toMatchObject({
      code: "OUTBOX_UNAVAILABLE",
      message: expect.stringMatching(/version 1.*hookproof outbox create/s),
    });
    expect(await version()).toEqual([{ version: 1 }]);
    // As the message says.
    const cli = fileURLToPath(new URL("../../../cli/bin/hookproof.cjs", import.meta.url));
    execFileSync(process.execPath, [cli, "outbox", "create", "--outbox", postgres?.url ?? ""]);
    expect(await version()).toEqual([{ version: 7 }]);
    const fewRights = postgresStore({ pool: few });
    await fewRights.enqueue([outboxEvent("one")]);
    await fewRights.alive({ id: outboxEvent("any").id, name: "web 1", runsForMs: 0 });
    expect(await fewRights.workers()).toMatchObject([{ name: "web 1" }]);
    await few.end();
    await pool.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
  });
});
