// What a call for one listener reads beside many events of another one, whatever PostgreSQL's statistics say of them.
import type { ClaimShare } from "hookproof/outbox/store";
import { afterAll, afterEach, expect, it, vi } from "vitest";
import { describeWith } from "../../kit/needs.js";
import { testPostgres } from "../../kit/postgres.js";
import { type HeldOutbox, heldOutbox } from "./held-outbox.js";

const postgres = await testPostgres();
afterAll(() => postgres?.stop());

const OTHERS = 8_000;
/** Of a listener's events so many are under way at once; they are counted for each listener, whoever asks. */
const LEASED = 500;
const OWN = 5;
/** Far below what another listener has, and above what one's own and the catalogue of names take. */
const FEW = 1_000;
const WINDOW_MS = 86_400_000;
const OPTIONS = { windowMs: WINDOW_MS, blocksKey: false };

/** What stands for rows of each state; those behind others are waited for by nobody. */
const STATES = {
  waiting: "state => 'waiting'",
  later: "state => 'later', due => now() + interval '1 hour'",
  tried: "state => 'later', due => now() + interval '1 hour', first => now()",
  aside: "state => 'aside'",
  parked: "state => 'parked', key => 'k'",
  leased: "state => 'leased', first => now(), leased => now() + interval '1 hour'",
  dead: "state => 'dead', first => now(), ended => now()",
  delivered: "state => 'delivered', first => now(), ended => now()",
  cancelled: "state => 'cancelled', ended => now()",
};

const claim = (store: HeldOutbox["store"], limits: Partial<ClaimShare> = {}) =>
  store.claim({
    limit: 2,
    leaseMs: 60_000,
    listeners: new Map([["small", { most: 2, windowMs: WINDOW_MS, ...limits }]]),
  });

const CALLS: Record<string, (store: HeldOutbox["store"], id: string) => unknown> = {
  claim: (store) => claim(store),
  "claim within a limit": (store) => claim(store, { concurrency: 8 }),
  "claim at a rate": (store) => claim(store, { rate: { perSecond: 5 } }),
  due: (store) => store.due(undefined, 10),
  stats: (store) => store.stats(),
  expire: (store) => store.expire(new Map([["small", OPTIONS]])),
  find: (store, id) => store.find(id),
  pending: (store) => store.pending({ listener: "small" }, 100),
  "pending by ids": (store, id) => store.pending({ ids: [id] }, 100),
  "dead letters": async (store) => {
    for await (const _ of store.deadLetters({ listener: "small" }));
  },
  redrive: (store) => store.redrive({ listener: "small" }, WINDOW_MS),
  drop: (store) => store.drop({ listener: "small" }),
  cancel: (store) => store.cancel({ listener: "small" }),
  changed: (store) => store.changed("small"),
  "pause and resume": async (store) => {
    await store.pause("small");
    await store.resume("small");
  },
};

describeWith("postgresql", postgres)("with statistics", () => {
  let held: HeldOutbox;
  afterEach(async () => {
    vi.restoreAllMocks();
    await held.drop();
  });

  async function fill(listener: string, count: number, states = Object.keys(STATES)) {
    for (const state of states) {
      const rows = Math.min(count, state === "leased" ? LEASED : count);
      await held.query(`SELECT hookproof.fill('${listener}', ${rows}, ${STATES[state as never]})`);
    }
  }

  /** An outbox in which one listener has a few events in each state, and another one many. */
  async function filled(analyzed: "never" | "while there were only ends" | "full"): Promise<string> {
    held = await heldOutbox(postgres?.url ?? "");
    await held.end();
    await held.query(`CREATE FUNCTION hookproof.fill(name text, n int, state text, due timestamptz = now(), key text = NULL,
        first timestamptz = NULL, leased timestamptz = NULL, ended timestamptz = NULL) RETURNS void LANGUAGE sql AS $$
      INSERT INTO hookproof.event (id, listener, state, digest, due_at, ordering_key, first_attempt_at, leased_until, token, claimed_at, ended_at)
        SELECT gen_random_uuid(), name, state, '', due + g * interval '1 ms', key || g, first - g * interval '1 ms', leased,
          CASE WHEN leased IS NOT NULL THEN gen_random_uuid() END, CASE WHEN leased IS NOT NULL THEN now() END, ended - g * interval '1 ms'
        FROM generate_series(1, n) g;
      INSERT INTO hookproof.tally SELECT name, n * (ended IS NULL)::int, n * (state = 'delivered')::int, n * (state = 'dead')::int $$`);
    if (analyzed === "while there were only ends") {
      await fill("big", OTHERS, ["delivered"]);
      await held.query("ANALYZE hookproof.event");
    }
    await fill("big", OTHERS);
    await fill("small", OWN);
    if (analyzed === "full") await held.query("ANALYZE hookproof.event");
    const { rows } = await held.query(
      "SELECT id FROM hookproof.event WHERE listener = 'small' AND state = 'waiting'",
    );
    return rows[0].id;
  }

  it.each(["never", "while there were only ends", "full"] as const)("made %s", async (analyzed) => {
    const id = await filled(analyzed);
    const read: Record<string, number> = {};
    for (const [name, call] of Object.entries(CALLS)) {
      const costs = held.costs();
      await call(held.store, id);
      expect({ name, jit: new Set(costs.map(({ jit }) => jit)) }).toEqual({ name, jit: new Set(["off"]) });
      read[name] = costs.reduce((sum, { rows }) => sum + rows, 0);
      vi.restoreAllMocks();
    }
    expect(Object.entries(read).filter(([, rows]) => rows > FEW)).toEqual([]);
  });
});
