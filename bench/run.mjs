// Runs every bench, or those whose name is given: node bench/run.mjs [name ...] [--json] [--write] [--long] [--quick],
// or with `--against <commit>` what against.mjs does.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";

if (process.argv.includes("--against")) {
  const args = [`${import.meta.dirname}/against.mjs`, ...process.argv.slice(2)];
  process.exit(spawnSync(process.execPath, args, { stdio: "inherit" }).status ?? 1);
}
const names = process.argv.slice(2).filter((argument) => !argument.startsWith("-"));
const files = readdirSync(import.meta.dirname).filter((file) => file.endsWith(".bench.mjs"));
const chosen = files.filter((file) => names.length === 0 || names.includes(file.replace(".bench.mjs", "")));
if (chosen.length === 0) {
  console.error(
    `No such bench. There are: ${files.map((file) => file.replace(".bench.mjs", "")).join(", ")}`,
  );
  process.exit(2);
}
if (!existsSync(`${import.meta.dirname}/node_modules`)) {
  const { status } = spawnSync("npm", ["ci", "--prefix", import.meta.dirname], { stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}
/** Runs one bench; gives the ratios that it found fallen, by name. */
function run(file, ...more) {
  const { status, output } = spawnSync(
    process.execPath,
    [`${import.meta.dirname}/${file}`, ...process.argv.slice(2), ...more],
    {
      stdio: ["inherit", "inherit", "inherit", "pipe"],
      env: { ...process.env, HOOKPROOF_BENCH_RUN: "1" },
      encoding: "utf8",
    },
  );
  if (status !== 0) process.exit(status ?? 1);
  const lines = output[3].split("\n").filter(Boolean);
  return new Map(lines.map((line) => JSON.parse(line)).map(({ name, words }) => [name, words]));
}
for (const file of chosen) {
  let fallen = run(file);
  // A slow moment of the machine is not the same ratio each time: what has fallen has done so in all of three runs.
  for (let repeat = 0; repeat < 2 && fallen.size > 0; repeat++) {
    console.log(`\nMeasured again, for longer: ${[...fallen.keys()].join("; ")}`);
    const now = run(file, "--again");
    fallen = new Map([...now].filter(([name]) => fallen.has(name)));
  }
  for (const [name, words] of fallen) console.error(`${name}: ${words}`);
  if (fallen.size > 0) process.exit(1);
}
