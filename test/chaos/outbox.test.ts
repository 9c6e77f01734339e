import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqlite, type SqliteDriver, sqliteStore } from "hookproof/node";
import { pgBossStore } from "hookproof/outbox";
import pg from "pg";
import { PgBoss } from "pg-boss";
import { afterAll, expect, it } from "vitest";
import { betterSqlite3 } from "../support/better-sqlite3.js";
import { itWith } from "../support/needs.js";
import { ownPostgres } from "../support/postgres.js";
import { type ChaosEngine, type ChaosResult, outboxChaos } from "./outbox-chaos.js";

const LONG = Boolean(process.env.HOOKPROOF_LONG);
const SIZE = LONG ? { events: 10_000, kills: 20 } : { events: 2_000, kills: 6 };

/** What is promised, whatever happens: see docs/guides/outbox.md. */
function expectPromisesKept({ taking, refusing, runs, dead, failures, summary }: ChaosResult): void {
  console.info(summary);
  const ran = new Set(runs.map(({ id }) => id));
  expect(runs.length - ran.size).toBe(0); // none twice
  expect([...taking.acknowledged].filter((id) => !ran.has(id))).toEqual([]); // none missing
  expect([...ran].filter((id) => !taking.offered.has(id))).toEqual([]); // none that was rolled back
  const died = dead.map(({ event }) => event.id);
  expect([...refusing.acknowledged].filter((id) => !died.includes(id))).toEqual([]);
  expect(died.filter((id) => !refusing.offered.has(id))).toEqual([]); // only what was refused for good
  expect(new Set(dead.map(({ reason }) => reason))).toEqual(new Set(["refused"]));
  for (const { attempts } of dead) expect(attempts.at(-1)).toMatchObject({ status: 422 });
  const places = new Map<string, number>();
  for (const { payload } of runs) {
    if (payload.key === undefined) continue;
    expect(payload.place).toBeGreaterThan(places.get(payload.key) ?? -1); // each key in its order
    places.set(payload.key, payload.place);
  }
  expect(places.size).toBeGreaterThan(0);
  expect([...failures].filter(([, count]) => count === 0)).toEqual([]); // every way was met
  const { producersKilled = 0, dispatchersKilled = 0, serversKilled = 0 } = summary;
  expect(producersKilled + dispatchersKilled + serversKilled).toBe(SIZE.kills);
}

const UNKNOWN = [{ listener: "", pending: 1, inFlight: 0, delivered: 0, dead: 0 }];

const title = (engine: string) =>
  `${engine}: of ${SIZE.events} acknowledged events each runs once, through ${SIZE.kills} kills`;

it(title("SQLite"), { timeout: 1_800_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "hookproof-chaos-outbox-"));
  const driver: SqliteDriver = betterSqlite3() ? "better-sqlite3" : "libsql";
  const place = {
    file: join(folder, "app.db"),
    driver,
    from: new URL("../native/package.json", import.meta.url).href,
  };
  const engine: ChaosEngine = {
    name: "sqlite",
    place,
    speed: 20,
    open: async (clock) => sqliteStore({ open: () => openSqlite(place.file, place), clock }),
  };
  try {
    expectPromisesKept(await outboxChaos(engine, SIZE));
  } finally {
    rmSync(folder, { recursive: true });
  }
});

const postgres = await ownPostgres();
afterAll(() => postgres?.stop());

itWith("postgresql", postgres)(title("PostgreSQL"), { timeout: 1_800_000 }, async () => {
  if (!postgres) return;
  const pool = new pg.Pool({ connectionString: postgres.url });
  pool.on("error", () => {}); // end() returns before its connections are closed
  await pool.query("CREATE TABLE orders (id text)");
  await pool.end();
  const boss = new PgBoss({ connectionString: postgres.url, schedule: false });
  boss.on("error", () => {});
  await boss.start();
  const store = pgBossStore({ boss });
  const engine: ChaosEngine = {
    name: "pg-boss",
    place: { url: postgres.url },
    speed: 1,
    // A look that fails as the server was killed is repeated by whoever looks.
    open: async () => ({ ...store, stats: () => store.stats().catch(() => UNKNOWN) }),
    async killServer() {
      await postgres.kill();
      await postgres.restart();
    },
  };
  expectPromisesKept(await outboxChaos(engine, SIZE));
  await boss.stop({ graceful: false });
});
