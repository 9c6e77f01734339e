// How much the store does in one turn of the event loop, with 20,000 tenants: in rows, as times depend on the machine.
import type { OpenSqliteDatabase } from "hookproof/node";
import { sqliteStore } from "hookproof/outbox/sqlite";
import type { OutboxStore } from "hookproof/outbox/store";
import { expect, it, onTestFinished } from "vitest";
import { outboxBench } from "../bench-outbox.js";
import { itOn, newOutboxFile, SQLITE_DRIVERS } from "./files.js";

const TENANTS = 20_000;
/** Above what a page of each kind has, and far below the tenants. */
const MOST = 6_000;
const WINDOW_MS = 604_800_000;

/** A connection that counts, for each turn of the event loop, the rows that it gives and the statements that it runs. */
function counting(db: OpenSqliteDatabase) {
  let most = { rows: 0, statements: 0 };
  let turn = { rows: 0, statements: 0 };
  let isOver = false;
  const next = () => {
    turn = { rows: 0, statements: 0 };
    if (!isOver) setImmediate(next);
  };
  next();
  onTestFinished(() => {
    isOver = true;
  });
  const prepared: string[] = [];
  const counted: OpenSqliteDatabase = {
    exec: (sql) => db.exec(sql),
    prepare(sql) {
      prepared.push(sql);
      const statement = db.prepare(sql);
      const counts = (rows: number) => {
        turn.rows += rows;
        turn.statements += 1;
        most = {
          rows: Math.max(most.rows, turn.rows),
          statements: Math.max(most.statements, turn.statements),
        };
      };
      return {
        all(...values: never[]) {
          const rows = statement.all(...values);
          counts(rows.length);
          return rows;
        },
        run(...values: never[]) {
          counts(0);
          return statement.run(...values);
        },
      };
    },
    close: () => db.close(),
  };
  return {
    counted,
    prepared,
    /** What the turn with the most did, since this was last asked. */
    mostOfATurn() {
      const seen = most;
      most = { rows: 0, statements: 0 };
      return seen;
    },
  };
}

const CALLS: Record<string, (store: OutboxStore) => unknown> = {
  stats: (store) => store.stats(),
  "two looks": async (store) => {
    const { next } = await store.due(undefined, 250);
    await new Promise(setImmediate); // the loop of a worker has a turn between them
    await store.due(next, 250);
  },
  claim: (store) =>
    store.claim({
      limit: 250,
      leaseMs: 60_000,
      listeners: new Map(
        Array.from({ length: 250 }, (_, n) => [`tenant ${n + 1}`, { most: 10, windowMs: WINDOW_MS }]),
      ),
    }),
  expire: (store) =>
    store.expire(
      new Map(
        Array.from({ length: 1_000 }, (_, n) => [`tenant ${n}`, { windowMs: WINDOW_MS, blocksKey: false }]),
      ),
    ),
  prune: (store) => store.prune({ delivered: 0, dead: 0 }),
};

const NOW = Date.now();
const numbers = (count: number) => `CREATE TEMP TABLE numbers AS
  WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ${count}) SELECT n FROM n;`;

