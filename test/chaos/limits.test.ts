import { afterAll, expect, it } from "vitest";
import { itWith } from "../kit/needs.js";
import { ownPostgres } from "../kit/postgres.js";
import { CONCURRENCY, concurrencyRun, rateRun } from "./limits-chaos.js";
import { type LiveEngine, livePostgres, liveSqlite } from "./live-engines.js";

const LONG = Boolean(process.env.HOOKPROOF_LONG);
const OPTIONS = { timeout: 600_000, concurrent: true };

async function keepsRate(open: () => Promise<LiveEngine>): Promise<void> {
  const free = await rateRun(await open(), 5, { isPaced: false });
  const engine = await open();
  const { perSecond, burst, again, unasked } = await rateRun(engine, LONG ? 60 : 5);
  console.info(engine.name, { perSecond, burst, again, withoutRate: free.perSecond });
  // A busy machine takes from a few seconds more than from a minute; it is asked for no more than it can do without.
  expect(perSecond).toBeGreaterThan(LONG ? 47.5 : Math.min(25, free.perSecond / 2));
  expect(perSecond).toBeLessThan(LONG ? 52.5 : 75); // by itself, each of the four would add 50
  expect(burst).toBeLessThanOrEqual(50 + 1); // times are whole milliseconds
  expect(again).toBeLessThanOrEqual(50); // what the killed worker had under way
  expect(unasked).toEqual([]);
}

async function keepsConcurrency(engine: LiveEngine): Promise<void> {
  const { most, twice, requests } = await concurrencyRun(engine, LONG ? 10 : 1);
  console.info(engine.name, { most, requests });
  expect(most).toBeGreaterThan(1);
  expect(most).toBeLessThanOrEqual(CONCURRENCY);
  expect(twice).toEqual([]);
}

const postgres = await ownPostgres();
afterAll(() => postgres?.stop());

const OF_RATE = "a rate of 50 a second over four workers is kept, though one is killed, and nothing is lost";
const OF_CONCURRENCY =
  "concurrency 4 over four workers is never 5 at once, through kills, stops longer than the lease and cuts";

it(`SQLite: ${OF_RATE}`, OPTIONS, async () => keepsRate(liveSqlite));
it(`SQLite: ${OF_CONCURRENCY}`, OPTIONS, async () => keepsConcurrency(await liveSqlite()));
itWith("postgresql", postgres)(`PostgreSQL: ${OF_RATE}`, OPTIONS, async () => {
  if (postgres) await keepsRate(() => livePostgres(postgres.url, "rate"));
});
itWith("postgresql", postgres)(`PostgreSQL: ${OF_CONCURRENCY}`, OPTIONS, async () => {
  if (postgres) await keepsConcurrency(await livePostgres(postgres.url, "concurrency"));
});
