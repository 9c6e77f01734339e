// Runs every bench, or those whose name is given: node bench/run.mjs [name ...] [--json] [--write] [--long] [--quick]
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";

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
const run = (file) =>
  spawnSync(process.execPath, [`${import.meta.dirname}/${file}`, ...process.argv.slice(2)], {
    stdio: "inherit",
  });
for (const file of chosen) {
  let { status } = run(file);
  // A slow moment of the machine must not fail CI; two of them are no accident.
  if (status !== 0 && process.argv.includes("--quick")) ({ status } = run(file));
  if (status !== 0) process.exit(status ?? 1);
}
