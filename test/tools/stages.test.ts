// Pins how .ci/run goes on after a stage that failed, and what it says at its end.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "../kit/built-package.js";
import { temporaryFolder } from "../kit/temporary-folder.js";

/** Runs stages in a process of their own, and gives what it prints from the table on. */
function run(stages: (work: string) => readonly object[]): { end: string; code: number | null } {
  const work = temporaryFolder("stages");
  const script = join(work, "stages.mjs");
  const options = JSON.stringify({ work, env: {}, processors: 2, stages: stages(work) });
  writeFileSync(
    script,
    `import { runStages } from ${JSON.stringify(join(root, ".ci/run-stages.mjs"))};\nawait runStages(${options});`,
  );
  const { stdout, status } = spawnSync(process.execPath, [script], { encoding: "utf8" });
  return { end: stdout.slice(stdout.indexOf("   from    took processor  stage")), code: status };
}

/** Stands in for vitest: writes what it came to; what has failed passes when it is run alone. */
const wavering = (seen: string) =>
  `if [ -e ${seen} ]; then echo '{"passed":3,"failed":0,"skipped":0,"failedIn":[]}' > "$HOOKPROOF_OUTCOME"; else touch ${seen}; ` +
  `echo '{"passed":8,"failed":2,"skipped":0,"failedIn":["test/a.test.ts"],"longest":[{"name":"test/b.test.ts","seconds":71,"processor":60}]}' > "$HOOKPROOF_OUTCOME"; exit 1; fi; true`;

it("runs every stage whatever fails, and lists what failed with the command that repeats it", () => {
  const { end, code } = run(() => [
    { name: "first", command: "exit 3", takes: 1 },
    { name: "second", command: "echo why; nonsense", after: ["first"], takes: 2 },
    { name: "third", command: "true", after: ["second"], takes: 0 },
  ]);
  expect(end).toMatch(/s {2}first\n.*s {2}second\n.*s {2}third\n.*in all\n/);
  expect(end).toContain("FAILED first (ended with 3). To repeat it:\n  exit 3\n");
  expect(end).toContain("FAILED second (ended with 127). To repeat it:\n  echo why; nonsense\n    why\n");
  expect(end).toMatch(/\n0 passed, 2 failed\n$/);
  expect(code).toBe(1);
});

it("says what time of the processors each stage took, what it has started included", () => {
  const busy = `${process.execPath} -e 'while (process.cpuUsage().user < 1.6e6);'`;
  const { end } = run(() => [
    { name: "busy", command: `sh -c "${busy}"`, takes: 1 },
    { name: "waits", command: "sleep 2", after: ["busy"], takes: 1 },
  ]);
  const [, ofBusy, ofWaits, sum] =
    /(\d+) s {2}busy\n.* (\d+) s {2}waits\n.* (\d+) s {2}in all/.exec(end) ?? [];
  expect(Number(ofBusy)).toBeGreaterThanOrEqual(2);
  expect(ofWaits).toBe("0");
  expect(Number(sum)).toBe(Number(ofBusy));
});

it("names a test file that passed only alone, and is green", () => {
  const { end, code } = run((work) => [
    { name: "tests", command: wavering(join(work, "seen")), takes: 2, tests: true },
  ]);
  expect(end).toContain("UNSTABLE test/a.test.ts: it failed, and passed alone (docs/testing.md)");
  expect(end).toMatch(/\n10 passed, 0 failed\n$/);
  expect(end).toContain("processor  took  file, next to others\n     60 s  71 s  test/b.test.ts\n");
  expect(code).toBe(0);
});

it("tells what fails alone as well from what passed alone, with what the tests said", () => {
  const outcome = (files: string[]) =>
    JSON.stringify({
      ...{ passed: 8, failed: files.length, skipped: 0, failedIn: files },
      faults: files.map((file) => ({ file, words: `adds: ${file} is not 2` })),
    });
  const { end, code } = run((work) => {
    const seen = join(work, "seen");
    const says = (files: string[]) => `echo '${outcome(files)}' > "$HOOKPROOF_OUTCOME"`;
    const both = says(["test/a.test.ts", "test/b.test.ts"]);
    const command = `if [ -e ${seen} ]; then ${says(["test/b.test.ts"])}; else touch ${seen}; ${both}; fi; false #`;
    return [{ name: "tests", command, takes: 2, tests: true }];
  });
  const [failed, unstable] = end.split("UNSTABLE");
  expect(failed).toMatch(
    /FAILED tests .*\n.*\n {4}test\/b\.test\.ts\n {6}adds: test\/b\.test\.ts is not 2\n\n$/,
  );
  expect(unstable).toContain(" test/a.test.ts: it failed, and passed alone");
  expect(unstable).toContain("\n      adds: test/a.test.ts is not 2\n");
  expect(code).toBe(1);
});

it("runs a stage that is no test once more where it is told to, and says what it said the first time", () => {
  const { end, code } = run((work) => [
    {
      name: "bench",
      command: `[ -e ${work}/seen ] || { touch ${work}/seen; echo why; exit 1; }`,
      takes: 2,
      again: true,
    },
  ]);
  expect(end).toContain("UNSTABLE bench: it failed, and passed alone (docs/testing.md)\n    why\n");
  expect(end).toMatch(/\n0 passed, 0 failed\n$/);
  expect(code).toBe(0);
});

it("is red for a test file that fails alone as well", () => {
  const failing = `echo '{"passed":8,"failed":2,"skipped":0,"failedIn":["test/a.test.ts"]}' > "$HOOKPROOF_OUTCOME"; false`;
  const { end, code } = run(() => [{ name: "tests", command: `${failing} #`, takes: 2, tests: true }]);
  expect(end).toMatch(/FAILED tests \(ended with 1\)(.|\n)*\n {4}test\/a\.test\.ts\n/);
  expect(end).toMatch(/\n8 passed, 2 failed\n$/);
  expect(code).toBe(1);
});
