// @ts-check
// Runs test files again and again as on a machine that has no time for them, and lists what failed: npm run test:stress
import { fork, spawn, spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { availableParallelism, constants, tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { descendants, killTree, seesDescendants, signalGroup } from "./process-tree.mjs";

const RUNS_MS = 60;
const STOPPED_MS = 250;
/** How long a run that is told to end may take to remove what it has made. */
const GRACE_MS = 3_000;

const HELP = `npm run test:stress -- [options] [file ...]

Runs test files in shuffled order while their process group is stopped for ${STOPPED_MS} ms after every ${RUNS_MS} ms of
running and every processor is busy, without a second try, and lists what failed: how often, its first error, and the
command that draws the same order again. Without files: all of npm test and npm run test:thorough.

  --times N      rounds (10)
  --seed N       the first round's order of tests; each next one takes the next number (a random one)
  --minutes N    after which a round is ended and counts as failed (15 with files, 180 without)
  --busy N       loops that keep processors busy (one for each processor)
  --root FOLDER  another project, whose vitest.config is used; nothing is bundled for it
  --help

Exit code: 0 nothing failed, 1 something did, 2 a wrong option or a system that cannot stop processes, 130, 129 or 143 interrupted.
`;

/** @typedef {{ name: string, error: string }} Failure */
/** @typedef {{ passed: number, failures: Failure[] }} Outcome */

const checkout = resolve(import.meta.dirname, "../..");
const { root, files, times, seed, minutes, busy } = options();

if (process.platform === "win32") {
  quit(
    "Windows cannot stop a process and let it go on (SIGSTOP, SIGCONT): run this on Linux or macOS, or in WSL.",
  );
}
if (!seesDescendants) {
  console.log(
    "Without /proc, a process that a test puts into a group of its own is not ended with a killed round.",
  );
}
if (root === checkout) {
  const { status } = spawnSync("npm", ["run", "--silent", "bundle"], { cwd: root, stdio: "inherit" });
  if (status !== 0) process.exit(1);
}

const logs = mkdtempSync(join(tmpdir(), "hookproof-stress-"));
// A group of its own each: Ctrl-C of a terminal goes to this process alone, which ends them in order.
const guard = fork(join(import.meta.dirname, "stress-guard.mjs"), [String(busy)], { detached: true });
/** @type {number | undefined} */
let leader;
/** What to end with, once this process was told to. @type {number | undefined} */
let exitCode;
for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) {
  process.on(signal, () => {
    exitCode = 128 + constants.signals[signal];
  });
}
process.on("exit", end);

/** @type {Map<string, { rounds: number[], error: string }>} */
const failed = new Map();
for (let round = 1; round <= times; round += 1) {
  const started = Date.now();
  const { passed, failures } = await runRound(seed + round - 1, join(logs, `round-${round}`));
  for (const { name, error } of failures) {
    const known = failed.get(name) ?? { rounds: [], error };
    if (known.rounds.at(-1) !== round) known.rounds.push(round);
    failed.set(name, known);
  }
  const seconds = Math.round((Date.now() - started) / 1000);
  console.log(
    `round ${round} of ${times}, seed ${seed + round - 1}: ${passed} passed, ${failures.length} failed (${seconds} s)`,
  );
}
report();

/** @returns {{ root: string, files: string[], times: number, seed: number, minutes: number, busy: number }} */
function options() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        times: { type: "string", default: "10" },
        seed: { type: "string", default: String(Math.floor(Math.random() * 1e6)) },
        minutes: { type: "string" },
        busy: { type: "string", default: String(availableParallelism()) },
        root: { type: "string", default: checkout },
        help: { type: "boolean", default: false },
      },
    });
    if (values.help) {
      process.stdout.write(HELP);
      process.exit(0);
    }
    return {
      root: realpathSync(values.root),
      files: positionals,
      times: whole("--times", values.times, 1),
      seed: whole("--seed", values.seed, 0),
      minutes: whole("--minutes", values.minutes ?? (positionals.length > 0 ? "15" : "180"), 1),
      busy: whole("--busy", values.busy, 0),
    };
  } catch (error) {
    return quit(`${error instanceof Error ? error.message : error}\nSee npm run test:stress -- --help`);
  }
}

/**
 * @param {string} name
 * @param {string} text
 * @param {number} least
 */
function whole(name, text, least) {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < least)
    throw new RangeError(`${name} takes a whole number from ${least}, and not "${text}"`);
  return number;
}

/**
 * @param {string} sentence
 * @returns {never}
 */
function quit(sentence) {
  console.error(sentence);
  process.exit(2);
}

