import { readFileSync } from "node:fs";
import { type Activity, hmacSigner } from "hookproof";
import { createOutbox } from "hookproof/outbox";
import type pg from "pg";
import { afterAll, afterEach, beforeEach, expect, it } from "vitest";
import { describeWith } from "../../kit/needs.js";
import { outboxEvent } from "../../kit/outbox-event.js";
import { testPool, testPostgres } from "../../kit/postgres.js";
import { type TestOutbox, testOutbox } from "../../kit/postgres-outbox.js";
import { receiverServer, SECRET } from "../../kit/receiver-server.js";

const postgres = await testPostgres();
afterAll(() => postgres?.stop());

const guide = readFileSync(new URL("../../../docs/guides/outbox-postgresql.md", import.meta.url), "utf8");
const [ENQUEUES = ""] = [...guide.matchAll(/```sql\n(-- who \w+\n[^`]+)```/g)].map(([, text]) => text ?? "");
/** What earlier guides granted, and what people grant who have not read one. */
const ALL_COLUMNS = `GRANT USAGE ON SCHEMA hookproof TO app;
  GRANT INSERT ON hookproof.event, hookproof.tally, hookproof.body TO app`;

const STATES = ["new", "waiting", "later", "aside", "parked", "leased", "delivered", "dead", "cancelled"];
const TIMES = [
  "'infinity'",
  "'-infinity'",
  "'4713-01-01 BC'",
  "'294276-12-31'",
  "'2000-01-01 00:00:00+00'",
  "'9999-12-30 23:59:59+00'",
  "now()",
];
const NUMBERS = ["2147483647", "-2147483648", "1000000000", "999999999", "-1", "0"];
const TEXTS = [
  "''",
  "repeat('a', 2048)",
  "repeat('a', 2049)",
  "repeat('a', 200000)",
  "E'\\x01\\x1b[2J'",
  "U&'\\202E\\FFFF'",
  "'constructor'",
  "'__proto__'",
  "$$'; DROP SCHEMA hookproof CASCADE; --$$",
  "(SELECT string_agg(md5(n::text), '') FROM generate_series(1, 90) n)",
];
const JSONS = [
  `ARRAY[repeat('[', 5000) || repeat(']', 5000)]::json[]`,
  `ARRAY['"\\u0000"', 'null', '1e999999', '{"at":"x","status":[]}']::json[]`,
];
const BYTES = [
  "NULL",
  "''",
  "'\\x00'",
  "decode(repeat('00', 1048576), 'hex')",
  "decode(repeat('00', 1048577), 'hex')",
];

/** Hostile values, by the columns of a type. */
const HOSTILE: readonly (readonly [columns: readonly string[], values: readonly string[]])[] = [
  [["state"], STATES.map((state) => `'${state}'`)],
  [
    ["enqueued_at", "ready_at", "due_at", "claimed_at", "leased_until", "first_attempt_at", "ended_at"],
    TIMES,
  ],
  [["attempts", "attempts_before_redrive"], NUMBERS],
  [["seq"], ["9223372036854775807", "-9223372036854775808"]],
  [
    ["listener", "digest", "ordering_key", "traceparent", "encryption_key_id", "outcome", "reason", "code"],
    TEXTS,
  ],
  [["history"], JSONS],
  [["body"], BYTES],
  [["id"], ["'00000000-0000-0000-0000-000000000000'", "'ffffffff-ffff-ffff-ffff-ffffffffffff'"]],
  [["token"], ["gen_random_uuid()"]],
  [["blocks_key"], ["true"]],
];

describeWith("postgresql", postgres)("a role that enqueues, and whatever it inserts", () => {
  let outbox: TestOutbox;
  let pool: pg.Pool;
  let role: string;
  beforeEach(async () => {
    outbox = testOutbox(postgres?.url ?? "");
    await outbox.store().stats();
    role = `role_${outbox.schema}`;
    await outbox.pool.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`);
    const url = Object.assign(new URL(postgres?.url ?? ""), { username: role, password: "secret" });
    pool = testPool({ connectionString: url.href, max: 1 });
  });
  afterEach(async () => {
    await pool.end();
    await outbox.pool.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
    await outbox.drop();
  });

  const grant = (text: string) =>
    outbox.pool.query(text.replaceAll(/\bhookproof\b/g, outbox.schema).replaceAll(/\bapp\b/g, role));

  /** Inserts a row as the role; whether the database took it. */
  async function inserted(table: string, row: Readonly<Record<string, string>>): Promise<boolean> {
    const sql = `INSERT INTO ${outbox.schema}.${table} (${Object.keys(row)}) VALUES (${Object.values(row)})`;
    return pool.query(sql).then(
      () => true,
      ({ code }: { code: string }) => {
        // Refused by a right, a check, the size of an index or a constraint; nothing else.
        expect(["42501", "23514", "54000", "23505", "22P05", "23502", "54001"], `${code}: ${sql}`).toContain(
          code,
        );
        return false;
      },
    );
  }

  /** Every kind of row, as far as the database takes it: for the listener of the others, alone and under their key. */
  async function plays(): Promise<{ taken: number; refused: number }> {
    const told = { taken: 0, refused: 0 };
    const count = (isTaken: boolean) => told[isTaken ? "taken" : "refused"]++;
    for (const [columns, values] of HOSTILE)
      for (const column of columns)
        for (const value of values)
          for (const more of [{}, { ordering_key: "'theirs'" }, { state: "'leased'" }, { state: "'dead'" }])
            count(
              await inserted("event", {
                id: "gen_random_uuid()",
                listener: "'orders'",
                state: "'waiting'",
                digest: "'d'",
                body: "'{}'",
                ...more,
                [column]: value,
              }),
            );
    const counts = ["9223372036854775807", "-9223372036854775808", "1000000000000000", "-1000000000000000"];
    for (const value of [...counts, ...counts])
      count(await inserted("tally", { listener: "'orders'", pending: value, delivered: value, dead: value }));
    for (const check_at of TIMES)
      for (const body of BYTES)
        count(await inserted("body", { id: "gen_random_uuid()", digest: "'d'", body, check_at }));
    return told;
  }

  it.each([
    ["what the guide grants", ENQUEUES],
    ["every column", ALL_COLUMNS],
  ])("stops no statement of the engine: with %s", async (_, grants) => {
    await grant(grants);
    const { taken, refused } = await plays();
    expect(taken).toBeGreaterThan(50);
    expect(refused).toBeGreaterThan(50);
    const store = outbox.store();
    const listeners = new Map([["orders", { most: 1_000, windowMs: 6e8, rate: { perSecond: 1e6 } }]]);
    const request = { limit: 1_000, leaseMs: 60_000, listeners };
    await store.due(undefined, 100);
    const claimed = [...(await store.claim(request)), ...(await store.claim(request))];
    expect(claimed.length).toBeGreaterThan(0);
    await store.release(claimed.slice(0, 5).map(({ lease }) => lease));
    const attempt = { at: Date.now(), durationMs: 1, code: "TIMEOUT" } as const;
    for (const { lease } of claimed.slice(5, 10))
      await store.reschedule(lease, Date.now() + 1_000, attempt as never);
    for (const { lease } of claimed.slice(10, 15))
      await store.fail(lease, { reason: "refused", code: "REQUEST_REFUSED", blocksKey: true });
    await store.markDelivered(
      claimed
        .slice(15)
        .map(({ lease }) => ({ lease, outcome: "delivered" as const, attempt: undefined as never })),
    );
    await store.stats();
    await store.pending({}, 10_000);
    for await (const letter of store.deadLetters()) await store.find(letter.event.id);
    await store.redrive({}, 6e8, { newIds: true });
    await store.redrive({}, 6e8);
    await store.pause("orders");
    await store.due(undefined, 100);
    await store.resume("orders");
    await store.rest("orders", 0);
    await store.unknown(["orders"]);
    await store.changed("orders");
    await store.expire(new Map([["orders", { windowMs: 1, blocksKey: true }]]) as never);
    for (let n = 0; n < 3; n++) await store.prune({ delivered: Date.now() + 1e6, dead: Date.now() + 1e6 });
    await store.stats();
    await store.cancel({ listener: "orders" });
    await store.drop({});
  });

  it.each([
    ["new without a key", "'new'", "NULL"],
    ["new, each under its key", "'new'", "'key-' || n"],
    ["parked behind nobody", "'parked'", "NULL"],
  ])("keeps no key of the others waiting by thousands of rows: %s", async (_, state, key) => {
    await grant(ENQUEUES);
    await pool.query(
      `INSERT INTO ${outbox.schema}.event (id, listener, state, digest, body, ordering_key)
       SELECT gen_random_uuid(), 'nobody-' || n, ${state}, 'd', '{}', ${key} FROM generate_series(1, 5000) n`,
    );
    const store = outbox.store();
    const mine = [outboxEvent("one", { orderingKey: "mine" }), outboxEvent("two", { orderingKey: "mine" })];
    await store.enqueue(mine);
    const listeners = new Map([["orders", { most: 10, windowMs: 6e8 }]]);
    const claimed: string[] = [];
    // Each call gives some thousands of rows their place.
    for (let call = 0; call < 5; call++)
      for (const { event, lease } of await store.claim({ limit: 10, leaseMs: 60_000, listeners })) {
        claimed.push(event.id);
        await store.markDelivered([{ lease, outcome: "accepted" }] as never);
      }
    expect(claimed).toEqual(mine.map(({ id }) => id));
  });

  it.each([
    ["what the guide grants", ENQUEUES],
    ["every column", ALL_COLUMNS],
  ])("does not keep the others' events from their listener: with %s", async (_, grants) => {
    await grant(grants);
    await plays();
    const receiver = await receiverServer({});
    const told: Activity[] = [];
    const worker = createOutbox({
      store: outbox.store(),
      listeners: {
        orders: {
          url: receiver.url,
          signer: hmacSigner({ secret: SECRET }),
          concurrency: 50,
          breaker: false,
        },
      },
      observe: (event) => told.push(event),
    });
    const mine = [outboxEvent("one"), outboxEvent("two", { orderingKey: "mine" })];
    await outbox.store().enqueue(mine);
    worker.start();
    await expect
      .poll(() => mine.filter(({ id }) => receiver.runs.has(id)).length, { timeout: 60_000 })
      .toBe(2);
    await worker.stop();
    await receiver.stop();
    expect(told.filter(({ type }) => type === "store-changed")).toEqual([]);
  });
});
