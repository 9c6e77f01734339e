// Proves that the stress tool finds a race, passes what has none, and leaves no process behind.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { root } from "../kit/built-package.js";
import { describeWith } from "../kit/needs.js";
import { runningProcesses } from "../kit/processes.js";
import { temporaryFolder } from "../kit/temporary-folder.js";

const CALM = 'import { expect, it } from "vitest"; it("is calm", () => { expect(1).toBe(1); });';
const RACING = `import { expect, it } from "vitest";
  it("races", async () => {
    const started = Date.now();
    for (let n = 0; n < 20; n++) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(Date.now() - started).toBeLessThan(600);
  });`;
const ENDLESS = `import { spawn } from "node:child_process"; import { it } from "vitest";
  it("never ends", async () => {
    spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)", process.cwd()], { detached: true, stdio: "ignore" });
    await new Promise(() => {});
  });`;

/** A project of test files of its own; below node_modules, where they find vitest. */
function project(files: Record<string, string>): string {
  mkdirSync(join(root, "node_modules/.cache"), { recursive: true });
  const folder = mkdtempSync(join(root, "node_modules/.cache/hookproof-stress-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, `${name}.test.ts`), text);
  writeFileSync(join(folder, "vitest.config.ts"), "export default {};");
  return folder;
}

/** Starts the tool, with one busy processor: other tests run beside this one. */
function start(
  folder: string,
  ...args: string[]
): { child: ChildProcess; ended: Promise<[number | null, string]> } {
  const tool = join(root, "test/tools/stress.mjs");
  const { PATH = "" } = process.env;
  const child = spawn(process.execPath, [tool, "--root", folder, "--busy", "1", ...args], {
    env: { PATH, TMPDIR: temporaryFolder("stress") },
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (said += chunk));
  return { child, ended: new Promise((resolve) => child.on("close", (code) => resolve([code, said]))) };
}

describeWith("SIGSTOP", process.platform !== "win32")("npm run test:stress", () => {
  it("lists what fails on a machine without time, with its first error and the seed that draws it again", async () => {
    const folder = project({ calm: CALM, racing: RACING });
    const [code, said] = await start(folder, "--times", "2", "--seed", "7").ended;
    expect(said).toMatch(
      /^round 1 of 2, seed 7: 1 passed, 1 failed \(\d+ s\)\nround 2 of 2, seed 8: 1 passed, 1 failed/,
    );
    expect(said).toMatch(
      /\nfailed in 2 of 2: racing\.test\.ts > races\n {4}AssertionError: expected \d+ to be less than 600/,
    );
    expect(said).toContain(`again: npm run test:stress -- --seed 7 --times 1 --root ${folder}\n`);
    expect(said).not.toContain("is calm");
    expect(code).toBe(1);
    const [, logs = ""] = /^What each round has said: (.*)$/m.exec(said) ?? [];
    expect(readdirSync(logs).sort()).toEqual(["round-1.json", "round-1.log", "round-2.json", "round-2.log"]);
  });

  it("passes what waits for no time", async () => {
    const [code, said] = await start(project({ calm: CALM, racing: RACING }), "--times", "1", "calm").ended;
    expect(said).toMatch(
      /^round 1 of 1, seed \d+: 1 passed, 0 failed \(\d+ s\)\n\nNothing failed in 1 round\.\n$/,
    );
    expect(code).toBe(0);
  });

  it("fails when there is no test", async () => {
    const [code, said] = await start(project({ calm: CALM }), "--times", "1", "nowhere").ended;
    expect(said).toMatch(/failed in 1 of 1: the run itself\n {4}exit code 1: /);
    expect(code).toBe(1);
  });

  it.each(["SIGTERM", "SIGKILL"] as const)("leaves no process behind after %s", async (signal) => {
    const folder = project({ endless: ENDLESS });
    const ours = () => runningProcesses().filter(({ command }) => command.includes(folder));
    const { child, ended } = start(folder);
    const tests = () => ours().filter(({ command }) => command.includes("setInterval"));
    await expect.poll(tests).not.toEqual([]);
    const started = runningProcesses()
      .filter(({ parent }) => parent === child.pid)
      .map(({ pid }) => pid);
    expect(started.length).toBeGreaterThan(1);
    child.kill(signal);
    const [code] = await ended;
    expect(code).toBe({ SIGTERM: 143, SIGKILL: null }[signal]);
    await expect.poll(ours).toEqual([]);
    await expect
      .poll(() => runningProcesses().filter(({ pid, command }) => started.includes(pid) && command))
      .toEqual([]);
  });

  it.each([
    [["--times", "0"], '--times takes a whole number from 1, and not "0"'],
    [["--round"], "Unknown option '--round'"],
  ])("refuses %j", async (args, sentence) => {
    const [code, said] = await start(temporaryFolder("stress"), ...args).ended;
    expect(said).toContain(sentence);
    expect(code).toBe(2);
  });
});