/**
 * One run of vitest, stopped again and again.
 *
 * @param {number} order
 * @param {string} path of its log and its results, without their endings
 * @returns {Promise<Outcome>}
 */
async function runRound(order, path) {
  const log = openSync(`${path}.log`, "w");
  const vitest = [join(checkout, "node_modules/vitest/vitest.mjs"), "run", "--root", root, "--retry=0"];
  const shuffled = ["--sequence.shuffle.tests", `--sequence.seed=${order}`];
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${path}.json`];
  const which =
    files.length > 0 || root !== checkout
      ? files
      : ["main", "thorough", "alone"].flatMap((project) => ["--project", project]);
  const child = spawn(process.execPath, [...vitest, ...shuffled, ...reporters, ...which], {
    cwd: root,
    detached: true,
    stdio: ["ignore", log, log],
  });
  closeSync(log);
  if (child.pid === undefined) return quit("vitest could not be started");
  leader = child.pid;
  guard.send({ leader });
  let isOver = false;
  const ended = new Promise((resolve) => child.once("exit", resolve)).then((code) => {
    isOver = true;
    return code;
  });
  const limit = Date.now() + minutes * 60_000;
  while (!isOver && Date.now() < limit && exitCode === undefined) {
    await Promise.race([ended, sleep(RUNS_MS)]);
    if (isOver || !signalGroup(leader, "SIGSTOP")) break;
    await sleep(STOPPED_MS);
    signalGroup(leader, "SIGCONT");
  }
  const isCut = !isOver && (exitCode !== undefined || Date.now() >= limit);
  const others = descendants(leader);
  // For a moment, so that it removes what it has made.
  if (isCut && signalGroup(leader, "SIGTERM")) await Promise.race([ended, sleep(GRACE_MS)]);
  killTree(leader, others);
  const code = await ended;
  leader = undefined;
  guard.send({});
  if (exitCode !== undefined) {
    rmSync(logs, { recursive: true, force: true });
    process.exit(exitCode);
  }
  const late = { name: "the run itself", error: `it did not end within ${minutes} minutes: ${path}.log` };
  return isCut ? { passed: 0, failures: [late] } : outcome(path, code);
}

/**
 * What vitest says of a round. It fails as a whole for what belongs to no test: an error between two of them, or
 * something that was left among the temporary files.
 *
 * @param {string} path
 * @param {unknown} code
 * @returns {Outcome}
 */
function outcome(path, code) {
  /** @type {{ testResults: { name: string, message: string, status: string, assertionResults: { status: string, fullName: string, failureMessages: string[] }[] }[] }} */
  let results = { testResults: [] };
  try {
    results = JSON.parse(readFileSync(`${path}.json`, "utf8"));
  } catch {
    // the exit code says it
  }
  const failures = results.testResults.flatMap(({ name, message, status, assertionResults }) => {
    const file = relative(root, name);
    const tests = assertionResults
      .filter((test) => test.status === "failed")
      .map((test) => ({ name: `${file} > ${test.fullName}`, error: test.failureMessages[0] ?? "" }));
    return tests.length === 0 && status === "failed" ? [{ name: file, error: message }] : tests;
  });
  const passed = results.testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status === "passed").length;
  const isEmpty = code === 0 && passed === 0;
  if (failures.length === 0 && (code !== 0 || isEmpty)) {
    const said = readFileSync(`${path}.log`, "utf8").trim().split("\n").slice(-3).join("\n");
    const error = isEmpty ? "no test was run" : `exit code ${code}: ${said}`;
    failures.push({ name: "the run itself", error });
  }
  return { passed, failures };
}

function report() {
  if (failed.size === 0) {
    rmSync(logs, { recursive: true, force: true });
    console.log(`\nNothing failed in ${times} ${times === 1 ? "round" : "rounds"}.`);
    process.exit(0);
  }
  const mostOften = [...failed].sort(([, a], [, b]) => b.rounds.length - a.rounds.length);
  for (const [name, { rounds, error }] of mostOften) {
    const first = seed + (rounds[0] ?? 1) - 1;
    const again = [
      "--seed",
      first,
      "--times",
      1,
      ...(root === checkout ? [] : ["--root", root]),
      ...files,
    ].join(" ");
    console.log(`\nfailed in ${rounds.length} of ${times}: ${name}`);
    console.log(`    ${error.split("\n").slice(0, 6).join("\n    ")}`);
    console.log(`    again: npm run test:stress -- ${again}`);
  }
  console.log(`\nWhat each round has said: ${logs}`);
  process.exit(1);
}

function end() {
  if (leader !== undefined) killTree(leader);
  guard.kill("SIGKILL");
}
