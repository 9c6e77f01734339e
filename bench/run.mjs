// Runs every bench, or those whose names are given; with `--against <commit>` what against.mjs does.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { parseArgs } from "node:util";

const NAMES = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith(".bench.mjs"))
  .map((file) => file.replace(".bench.mjs", ""));
const USAGE = `npm run bench -- [name ...] [--long] [--quick] [--json] [--write]
npm run bench -- [operation ...] --against <commit> [--most 1.1] [--quick]

names    ${NAMES.join(", ")}
--long   with what takes minutes
--quick  the short form; fails where a ratio has fallen from the kept results
--json   a line of JSON for each question
--write  keeps the results, for docs/performance.md`;

if (process.argv.some((argument) => /^--against(=|$)/.test(argument))) {
  const args = [`${import.meta.dirname}/against.mjs`, ...process.argv.slice(2)];
  process.exit(spawnSync(process.execPath, args, { stdio: "inherit" }).status ?? 1);
}
const chosen = chosenNames().map((name) => `${name}.bench.mjs`);

/** Ends the process for a name or an option that there is not, before anything is measured. */
function chosenNames() {
  const flag = /** @type {const} */ ({ type: "boolean" });
  const options = { help: flag, long: flag, quick: flag, json: flag, write: flag };
  try {
    const { values, positionals } = parseArgs({ allowPositionals: true, options });
    if (values.help) {
      console.log(USAGE);
      process.exit();
    }
    const unknown = positionals.filter((name) => !NAMES.includes(name));
    if (unknown.length > 0) throw new Error(`No such bench: ${unknown.join(", ")}`);
    return positionals.length > 0 ? positionals : NAMES;
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n\n${USAGE}`);
    process.exit(2);
  }
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
