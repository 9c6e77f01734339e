import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { root } from "./built-package.js";
import { temporaryFolder } from "./temporary-folder.js";
import { leftIn, removeFoldersOfDeadRuns } from "./test-run.js";

/** Runs a test file of one line in a project of its own, and gives what is printed at the end and the exit code. */
function run(tests: string, env: Record<string, string>): { said: string; code: number | null } {
  mkdirSync(join(root, "node_modules/.cache"), { recursive: true });
  const folder = mkdtempSync(join(root, "node_modules/.cache/hookproof-skips-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const needs = `import { expect, it } from "vitest";\nimport { itWith } from "${root}/test/kit/needs.ts";\n`;
  writeFileSync(join(folder, "one.test.ts"), needs + tests);
  const config = `import { RunReporter } from "${root}/test/kit/run-reporter.ts";
    export default { test: { globalSetup: "${root}/test/kit/test-run.ts", reporters: [new RunReporter()] } };`;
  writeFileSync(join(folder, "vitest.config.ts"), config);
  const { PATH = "" } = process.env;
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const { stdout, stderr, status } = spawnSync(process.execPath, [vitest, "run", "--root", folder], {
    env: { PATH, TMPDIR: tmpdir(), ...env },
    encoding: "utf8",
  });
  return { said: stdout + stderr, code: status };
}

const TWO =
  'itWith("age", false)("one", () => {}); itWith("age", false)("two", () => {}); it("runs", () => {});';

it("says what was skipped, and for want of what", () => {
  expect(run(TWO, {})).toEqual({ said: "\n skipped for want of: age (2 tests)\n", code: 0 });
});

it("fails in CI for it, but for what CI is known not to have", () => {
  const { said, code } = run(TWO, { CI: "true" });
  expect(said).toContain("ERROR: CI has to have what these tests need: age (2 tests)");
  expect(code).toBe(1);
  expect(run(TWO, { CI: "true", HOOKPROOF_MAY_SKIP: "ruby, age" }).code).toBe(0);
});

it("fails everywhere for a skip that does not say why", () => {
  const { said, code } = run('it.skip("silent", () => {}); it("runs", () => {});', {});
  expect(said).toMatch(/skipped without a word of why .*\n {2}silent/);
  expect(code).toBe(1);
});

it("writes down what the run came to, with the files in which something failed or was skipped", () => {
  const file = join(temporaryFolder("outcome"), "outcome.json");
  const failing = 'it("fails", () => expect(1).toBe(2));';
  expect(run(`${TWO} ${failing}`, { HOOKPROOF_OUTCOME: file }).code).toBe(1);
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({
    ...{ passed: 1, failed: 1, skipped: 2, skippedIn: ["one.test.ts"], failedIn: ["one.test.ts"] },
    faults: [{ file: "one.test.ts", words: expect.stringMatching(/^fails: expected 1 to be 2 /) }],
    longest: [{ name: "one.test.ts", seconds: expect.any(Number), processor: expect.any(Number) }],
  });
  const unheard = 'it("throws later", async () => { setTimeout(() => { throw new Error("x"); }); });';
  const wait = 'it("waits", () => new Promise((resolve) => setTimeout(resolve, 50)));';
  expect(run(`${unheard} ${wait}`, { HOOKPROOF_OUTCOME: file }).code).toBe(1);
  expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ failed: 1, failedIn: ["one.test.ts"] });
  expect(run("not a module {", { HOOKPROOF_OUTCOME: file }).code).toBe(1);
  expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ failed: 1, failedIn: ["one.test.ts"] });
});

it("fails for a test that leaves something among the temporary files, and removes it", () => {
  const leave = 'const fs = await import("node:fs"); const os = await import("node:os");';
  const { said, code } = run(
    `it("leaves", async () => { ${leave} expect(fs.mkdtempSync(os.tmpdir() + "/hookproof-left-")).toBeTruthy(); });`,
    {},
  );
  expect(said).toMatch(/left among the temporary files.*hookproof-left-/);
  expect(code).toBe(1);
  expect(leftIn(tmpdir()).filter((name) => name.startsWith("hookproof-test-run-"))).toEqual([]);
});

it("removes the temporary files of a run that was killed, and of no other", () => {
  const shared = mkdtempSync(join(tmpdir(), "hookproof-runs-"));
  onTestFinished(() => rmSync(shared, { recursive: true }));
  const gone = execFileSync(process.execPath, ["-p", "process.pid"], { encoding: "utf8" }).trim();
  const killed = [`hookproof-test-run-${gone}`, `hookproof-test-run-${gone}-aB3dE4`];
  const others = [`hookproof-test-run-${process.pid}-aB3dE4`, "hookproof-other"];
  for (const name of [...killed, ...others]) mkdirSync(join(shared, name));
  removeFoldersOfDeadRuns(shared);
  expect(leftIn(shared).sort()).toEqual(others.sort());
});
