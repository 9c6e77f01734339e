// What stats() reads while a transaction holds its snapshot, and that no event is missing from the age for ever.
import { afterAll, afterEach, beforeEach, expect, it, vi } from "vitest";
import { describeWith } from "../../kit/needs.js";
import { outboxEvent } from "../../kit/outbox-event.js";
import { testPostgres } from "../../kit/postgres.js";
import { type HeldOutbox, heldOutbox } from "./held-outbox.js";

const postgres = await testPostgres();
afterAll(() => postgres?.stop());

/** Where the oldest event may stand: the columns that make an event stand there since `at`. */
const KINDS = {
  later: (at: string) => ({ state: "'later'", due_at: at }),
  tried: (at: string) => ({ state: "'later'", due_at: "now() + interval '2 h'", first_attempt_at: at }),
  behind: () => ({ state: "'parked'", ordering_key: "'k'" }),
  leased: (at: string) => ({ state: "'leased'", token: "gen_random_uuid()", leased_until: at }),
};
const kinds = Object.entries(KINDS);

describeWith("postgresql", postgres)("stats() while a snapshot is held", () => {
  let held: HeldOutbox;
  let store: HeldOutbox["store"];
  beforeEach(async () => {
    held = await heldOutbox(postgres?.url ?? "");
    store = held.outbox.store(); // it never claims
  });
  afterEach(() => held.drop());

  const put = async () => {
    const event = outboxEvent("x");
    await store.enqueue([event]);
    return event.id;
  };
  const ageOf = async () => (await store.stats())[0]?.oldestAgeMs ?? Number.NaN;

  /** Leaves what so many delivered events leave that stood there, as if they had ended one by one. */
  async function deliver(count: number, kind: (typeof kinds)[number][1]) {
    const own = {
      id: "gen_random_uuid()",
      listener: "'orders'",
      digest: "'bulk'",
      body: "decode(repeat('ab', 1000), 'hex')",
    };
    const columns = { ...kind("at"), due_at: "at", ...own };
    await held.query(`
      INSERT INTO hookproof.event (ready_at, ${Object.keys(columns)})
        SELECT at, ${Object.values(columns)} FROM generate_series(1, ${count}) g
          CROSS JOIN LATERAL (SELECT now() - interval '10 min' - g * interval '1 ms' AS at) a ORDER BY random();
      UPDATE hookproof.event SET state = 'delivered', body = NULL, token = NULL, leased_until = NULL, ended_at = now()
        WHERE digest = 'bulk' AND state <> 'delivered'`);
  }
  /** Makes an event stand there for so long. */
  async function stand(id: string, kind: (typeof kinds)[number][1], since: string) {
    const columns = Object.entries({ ready_at: since, ...kind(since) });
    const set = columns.map(([name, value]) => `${name} = ${value}`);
    await held.query(`UPDATE hookproof.event SET ${set.join()} WHERE id = '${id}'`);
  }
  /** The statement by which the next `stats()` counts. */
  async function counting(): Promise<string> {
    const asked = held.asked(/WITH [^;]*oldest_age[^;]*/g);
    await store.stats();
    vi.restoreAllMocks();
    expect(asked).toHaveLength(1);
    return asked.join();
  }
  /** What it reads while what it knows holds, however long ago the test asked for it. */
  const blocks = (sql: string) =>
    held.blocks(sql.replaceAll(/"look_at":"[^"]*"/g, '"look_at":"9000-01-01T00:00:00Z"'));

  it.each(kinds)("reads no more the more was delivered, and misses no event: %s", async (name, kind) => {
    await put();
    await store.enqueue([outboxEvent("later", { deliverAt: Date.now() + 3_600_000 })]);
    await deliver(5_000, kind);
    expect(await blocks(await counting())).toBeGreaterThan(600); // it is the first one
    expect(await blocks(await counting())).toBeLessThan(100);
    await deliver(10_000, kind);
    await counting();
    const asked = await counting();
    expect(await blocks(asked)).toBeLessThan(100);
    // The clock was put back, by as little as can be seen.
    const back = asked.replaceAll(/"noted_at":"[^"]*"/g, '"noted_at":"8000-01-01T00:00:00Z"');
    expect(await blocks(back)).toBeGreaterThan(1_800);
    // What comes now is seen at once, what was committed late after a pause.
    const id = await put();
    await stand(id, kind, "now() - interval '5 s'");
    expect(await ageOf()).toBeGreaterThan(4_900);
    await stand(id, kind, "now() - interval '1 h'");
    await expect.poll(ageOf, { interval: 200 }).toBeGreaterThan(3_500_000);
    // Where the oldest one stands is where the next call begins; leases are all counted.
    if (name !== "leased") expect(await blocks(await counting())).toBeLessThan(100);
    expect(await ageOf()).toBeGreaterThan(3_500_000);
  });

  it("what a listener reads is remembered for it alone, and forgotten when it is cheap again", async () => {
    await put();
    await deliver(5_000, KINDS.behind);
    await held.outbox.store().enqueue([outboxEvent("x", { listener: "other" })]);
    await store.stats();
    const known = await counting();
    expect(known).toContain('"listener":"orders"');
    expect(known).not.toContain('"listener":"other"');
    await held.end();
    await held.query("VACUUM hookproof.event");
    await expect.poll(counting, { interval: 200 }).not.toContain('"listener":"orders"');
  });

  it("a look over all that fails is put off, and stats() goes on without it", async () => {
    await put();
    await deliver(5_000, KINDS.behind);
    await store.stats();
    vi.spyOn(held.outbox.pool, "connect").mockRejectedValueOnce(new Error("no answer") as never);
    await expect(store.stats()).rejects.toThrow();
    vi.restoreAllMocks();
    const asked = await counting();
    expect(asked).toContain('"listener":"orders"');
    expect(asked).not.toContain('"look_at":"'); // for five minutes from this one on
    expect(await held.blocks(asked)).toBeLessThan(100);
    const [, lookAt = ""] = (await counting()).match(/"look_at":"([^"]*)"/) ?? [];
    expect(Date.parse(lookAt) - (await store.now())).toBeGreaterThan(4 * 60_000);
  });
});
