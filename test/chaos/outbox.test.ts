import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { postgresStore } from "hookproof/outbox/postgres";
import { afterAll, expect, it } from "vitest";
import { itWith } from "../kit/needs.js";
import { ownPostgres, testPool } from "../kit/postgres.js";
import { type ChaosEngine, type ChaosResult, outboxChaos } from "./outbox-chaos.js";
import { sqliteEngine } from "./sqlite-engine.js";

const LONG = Boolean(process.env.HOOKPROOF_LONG);
const SIZE = LONG ? { events: 10_000, disturbances: 24 } : { events: 3_000, disturbances: 8 };

/** What is promised, whatever happens: see docs/guides/outbox-promises.md. */
function expectPromisesKept({ broken, failures, keys, summary }: ChaosResult): void {
  console.info(summary);
  expect(broken.slice(0, 20)).toEqual([]);
  // What could have broken a promise has been there.
  expect(keys).toBeGreaterThan(0);
  expect(summary.deadLetters).toBeGreaterThan(0);
  expect(summary.answered409).toBeGreaterThan(0);
  expect(summary.boundAnswers).toBeGreaterThan(0);
  expect([...failures].filter(([, count]) => count === 0)).toEqual([]);
}

const UNKNOWN = [{ listener: "", pending: 1, inFlight: 0, delivered: 0, dead: 0, oldestAgeMs: 0 }];

const title = (engine: string) =>
  `${engine}: of ${SIZE.events} acknowledged events each runs once, through ${SIZE.disturbances} kills, stops and cuts`;

it(title("SQLite"), { timeout: 1_800_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "hookproof-chaos-outbox-"));
  const { engine, close } = sqliteEngine(folder);
  try {
    expectPromisesKept(await outboxChaos(engine, SIZE));
  } finally {
    close();
    rmSync(folder, { recursive: true });
  }
});

const postgres = await ownPostgres();
afterAll(() => postgres?.stop());

itWith("postgresql", postgres)(title("PostgreSQL"), { timeout: 1_800_000 }, async () => {
  if (!postgres) return;
  const pool = testPool({ connectionString: postgres.url });
  await pool.query("DROP SCHEMA IF EXISTS hookproof CASCADE; DROP TABLE IF EXISTS orders"); // of a try that failed
  await pool.query("CREATE TABLE orders (id text)");
  const store = postgresStore({ pool });
  const engine: ChaosEngine = {
    name: "postgres",
    place: { url: postgres.url },
    speed: 1,
    leaseMs: 10_000,
    // A look that fails as the server was killed is repeated by whoever looks.
    open: async () => ({ ...store, stats: () => store.stats().catch(() => UNKNOWN) }),
    async cutStore() {
      await postgres.kill();
      await postgres.restart();
    },
  };
  expectPromisesKept(await outboxChaos(engine, SIZE));
  await pool.end();
});