for (const [driver, openFile] of Object.entries(SQLITE_DRIVERS)) {
  itOn(driver)(`stats() goes over some leases in a turn, however many there are: ${driver}`, async () => {
    const { file, remove } = newOutboxFile();
    onTestFinished(remove);
    const { counted, mostOfATurn } = counting(openFile(file));
    const store = sqliteStore({ open: () => counted });
    onTestFinished(() => store.close());
    await store.stats();
    counted.exec(`${numbers(20_000)}
      INSERT INTO hookproof_outbox (listener, id, digest, enqueued_at, ready_at, turn, due_at, visible_at, lease_token, lease_until)
        SELECT 'l ' || (n % 40), 'id ' || n, '', ${NOW}, ${NOW}, 1, ${NOW}, ${NOW + WINDOW_MS}, 't', ${NOW + WINDOW_MS} FROM numbers;
      INSERT INTO hookproof_outbox_counts SELECT 'l ' || n, 0, 500 FROM numbers WHERE n < 40 UNION ALL SELECT 'l 0', 0, 500;`);
    mostOfATurn();
    const stats = await store.stats();
    expect(stats.map(({ pending, inFlight, oldestAgeMs }) => [pending, inFlight, oldestAgeMs])).toEqual(
      Array.from({ length: 40 }, () => [0, 500, 0]),
    );
    expect(mostOfATurn().statements).toBeLessThan(20); // of four listeners, twice at most
  });

  itOn(driver)(`with 20,000 tenants a turn reads a page, whatever is asked: ${driver}`, async () => {
    const { file, remove } = newOutboxFile();
    onTestFinished(remove);
    const { counted, prepared, mostOfATurn } = counting(openFile(file));
    const store = sqliteStore({ open: () => counted });
    onTestFinished(() => store.close());
    await store.stats();
    counted.exec(`${numbers(TENANTS)}
      INSERT INTO hookproof_outbox (seq, listener, id, digest, enqueued_at, ready_at, turn, due_at, visible_at)
        SELECT n, 'tenant ' || n, 'id ' || n, '', ${NOW}, ${NOW}, 1, ${NOW}, ${NOW} FROM numbers;
      INSERT INTO hookproof_outbox_bodies SELECT n, x'00' FROM numbers;
      INSERT INTO hookproof_outbox_counts SELECT 'tenant ' || n, s, 1 FROM numbers, (SELECT 0 AS s UNION SELECT 1)
          UNION ALL SELECT 'a', 0, 0; -- so that a page ends in the middle of a tenant
      INSERT INTO hookproof_outbox_listeners (listener, changed_at) SELECT 'tenant ' || n, ${NOW} FROM numbers;`);
    for (const [name, call] of Object.entries(CALLS)) {
      mostOfATurn();
      await call(store);
      const { rows, statements } = mostOfATurn();
      expect({ name, isFew: rows < MOST && statements < MOST, rows, statements }).toMatchObject({
        name,
        isFew: true,
      });
    }
    // What is removed of listeners is no row that is given: it is looked for among some, by their names.
    const removal = prepared.find((sql) => sql.startsWith("DELETE FROM hookproof_outbox_listeners")) ?? "";
    const plan = counted.prepare(`EXPLAIN QUERY PLAN ${removal}`).all("", "", 0, 0, 0, 0) as {
      detail: string;
    }[];
    expect(plan[0]?.detail).toContain("PRIMARY KEY (listener>? AND listener<?)");
    const stats = await store.stats();
    expect(stats.length).toBe(TENANTS);
    expect(stats.reduce((sum, { pending, inFlight }) => sum + pending + inFlight, 0)).toBe(TENANTS);
    expect(stats.reduce((sum, { delivered }) => sum + delivered, 0)).toBe(TENANTS);
    expect(new Set(stats.map(({ listener }) => listener)).size).toBe(TENANTS);
  });
}

it("a worker tells its observer of some listeners in a turn, however many there are", async () => {
  const bench = outboxBench();
  const listener = bench.listener({ url: "http://127.0.0.1:1/api/v1/webhooks/incoming/lst_1" });
  const names = Array.from({ length: 1_800 }, (_, n) => `tenant ${n}`);
  const outbox = bench.outbox(Object.fromEntries(names.map((name) => [name, listener])));
  const backlogs = () => bench.told("backlog").length;
  let most = 0;
  let isOver = false;
  const look = (before: number) => {
    most = Math.max(most, backlogs() - before);
    if (!isOver) setImmediate(look, backlogs());
  };
  look(0);
  outbox.start();
  await bench.passUntil(() => backlogs() >= names.length);
  isOver = true;
  expect(most).toBeLessThanOrEqual(1_000); // 500, twice at most between two looks
});
