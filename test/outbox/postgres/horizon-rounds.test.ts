// What rounds of expiry read while a transaction holds its snapshot, and a cancellation while it keeps others waiting.
import { afterAll, afterEach, beforeEach, expect, it, vi } from "vitest";
import { describeWith } from "../../kit/needs.js";
import { testPostgres } from "../../kit/postgres.js";
import { type HeldOutbox, heldOutbox } from "./held-outbox.js";

const postgres = await testPostgres();
afterAll(() => postgres?.stop());

const AGO = "now() - interval '1 d' - g * interval '1 ms'";
const KINDS = {
  "tried before": { state: "'waiting'", first_attempt_at: AGO },
  "of a listener that nobody has": { state: "'aside'", ready_at: AGO },
};
const kinds = Object.entries(KINDS);

describeWith("postgresql", postgres)("rounds while a snapshot is held", () => {
  let held: HeldOutbox;
  let store: HeldOutbox["store"];
  beforeEach(async () => {
    held = await heldOutbox(postgres?.url ?? "");
    store = held.store;
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await held.drop();
  });

  const put = (listener: string, count: number, more: object) => {
    const columns = { id: "gen_random_uuid()", listener: `'${listener}'`, digest: "''", ...more };
    return held.query(`INSERT INTO hookproof.event (${Object.keys(columns)})
      SELECT ${Object.values(columns)} FROM generate_series(1, ${count}) g ORDER BY random()`);
  };
  const windows = new Map(["orders", "bills"].map((name) => [name, { windowMs: 60_000, blocksKey: false }]));
  const expire = async () => (await store.expire(windows)).length;
  const lose = () =>
    held.query(`INSERT INTO hookproof.listener (name, unknown_since, unknown_until)
      SELECT name, now() - interval '1 d', now() + interval '1 h' FROM (VALUES ('orders'), ('bills')) v(name)`);

  it.each(kinds)("a round of expiry goes on where its last page ended: events %s", async (_, kind) => {
    await lose();
    await put("orders", 5_000, kind);
    await put("bills", 500, kind);
    const costs = held.costs();
    let expired = 0;
    for (let some = 1; some > 0; expired += some) some = await expire();
    expect(expired).toBe(5_500);
    expect(costs.length).toBeGreaterThan(10);
    expect(Math.max(...costs.slice(-7, -1).map(({ rows }) => rows))).toBeLessThan(3_100);
    // A page that was not full ended the round, and the next one begins with the first.
    expect(costs.at(-1)?.rows).toBeGreaterThan(5_000);
  });

  it.each(kinds)("a round ends however many more pass their window: events %s", async (_, kind) => {
    await lose();
    await put("orders", 3, kind);
    const other = await held.outbox.pool.connect();
    await other.query(`BEGIN; SELECT FROM ${held.outbox.schema}.event
      ORDER BY first_attempt_at, ready_at LIMIT 1 FOR UPDATE`);
    expect(await expire()).toBe(2);
    await other.query("ROLLBACK");
    other.release();
    await put("orders", 1, kind);
    expect(await expire()).toBe(2);
  });

  it.each(kinds)(
    "what somebody else held meanwhile expires in the next round: events %s",
    async (_, kind) => {
      await lose();
      await put("orders", 1_500, kind);
      const other = await held.outbox.pool.connect();
      await other.query(`BEGIN; SELECT FROM ${held.outbox.schema}.event
      ORDER BY first_attempt_at, ready_at LIMIT 3 FOR UPDATE`);
      const first = [await expire(), await expire(), await expire()];
      // Another worker finds what it cannot have.
      const none = await held.outbox.store().expire(windows);
      other.release(true);
      expect([...first, none]).toEqual([1_000, 497, 0, []]);
      await expect.poll(expire).toBe(3);
    },
  );

  it.each([
    ["waiting", { state: "'waiting'", due_at: AGO }],
    ["later", { state: "'later'", due_at: AGO }],
    ["aside", { state: "'aside'", ready_at: AGO }],
  ])("a cancellation goes over what has ended before it keeps others waiting: %s", async (_, kind) => {
    await put("orders", 5_000, kind);
    await held.query("UPDATE hookproof.event SET state = 'delivered', ended_at = now()");
    await put("orders", 1_200, kind);
    const costs = held.costs();
    expect(await store.cancel({ listener: "orders" })).toEqual({ cancelled: 1_200, tooLate: 0 });
    const locked = costs.filter(({ isLocked }) => isLocked);
    expect(locked).toHaveLength(3);
    expect(Math.max(...locked.map(({ rows }) => rows))).toBeLessThan(1_100);
    expect(Math.max(...costs.map(({ rows }) => rows))).toBeGreaterThan(5_000);
  });

  it("a round over shared bodies goes on where its last page ended, and is not begun again at once", async () => {
    await held.query(`INSERT INTO hookproof.body (id, digest, body, check_at)
      SELECT gen_random_uuid(), '', '', now() - g * interval '1 ms' FROM generate_series(1, 4500) g ORDER BY random()`);
    const left = async () => (await held.query("SELECT FROM hookproof.body")).rowCount;
    const costs = held.costs();
    const prune = async () => {
      costs.splice(0);
      await store.prune({ delivered: 0, dead: 0 });
      return Math.max(...costs.map(({ rows }) => rows));
    };
    const now = performance.now();
    vi.spyOn(performance, "now").mockImplementation(() => now);
    for (let page = 1; page <= 5; page++) expect(await prune()).toBeLessThan(4_000);
    expect(await left()).toBe(0);
    await held.query(
      "INSERT INTO hookproof.body (id, digest, body, check_at) SELECT gen_random_uuid(), '', '', now()",
    );
    expect(await prune()).toBeLessThan(100);
    expect(await left()).toBe(0);
    vi.spyOn(performance, "now").mockImplementation(() => now + 60_000);
    expect(await prune()).toBeGreaterThan(4_000);
  });
});
