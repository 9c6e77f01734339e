// @ts-check
// Runs stages of CI side by side as far as the processors go, prints each when it ends, and at the end what took how long,
// which test files took most of the processors, what failed with the command that repeats it and its last lines, and what passed only when
// it ran once more, alone.
import { spawn } from "node:child_process";
import { chmodSync, createWriteStream, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A stage that takes longer is taken for one that hangs. */
const LIMIT_MS = 40 * 60_000;
const SIGN_OF_LIFE_MS = 60_000;
/** Of each failed stage, at the end. */
const LAST_LINES = 12;
/** Runs a command, and writes into the file that it is called by what time of the processors that took. */
const TIMED = `"$@"; code=$?; times > "$0"; exit $code`;
/** Files that are shown with how long they took. */
const LONGEST = 25;

/**
 * @typedef {object} Stage
 * @property {string} name
 * @property {string | (() => string)} command for sh; where it is a function it is asked for once the stage begins
 * @property {readonly string[]} [after] stages that have to end before, whether they fail or not
 * @property {number} takes how many processors it keeps busy
 * @property {boolean} [tests] whether it runs vitest, with the reporter of test/kit/run-reporter.ts
 * @property {boolean} [again] whether it runs once more, as a whole, when it has failed
 * @property {{ command(line: string, env?: Record<string, string>): string[] }} [as] who runs it
 *
 * @typedef {{ passed: number, failed: number, skipped: number, failedIn: string[],
 *   faults?: { file: string, words: string }[], longest?: { name: string, seconds: number, processor: number }[] }} Outcome
 */

/**
 * Sets the exit code to 1 when a stage has failed.
 *
 * @param {{ work: string, env: Record<string, string>, processors: number, stages: readonly Stage[] }} options
 */
export async function runStages({ work, env, processors, stages }) {
  const started = Date.now();
  const seconds = (since = started) => Math.round((Date.now() - since) / 1000);
  /** @type {Map<string, Promise<void>>} */
  const running = new Map();
  const ended = new Set();
  /** @type {{ name: string, from: number, took: number, processor: number }[]} */
  const durations = [];
  /** @type {NonNullable<Outcome["longest"]>} */
  const files = [];
  /** @type {string[]} */
  const failures = [];
  /** @type {{ name: string, words?: string }[]} */
  const unstable = [];
  /** @type {Map<string, number>} Seconds of the processors, by what ran. */
  const spent = new Map();
  const sum = { passed: 0, failed: 0 };
  /** @type {Set<number>} The groups of what runs. */
  const groups = new Set();
  const killAll = () => {
    for (const group of groups) {
      try {
        process.kill(-group, "SIGKILL");
      } catch {} // it has just ended
    }
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => process.exit(1));
  process.once("exit", killAll);
  let free = processors;

  const signOfLife = setInterval(() => {
    console.log(`[${seconds()} s] under way: ${[...running.keys()].join(", ")}`);
  }, SIGN_OF_LIFE_MS);
  const waiting = new Set(stages);
  while (waiting.size > 0 || running.size > 0) {
    for (const stage of waiting) {
      if (stage.takes > free || stage.after?.some((name) => !ended.has(name))) continue;
      waiting.delete(stage);
      free -= stage.takes;
      const from = seconds();
      running.set(
        stage.name,
        runStage(stage).finally(() => {
          running.delete(stage.name);
          ended.add(stage.name);
          free += stage.takes;
          const { name } = stage;
          const processor = (spent.get(name) ?? 0) + (spent.get(`${name}, once more`) ?? 0);
          durations.push({ name, from, took: seconds() - from, processor });
        }),
      );
    }
    if (running.size === 0)
      throw new Error(`nothing ends that ${[...waiting].map(({ name }) => name)} wait for`);
    await Promise.race(running.values());
  }
  clearInterval(signOfLife);

  const row = (/** @type {[number | string, number, number, string]} */ ...[from, took, processor, name]) =>
    console.log(
      `${String(from).padStart(7)} ${String(took).padStart(5)} s ${String(processor).padStart(7)} s  ${name}`,
    );
  console.log("\n   from    took processor  stage");
  for (const { name, from, took, processor } of durations.sort((a, b) => a.from - b.from))
    row(`${from} s`, took, processor, name);
  row(
    "",
    seconds(),
    durations.reduce((sum, { processor }) => sum + processor, 0),
    "in all",
  );
  if (files.length > 0) console.log("\nprocessor  took  file, next to others");
  for (const { name, seconds: took, processor } of files
    .sort((a, b) => b.processor - a.processor)
    .slice(0, LONGEST))
    console.log(`${String(processor).padStart(7)} s ${String(took).padStart(3)} s  ${name}`);
  for (const failure of failures) console.log(`\nFAILED ${failure}`);
  for (const { name, words = "" } of unstable)
    console.log(`\nUNSTABLE ${name}: it failed, and passed alone (docs/testing.md)${words}`);
  if (failures.length > 0) process.exitCode = 1;
  console.log(`\n${sum.passed} passed, ${Math.max(sum.failed, failures.length)} failed`);

  /** @param {Stage} stage */
  async function runStage(stage) {
    let command = "";
    try {
      command = typeof stage.command === "string" ? stage.command : stage.command();
    } catch (error) {
      failures.push(`${stage.name}: ${error}`);
      return;
    }
    const outcome = join(work, `${stage.name}.json`);
    const first = await run(stage, command, stage.tests ? outcome : undefined);
    const result = read(outcome);
    sum.passed += result.passed;
    files.push(...(result.longest ?? []));
    if (first.ok) return;
    let failed = result.failedIn;
    if (stage.tests && failed.length > 0) {
      const separator = stage.as ? " --" : "";
      const again = `${command}${separator} ${failed.join(" ")}`;
      console.log(`[${seconds()} s] ${stage.name}: once more, alone: ${failed.join(" ")}`);
      const name = `${stage.name}, once more`;
      const second = await run({ ...stage, name }, again, join(work, `${name}.json`), {
        VITEST_MAX_WORKERS: "1",
      });
      const { failedIn } = read(join(work, `${name}.json`));
      const waver = failed.filter((file) => second.ok || (failedIn.length > 0 && !failedIn.includes(file)));
      unstable.push(...waver.map((name) => ({ name, words: `\n${indented(faultsIn(result, [name]))}` })));
      if (second.ok) {
        sum.passed += result.failed;
        return;
      }
      failed = failed.filter((file) => !waver.includes(file));
      sum.failed += result.failed;
    }
    if (stage.again) {
      console.log(`[${seconds()} s] ${stage.name}: once more`);
      const second = await run({ ...stage, name: `${stage.name}, once more` }, command, undefined);
      if (second.ok) {
        unstable.push({ name: stage.name, words: `\n${indented(first.lines)}` });
        return;
      }
    }
    failures.push(
      `${stage.name} (${first.why}). To repeat it${stage.as ? ", as an ordinary user" : ""}:\n  ${command}\n` +
        indented(failed.length > 0 ? faultsIn(result, failed) : first.lines),
    );
  }

  /**
   * @param {Stage} stage
   * @param {string} command
   * @param {string | undefined} outcome where vitest says what it came to
   * @param {Record<string, string>} more for its environment
   * @returns {Promise<{ ok: boolean, why: string, lines: readonly string[] }>}
   */
  async function run({ name, as }, command, outcome, more = {}) {
    console.log(`[${seconds()} s] ${name}: ${command}`);
    const since = Date.now();
    const log = join(work, `${name.replaceAll(/[^\w]+/g, "-")}.log`);
    const times = `${log}.times`;
    if (outcome) {
      writeFileSync(
        outcome,
        JSON.stringify({ passed: 0, failed: 0, skipped: 0, failedIn: [], skippedIn: [] }),
      );
      chmodSync(outcome, 0o666); // the stranger's
    }
    /** @type {Record<string, string>} */
    const told = outcome ? { HOOKPROOF_OUTCOME: outcome, ...more } : {};
    const args = as ? as.command(command, told) : ["bash", "-c", command];
    const child = spawn("bash", ["-c", TIMED, times, ...args], {
      stdio: ["ignore", "pipe", "pipe"],
      detached: true, // a group of its own, which ends with it
      env: as ? process.env : { ...process.env, ...env, ...told },
    });
    const group = child.pid ?? 0;
    if (group > 0) groups.add(group);
    child.once("exit", () => groups.delete(group));
    const written = createWriteStream(log);
    for (const stream of [child.stdout, child.stderr]) stream.pipe(written, { end: false });
    const why = await new Promise((resolve) => {
      const timer = setTimeout(() => {
        resolve(`did not end within ${LIMIT_MS / 60_000} minutes`);
        process.kill(-group, "SIGKILL");
      }, LIMIT_MS);
      child.once("error", (error) => resolve(String(error)));
      child.once("close", (code, signal) => {
        clearTimeout(timer);
        resolve(code === 0 ? "" : `ended with ${code ?? signal}`);
      });
    });
    await new Promise((resolve) => written.end(() => resolve(undefined)));
    spent.set(name, secondsIn(times));
    const lines = readFileSync(log, "utf8").trimEnd().split("\n");
    const shown = why === "" ? lines.slice(-12) : lines.slice(-400);
    console.log(`\n===== ${name}: ${why || "passed"}, ${seconds(since)} s\n${shown.join("\n")}\n`);
    return { ok: why === "", why, lines };
  }
}

/** What a stage said last: the end of a run is what is kept of it. */
function indented(/** @type {readonly string[]} */ lines) {
  return lines
    .slice(-LAST_LINES)
    .map((line) => `    ${line}`)
    .join("\n");
}

/** Test files, each with what its tests said. @returns {string[]} */
function faultsIn(/** @type {Outcome} */ { faults = [] }, /** @type {string[]} */ files) {
  return files.flatMap((file) => [
    file,
    ...faults.filter((fault) => fault.file === file).map(({ words }) => `  ${words}`),
  ]);
}

/** Of what `times` has written: the shell's own on the first line, its commands' on the second; none if it was killed. */
function secondsIn(/** @type {string} */ file) {
  const all = existsSync(file) ? readFileSync(file, "utf8").matchAll(/(\d+)m([\d.]+)s/g) : [];
  return Math.round(
    [...all].reduce((sum, [, minutes, seconds]) => sum + 60 * Number(minutes) + Number(seconds), 0),
  );
}

/** @returns {Outcome} */
function read(/** @type {string} */ file) {
  if (!existsSync(file)) return { passed: 0, failed: 0, skipped: 0, failedIn: [] };
  return JSON.parse(readFileSync(file, "utf8"));
}
