import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, it } from "vitest";
import { itWith } from "../kit/needs.js";
import { ownPostgres } from "../kit/postgres.js";
import { type LiveEngine, livePostgres, liveSqlite } from "./live-engines.js";
import { tenantsChaos } from "./tenants-chaos.js";

const ROUNDS = process.env.HOOKPROOF_LONG ? 20 : 3;
const OPTIONS = { timeout: 600_000, concurrent: true };
const CLI = join(import.meta.dirname, "../../cli/bin/hookproof.cjs");

async function keepsPromises(engine: LiveEngine, outbox: string): Promise<void> {
  let listed = "";
  const result = await tenantsChaos(engine, ROUNDS, async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [
      CLI,
      "outbox",
      "list",
      "--outbox",
      outbox,
    ]);
    listed = stdout;
  });
  console.info(engine.name, result.summary);
  expect(result.broken.slice(0, 20)).toEqual([]);
  expect(result.summary.cancelled).toBeGreaterThan(0);
  expect(listed).toMatch(/^due +event id +listener +attempts/);
  expect(listed).toMatch(/[0-9a-f-]{36} +t\d+ +\d/);
}

const postgres = await ownPostgres();
afterAll(() => postgres?.stop());

const TITLE = "tenants that come, go, pause and rotate get their own events once, while workers die";

it(`SQLite: ${TITLE}`, OPTIONS, async () => {
  const engine = await liveSqlite();
  await keepsPromises(engine, engine.place.file ?? "");
});

itWith("postgresql", postgres)(`PostgreSQL: ${TITLE}`, OPTIONS, async () => {
  if (!postgres) return;
  const engine = await livePostgres(postgres.url, "tenants");
  await keepsPromises(engine, engine.place.url ?? "");
});
