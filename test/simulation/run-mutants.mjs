// Looks for the seed at which each mutant falls, and writes docs/simulation.md: npm run simulate:mutants
// [-- part of a name, or --new for those without a seed]. Where a seed is known, that one is tried first; one at which
// the library breaks a rule as it is, too, shows nothing of a mutant.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { bundle } from "./bundle.mjs";
import { MUTANTS } from "./mutants.mjs";
import { REPLAY_MUTANTS, replayKeyOf } from "./replay-mutants.mjs";
import { SCHEME_MUTANTS, schemeKeyOf } from "./scheme-mutants.mjs";

const SEEDS = 1_000;
const results = new URL("mutants.json", import.meta.url);
const wanted = process.argv[2];
const known = JSON.parse(readFileSync(results, "utf8"));
const unchanged = await bundle(undefined, "unchanged");
const all = [
  ...MUTANTS.map((mutant) => ({ mutant, name: `${mutant.store}: ${mutant.name}`, side: [] })),
  ...REPLAY_MUTANTS.map((mutant) => ({ mutant, name: replayKeyOf(mutant), side: ["--receiver"] })),
  ...SCHEME_MUTANTS.map((mutant) => ({ mutant, name: schemeKeyOf(mutant), side: ["--schemes"] })),
];
for (const { mutant, name, side } of all) {
  const before = known[name];
  if (wanted === "--new" ? before : wanted !== undefined && !name.includes(wanted)) continue;
  const file = await bundle(mutant, "mutant");
  const options = [file, "--once", "--stop-at-first", "--store", mutant.store, ...side];
  known[name] = (before && fallOf(name, options, before.seed, 1)) ?? fallOf(name, options, 1, SEEDS);
  console.log(name, known[name] ?? "SURVIVES");
  writeFileSync(results, `${JSON.stringify(known, null, 2)}\n`);
}
await import("./write-page.ts");

/** The first of these seeds that breaks a rule; `null` if none does. */
function fallOf(name, options, from, seeds) {
  const args = [...options, "--from", String(from), "--seeds", String(seeds)];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  if (!stdout.includes('"failures"')) throw new Error(`${name} does not run: ${stderr}`);
  const [, found, rule] = /^seed (\d+) \(\w+\): ([\w -]+):/m.exec(stdout) ?? [];
  if (found === undefined) return null;
  const seed = Number(found);
  const [, ...others] = options;
  const { status } = spawnSync(process.execPath, [unchanged, ...others, "--from", found, "--seeds", "1"]);
  if (status === 0) return { seed, rule };
  console.log(`seed ${seed} breaks a rule without ${name} as well`);
  return fallOf(name, options, seed + 1, from + seeds - seed - 1);
}
