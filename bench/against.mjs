// @ts-check
// What does an operation cost in processor time, here and at another commit? Both builds take turns, round by round:
// npm run bench -- [operation ...] --against <commit> [--most 1.1] [--quick]. With `--against kept` the commit, and by
// how much each operation may have risen since, are those of against.json.
import { execFileSync, fork, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdtempSync, readFileSync, renameSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { operations } from "./operations.mjs";

const OPERATIONS = Object.keys(operations);

const root = join(import.meta.dirname, "..");
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { against: { type: "string" }, most: { type: "string" }, quick: { type: "boolean" } },
});
const { rounds, roundMs, warmUps } = values.quick
  ? { rounds: 13, roundMs: 150, warmUps: 5 }
  : { rounds: 21, roundMs: 300, warmUps: 5 };
const names = positionals.length > 0 ? positionals : OPERATIONS;
const unknown = names.filter((name) => !OPERATIONS.includes(name));
if (unknown.length > 0 || !values.against) {
  console.error(`--against takes a commit and these operations: ${OPERATIONS.join(", ")}`);
  process.exit(2);
}
/** @type {{ commit: string, most: number, rises: Record<string, { most: number, reason: string }> }} */
const kept = JSON.parse(readFileSync(new URL("against.json", import.meta.url), "utf8"));
const isKept = values.against === "kept";
const commit = isKept ? kept.commit : values.against;
/** @param {string} name */
const mostOf = (name) => Number(values.most ?? (isKept ? (kept.rises[name]?.most ?? kept.most) : Infinity));

if (isKept && spawnSync("git", ["cat-file", "-e", commit], { cwd: root, stdio: "ignore" }).status !== 0) {
  console.log(`Not measured: this checkout has no commit ${commit}, as one without a history.`);
  process.exit(0);
}
const folders = [import.meta.dirname, casesOf(builtCommit(commit))];
const receiver = fork(new URL("send-receiver.mjs", import.meta.url));
const [port] = await once(receiver, "message");
console.log(`Processor time of an operation, and its ratio to ${commit} (median, and the middle half)`);
let dearer = await dearerOf(names);
// A slow moment of the machine is not the same ratio each time: what has risen has done so in all of three runs.
for (let repeat = 0; repeat < 2 && dearer.length > 0; repeat++) {
  console.log(`Measured again: ${dearer.join(", ")}`);
  dearer = await dearerOf(dearer);
}
receiver.disconnect();
for (const name of dearer)
  console.error(`${name} costs more than ${mostOf(name)} of what it did at ${commit}.`);
if (dearer.length > 0) process.exitCode = 1;

/**
 * Measures operations and prints them; gives those that cost more than they may by three quarters of their rounds.
 *
 * @param {readonly string[]} names
 */
async function dearerOf(names) {
  const dearer = [];
  for (const name of names) {
    const [here, before, ratios] = await measured(name);
    const [low = 0, ratio = 0, high = 0] = quartiles(ratios);
    console.log(
      `  ${name.padEnd(10)} ${micros(here)} µs, there ${micros(before)} µs: ${ratio.toFixed(2)}  (${low.toFixed(2)} to ${high.toFixed(2)})`,
    );
    if (low > mostOf(name)) dearer.push(name);
  }
  return dearer;
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
  for (let round = -warmUps; round < rounds; round++) {
    for (const [index, child] of children.entries()) {
      child.send({ roundMs });
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
  for (const file of ["against-case.mjs", "operations.mjs", "serve-rounds.mjs"])
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
