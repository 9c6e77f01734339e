// @ts-check
// What does an operation cost in processor time, here and at another commit? Both builds take turns, round by round:
// npm run bench -- [operation ...] --against <commit> [--most 1.1]
import { execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdtempSync, renameSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

const OPERATIONS = ["send", "sendMany", "sign", "enqueue", "deliver", "verify", "diagnose"];
const ROUND_MS = 300;
const ROUNDS = 21;
const WARM_UPS = 5;

const root = join(import.meta.dirname, "..");
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { against: { type: "string" }, most: { type: "string" } },
});
const names = positionals.length > 0 ? positionals : OPERATIONS;
const unknown = names.filter((name) => !OPERATIONS.includes(name));
if (unknown.length > 0 || !values.against) {
  console.error(`--against takes a commit and these operations: ${OPERATIONS.join(", ")}`);
  process.exit(2);
}
const folders = [import.meta.dirname, casesOf(builtCommit(values.against))];
const receiver = fork(new URL("send-receiver.mjs", import.meta.url));
const [port] = await once(receiver, "message");
let isDearer = false;
console.log(
  `Processor time of an operation, and its ratio to ${values.against} (median, and the middle half)`,
);
for (const name of names) {
  const [here, before, ratios] = await measured(name);
  const [low = 0, ratio = 0, high = 0] = quartiles(ratios);
  console.log(
    `  ${name.padEnd(10)} ${micros(here)} µs, there ${micros(before)} µs: ${ratio.toFixed(2)}  (${low.toFixed(2)} to ${high.toFixed(2)})`,
  );
  // So that a slow moment is no rise, three quarters of the rounds have to show it.
  isDearer ||= values.most !== undefined && low > Number(values.most);
}
receiver.disconnect();
if (isDearer) {
  console.error(`An operation costs more than ${values.most} of what it did.`);
  process.exitCode = 1;
}

/**
 * The processor time of one operation in both builds, in microseconds, and the ratio of each round.
 *
 * @param {string} name
 * @returns {Promise<[number, number, number[]]>}
 */
async function measured(name) {
  const children = folders.map((folder) => fork(join(folder, "against-case.mjs"), [name, String(port)]));
  await Promise.all(children.map((child) => once(child, "message")));
  /** @type {number[][]} */
  const costs = [[], []];
  for (let round = -WARM_UPS; round < ROUNDS; round++) {
    for (const [index, child] of children.entries()) {
      child.send({ roundMs: ROUND_MS });
      const [{ cpuMicros }] = await once(child, "message");
      if (round >= 0) costs[index]?.push(cpuMicros);
    }
  }
  for (const child of children) child.disconnect();
  const [here = [], before = []] = costs;
  const ratios = here.map((cost, round) => cost / (before[round] ?? cost));
  return [median(here), median(before), ratios];
}

/** The folder of a commit's checkout with its build, made once: the next measurement finds it. @param {string} commit */
function builtCommit(commit) {
  const git = (/** @type {string[]} */ ...args) =>
    execFileSync("git", args, { cwd: root, maxBuffer: 2 ** 30, stdio: ["ignore", "pipe", "inherit"] });
  const sha = git("rev-parse", "--verify", `${commit}^{commit}`).toString().trim();
  const folder = join(tmpdir(), `hookproof-bench-${sha.slice(0, 12)}`);
  if (existsSync(folder)) return folder;
  console.log(`Building ${commit} in ${folder} ...`);
  const fresh = mkdtempSync(join(tmpdir(), "hookproof-bench-new-"));
  execFileSync("tar", ["-x"], { cwd: fresh, input: git("archive", sha) });
  for (const args of [
    ["ci", "--ignore-scripts"],
    ["run", "build"],
  ])
    execFileSync("npm", args, { cwd: fresh, stdio: ["ignore", "ignore", "inherit"] });
  renameSync(fresh, folder);
  return folder;
}

/** Puts today's cases into a checkout, whose own name `hookproof` is its build. @param {string} folder */
function casesOf(folder) {
  const cases = join(folder, "bench-against");
  for (const file of ["against-case.mjs", "serve-rounds.mjs"])
    cpSync(join(import.meta.dirname, file), join(cases, file));
  return cases;
}

/** @param {number[]} values */
function quartiles(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return [0.25, 0.5, 0.75].map((part) => sorted[Math.floor(part * sorted.length)] ?? Number.NaN);
}

/** @param {number[]} values */
function median(values) {
  return quartiles(values)[1] ?? Number.NaN;
}

/** @param {number} value */
function micros(value) {
  return value.toFixed(value < 10 ? 2 : 1).padStart(6);
}
