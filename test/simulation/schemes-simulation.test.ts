import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { bundle } from "./bundle.mjs";
import results from "./mutants.json" with { type: "json" };
import { SCHEME_MUTANTS, schemeKeyOf } from "./scheme-mutants.mjs";

let main = "";
beforeAll(async () => {
  main = await bundle(undefined, "test-schemes");
});

/** What a bundle of the simulator printed of worlds with a listener of each scheme. */
async function simulated(file: string, ...options: string[]): Promise<string> {
  const run = promisify(execFile)(process.execPath, [file, "--schemes", ...options], { maxBuffer: 2 ** 27 });
  return run.then(
    ({ stdout }) => stdout,
    ({ stdout }: { stdout: string }) => stdout,
  );
}

describe("an outbox with listeners of four schemes, in worlds that are drawn from a seed", () => {
  it.each([
    ["memory", "25"],
    ["sqlite", "5"],
  ])("keeps every promise over the %s store in %s of them, each twice", async (store, seeds) => {
    expect(await simulated(main, "--store", store, "--seeds", seeds)).toMatch(/"failures":0,/);
  });

  it("delivers to all four, and has the same trace in another process", async () => {
    const first = await simulated(main, "--seed", "1");
    for (const listener of ["l1", "l2", "l3", "l4"])
      expect(first).toMatch(new RegExp(`runs\\s+${listener} `));
    expect(await simulated(main, "--seed", "1")).toBe(first);
  });
});

describe("the simulator sees what is broken of a scheme", () => {
  const fallen = results as Record<string, { seed: number; rule: string } | null>;

  it("each mutant within 1,000 seeds", () => {
    const survives = SCHEME_MUTANTS.map(schemeKeyOf).filter((key) => !fallen[key]);
    expect(survives).toEqual([]);
  });

  const some = SCHEME_MUTANTS.filter(({ name }) => /jti|first attempt/.test(name));
  it.each(some.map((mutant) => [schemeKeyOf(mutant), mutant] as const))("%s", async (key, mutant) => {
    const { seed = 0, rule } = fallen[key] ?? {};
    const file = await bundle(mutant, `test-schemes-${SCHEME_MUTANTS.indexOf(mutant)}`);
    expect(await simulated(file, "--seed", String(seed))).toContain(`: ${rule}: `);
  });
});
