import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqlite, type SqliteDriver } from "hookproof/node";
import { postgresStore } from "hookproof/outbox/postgres";
import { sqliteStore } from "hookproof/outbox/sqlite";
import pg from "pg";
import { afterAll, expect, it } from "vitest";
import { betterSqlite3 } from "../kit/better-sqlite3.js";
import { itWith } from "../kit/needs.js";
import { ownPostgres } from "../kit/postgres.js";
import { type ChaosEngine, type ChaosResult, outboxChaos } from "./outbox-chaos.js";

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
  expect([...failures].filter(([, count]) => count === 0)).toEqual([]);
}

const UNKNOWN = [{ listener: "", pending: 1, inFlight: 0, delivered: 0, dead: 0, oldestAgeMs: 0 }];

const title = (engine: string) =>
  `${engine}: of ${SIZE.events} acknowledged events each runs once, through ${SIZE.disturbances} kills, stops and cuts`;

it(title("SQLite"), { timeout: 1_800_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "hookproof-chaos-outbox-"));
  const driver: SqliteDriver = betterSqlite3() ? "better-sqlite3" : "libsql";
  const place = {
    file: join(folder, "app.db"),
    driver,
    from: new URL("../native/package.json", import.meta.url).href,
  };
  const open = () => openSqlite(place.file, place);
  const locker = open();
  const engine: ChaosEngine = {
    name: "sqlite",
    place,
    speed: 20,
    leaseMs: 4_500,
    open: async (clock) => sqliteStore({ open, clock }),
    async cutStore() {
      locker.exec("PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE");
      await new Promise((resolve) => setTimeout(resolve, 900));
      locker.exec("ROLLBACK");
    },
    isHeldUp() {
      try {
        locker.exec("PRAGMA busy_timeout = 0; BEGIN IMMEDIATE; ROLLBACK");
        return false;
      } catch {
        return true;
      }
    },
  };
  try {
    expectPromisesKept(await outboxChaos(engine, SIZE));
  } finally {
    locker.close();
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
