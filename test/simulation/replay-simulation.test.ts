import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { bundle } from "./bundle.mjs";
import results from "./mutants.json" with { type: "json" };
import { REPLAY_MUTANTS, replayKeyOf } from "./replay-mutants.mjs";

let main = "";
beforeAll(async () => {
  main = await bundle(undefined, "test-receiver");
});

/** What a bundle of the simulator printed of the receiving side. */
async function simulated(file: string, ...options: string[]): Promise<string> {
  const run = promisify(execFile)(process.execPath, [file, "--receiver", ...options], { maxBuffer: 2 ** 27 });
  return run.then(
    ({ stdout }) => stdout,
    ({ stdout }: { stdout: string }) => stdout,
  );
}

describe("the receiving side in worlds that are drawn from a seed", () => {
  it.each([
    ["memory", "200"],
    ["sqlite", "100"],
  ])("keeps every promise over the %s store in %s of them, each twice", async (store, seeds) => {
    expect(await simulated(main, "--store", store, "--seeds", seeds)).toMatch(/"failures":0,/);
  });

  it("has the same trace in another process", async () => {
    const first = await simulated(main, "--seed", "2");
    expect(first).toContain("commits");
    expect(await simulated(main, "--seed", "2")).toBe(first);
  });
});

describe("the simulator sees what is broken of the receiving side", () => {
  const fallen = results as Record<string, { seed: number; rule: string } | null>;

  it("each mutant within 1,000 seeds", () => {
    const survives = REPLAY_MUTANTS.map(replayKeyOf).filter(
      (key) => !((fallen[key]?.seed ?? 1_001) <= 1_000),
    );
    expect(survives).toEqual([]);
  });

  it("and nothing without the mutants, at seeds that did not run above", async () => {
    for (const mutant of REPLAY_MUTANTS) {
      const { seed = 0 } = fallen[replayKeyOf(mutant)] ?? {};
      if (seed <= (mutant.store === "memory" ? 200 : 100)) continue;
      const text = await simulated(main, "--store", mutant.store, "--seed", `${seed}`);
      expect(text, `seed ${seed}`).not.toContain("BROKEN");
    }
  });

  const some = REPLAY_MUTANTS.filter(({ name }) => /fence|an hour early|failed commit/.test(name));
  it.each(some.map((mutant) => [replayKeyOf(mutant), mutant] as const))("%s", async (key, mutant) => {
    const { seed = 0, rule } = fallen[key] ?? {};
    const file = await bundle(mutant, `test-receiver-${REPLAY_MUTANTS.indexOf(mutant)}`);
    const text = await simulated(file, "--store", mutant.store, "--seed", String(seed));
    expect(text).toContain(`: ${rule}: `);
  });
});
