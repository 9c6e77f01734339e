// Looks for the seed at which each mutant falls, and writes docs/simulation.md: npm run simulate:mutants [-- part of a name, or --new for those without a seed]
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { bundle } from "./bundle.mjs";
import { MUTANTS } from "./mutants.mjs";

const SEEDS = "1000";
const results = new URL("mutants.json", import.meta.url);
const wanted = process.argv[2];
const known = JSON.parse(readFileSync(results, "utf8"));
for (const mutant of MUTANTS) {
  const name = `${mutant.store}: ${mutant.name}`;
  if (wanted === "--new" ? known[name] : wanted !== undefined && !mutant.name.includes(wanted)) continue;
  const file = await bundle(mutant, "mutant");
  const args = ["--seeds", SEEDS, "--once", "--stop-at-first", "--store", mutant.store];
  const { stdout, error } = spawnSync(process.execPath, [file, ...args], {
    encoding: "utf8",
    timeout: Number(process.env.LIMIT_MS ?? 0),
  });
  if (error) continue; // out of time
  const [, seed, rule] = /^seed (\d+) \(\w+\): ([\w -]+):/m.exec(stdout) ?? [];
  known[name] = seed === undefined ? null : { seed: Number(seed), rule };
  console.log(name, known[name] ?? `SURVIVES: ${stdout.slice(-300)}`);
  writeFileSync(results, `${JSON.stringify(known, null, 2)}\n`);
}
