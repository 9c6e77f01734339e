import { chmodSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";

/** What a run's folder for temporary files is called; its process id follows. */
const RUN = "hookproof-test-run-";

/** What other people's programs leave in it: caches of tsx and Node, the browser's own, and what a killed go run built. */
const NOT_OURS =
  /^(?:tsx-\d+|node-compile-cache|\.?org\.chromium\.|\.com\.google\.|playwright|v8-compile-cache|go-build\d+)/;

/**
 * Before the first test file: gives the run a folder of its own for temporary files, and removes those of runs that were
 * killed. After the last: fails when a test has left something there. Where tests were chosen by their names it does
 * not: a file none of whose tests is run makes its folder, and is never asked to remove it.
 */
export function setup({ config }: TestProject): (() => void) | undefined {
  // Each project of vitest.config.ts asks; the first one has done it for all.
  if (process.env.HOOKPROOF_TEST_RUN === String(process.pid)) return undefined;
  const shared = tmpdir();
  removeFoldersOfDeadRuns(shared);
  const folder = join(shared, `${RUN}${process.pid}`);
  mkdirSync(folder);
  chmodSync(folder, 0o1777); // as /tmp is: some tests start programs as another user
  process.env.HOOKPROOF_TEST_RUN = String(process.pid);
  process.env.TMPDIR = folder;
  return () => {
    const left = leftIn(folder);
    rmSync(folder, { recursive: true, force: true });
    process.env.TMPDIR = shared;
    if (left.length === 0 || config.testNamePattern) return;
    process.exitCode = 1; // vitest only prints what a teardown throws
    throw new Error(`these were left among the temporary files; whoever makes one removes it: ${left}`);
  };
}

/** What in a run's folder somebody here has made and not removed. */
export function leftIn(folder: string): string[] {
  return readdirSync(folder).filter((name) => !NOT_OURS.test(name));
}

/** Removes the folders of runs whose process is gone. */
export function removeFoldersOfDeadRuns(shared: string): void {
  for (const name of readdirSync(shared)) {
    const pid = name.startsWith(RUN) ? Number(name.slice(RUN.length)) : Number.NaN;
    if (Number.isInteger(pid) && !isAlive(pid)) rmSync(join(shared, name), { recursive: true, force: true });
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
