// Worlds whose store is PostgreSQL: its SQL runs on a real server, by the clock of the world.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeWith } from "../kit/needs.js";
import { testPostgres } from "../kit/postgres.js";
import { bundle } from "./bundle.mjs";
import results from "./mutants.json" with { type: "json" };
import { POSTGRES_MUTANTS } from "./postgres-mutants.mjs";
import { QUIET } from "./sql-server.js";

const postgres = await testPostgres(QUIET);
afterAll(() => postgres?.stop());

/** Runs the simulator on the test's own server; what it printed, and whether no rule was broken. */
async function simulated(file: string, ...options: string[]): Promise<{ text: string; isSound: boolean }> {
  const env = { ...process.env, TEST_DATABASE_URL: postgres?.url };
  const args = [file, "--store", "postgres", ...options];
  return promisify(execFile)(process.execPath, args, { maxBuffer: 2 ** 27, env }).then(
    ({ stdout }) => ({ text: stdout, isSound: true }),
    ({ stdout }: { stdout: string }) => ({ text: stdout, isSound: false }),
  );
}

describeWith("postgresql", postgres)("delivery over PostgreSQL in worlds that are drawn from a seed", () => {
  let main = "";
  beforeAll(async () => {
    main = await bundle(undefined, "test-postgres");
  });

  it("keeps every promise in 12 of them, each twice", async () => {
    const { text, isSound } = await simulated(main, "--seeds", "12");
    expect(text).toMatch(/"failures":0/);
    expect(isSound).toBe(true);
  });

  it("has the same trace in another process", async () => {
    const [first, second] = [await simulated(main, "--seed", "1"), await simulated(main, "--seed", "1")];
    expect(first.text).toMatch(/ runs {2}/);
    expect(second.text).toBe(first.text);
  });

  const fallen = results as Record<string, { seed: number; rule: string } | null>;
  const seedOf = (name: string) => fallen[`postgres: ${name}`];
  // Those that show only at the end of a world take a minute each: the table of docs/simulation.md has them.
  const quick = POSTGRES_MUTANTS.filter(({ name }) => seedOf(name)?.rule !== "liveness");
  it.each(quick.map((mutant) => [mutant.name, mutant] as const))("sees it where %s", async (name, mutant) => {
    const found = seedOf(name);
    const world = ["--seeds", "1", "--once", "--from", String(found?.seed)];
    const file = await bundle(mutant, `test-postgres-${POSTGRES_MUTANTS.indexOf(mutant)}`);
    const { isSound, text } = await simulated(file, ...world);
    expect(text).toContain(`${found?.rule}:`);
    expect(isSound).toBe(false);
    expect((await simulated(main, ...world)).isSound, "without the mutant").toBe(true);
  });
});
