// Gives a run of the tests a folder of its own for temporary files, and fails when something is left in it.
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { TestProject } from "vitest/node";
import { type RunningProcess, runningProcesses } from "./processes.js";

/** The room that there has to be before a run begins. */
const ROOM_BYTES = 64 * 1024 * 1024;

/** What a run's folder for temporary files is called; its process id follows, and what makes it one of its own. */
const RUN = "hookproof-test-run-";

/**
 * What may be left in it: the certificates of the run (certificates.ts) and its packages (packed-packages.ts), and what other
 * people's programs leave: caches of tsx and Node, the browser's own, and what a killed go run built.
 */
const MAY_STAY =
  /^(?:certificates\.json$|packed$|tsx-\d+|node-compile-cache|\.?org\.chromium\.|\.com\.google\.|playwright|v8-compile-cache|go-build\d+)/;

/**
 * Before the first test file: gives the run a folder of its own for temporary files, and removes those of runs that were
 * killed, with the processes that they have left. After the last: fails when a test has left a process, or something in the
 * folder. Where tests were chosen by their names files may stay: a test file none of whose tests is run makes its folder,
 * and is never asked to remove it.
 */
export function setup({ config }: TestProject): (() => Promise<void>) | undefined {
  // Each project of vitest.config.ts asks; the first one has done it for all.
  if (process.env.HOOKPROOF_TEST_RUN === String(process.pid)) return undefined;
  const shared = tmpdir();
  let folder = "";
  try {
    removeFoldersOfDeadRuns(shared);
    folder = mkdtempSync(join(shared, `${RUN}${process.pid}-`)); // a killed run may have had the same process id
    chmodSync(folder, 0o1777); // as /tmp is: some tests start programs as another user
    writeFileSync(join(folder, "room"), Buffer.alloc(ROOM_BYTES));
    rmSync(join(folder, "room"));
  } catch (error) {
    if (folder !== "") rmSync(folder, { recursive: true, force: true });
    throw new Error(`The tests need a folder for temporary files, with room in it (TMPDIR): ${error}`);
  }
  process.env.HOOKPROOF_TEST_RUN = String(process.pid);
  process.env.TMPDIR = folder;
  return async () => {
    for (let waits = 0; waits < 100 && processesOf(folder).length > 0; waits++) await sleep(50); // some are ending
    const running = endProcessesOf(folder);
    const left = leftIn(folder);
    rmSync(folder, { recursive: true, force: true });
    process.env.TMPDIR = shared;
    if (running.length === 0 && (left.length === 0 || config.testNamePattern)) return;
    process.exitCode = 1; // vitest only prints what a teardown throws
    if (running.length > 0)
      throw new Error(`these were left running, and are ended:\n  ${running.join("\n  ")}`);
    throw new Error(`these were left among the temporary files; whoever makes one removes it: ${left}`);
  };
}

/** What in a run's folder somebody here has made and not removed. */
export function leftIn(folder: string): string[] {
  return readdirSync(folder).filter((name) => !MAY_STAY.test(name));
}

/** Removes the folders of runs whose process is gone. */
export function removeFoldersOfDeadRuns(shared: string): void {
  for (const name of readdirSync(shared)) {
    const pid = name.startsWith(RUN) ? Number.parseInt(name.slice(RUN.length), 10) : Number.NaN;
    if (Number.isNaN(pid) || isAlive(pid)) continue;
    endProcessesOf(join(shared, name));
    try {
      rmSync(join(shared, name), { recursive: true, force: true });
    } catch {} // another user's
  }
}

/** Ends what a run has left running, and gives the command lines. */
function endProcessesOf(folder: string): string[] {
  const left = processesOf(folder);
  for (const { pid } of left) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {} // it has ended meanwhile
  }
  return left.map(({ command }) => command);
}

/**
 * The processes that have inherited a run's folder for temporary files, but for vitest's own, which are children of this
 * process. Only Linux says what a process has inherited.
 */
function processesOf(folder: string): RunningProcess[] {
  if (!existsSync("/proc/self/environ")) return [];
  return runningProcesses().filter(
    ({ pid, parent, command }) =>
      ![pid, parent].includes(process.pid) &&
      command !== "" &&
      environmentOf(pid).includes(`TMPDIR=${folder}`),
  );
}

function environmentOf(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
  } catch {
    return []; // it has ended meanwhile, or is another user's
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"; // somebody else's
  }
}
