// Says at the end of a run what was skipped and for want of what, and writes down what the run came to.
import { writeFileSync } from "node:fs";
import { relative } from "node:path";
import { stripVTControlCharacters } from "node:util";
import type { Reporter, SerializedError, TestCase, TestModule, Vitest } from "vitest/node";

/** What a run came to: written as JSON into the file that HOOKPROOF_OUTCOME names, for `.ci/run`. */
interface Outcome {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Files in which a test was skipped. */
  readonly skippedIn: readonly string[];
  /** Files in which a test failed, that could not be read, or during which something failed that no test waited for. */
  readonly failedIn: readonly string[];
  /** What the first of the failed tests said. */
  readonly faults: readonly { readonly file: string; readonly words: string }[];
  /** The files that took most of the processors, the first of them first. */
  readonly longest: readonly {
    readonly name: string;
    readonly seconds: number;
    readonly processor: number;
  }[];
}

const LONGEST = 25;

/** Failed tests of which the outcome holds what they said, and how much of it: the end of a log is what is kept of a run. */
const FAULTS = 6;
const WORDS = 300;

/** What a title of `itWith` ends with, the groups it is in included. */
const WANT = /\[with ([^\]]+)\]/g;

/**
 * In CI every skip is an error, but for what HOOKPROOF_MAY_SKIP names (separated by commas); a skip that does not say why
 * is one everywhere.
 */
export class RunReporter implements Reporter {
  #root = "";

  onInit({ config }: Vitest): void {
    this.#root = config.root;
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const asked = modules.flatMap((module) =>
      [...module.children.allTests()].filter((test) => this.#wasAskedFor(test)),
    );
    const skipped = asked.filter((test) => test.result().state === "skipped" && !isCutOff(test));
    const failed = asked.filter((test) => test.result().state === "failed");
    const unread = modules.filter((module) => module.errors().length > 0);
    // Vitest's own word for the file in which an error was thrown that nobody caught.
    const unheard = errors.flatMap(({ VITEST_TEST_PATH: file }) =>
      typeof file === "string" ? [relative(this.#root, file)] : [],
    );
    const namesOf = (list: readonly TestModule[]) => [...new Set(list.map((one) => one.relativeModuleId))];
    writeOutcome({
      passed: asked.length - skipped.length - failed.length,
      failed: failed.length + unread.length + unheard.length,
      skipped: skipped.length,
      skippedIn: namesOf(skipped.map(({ module }) => module)),
      failedIn: [...new Set([...namesOf([...unread, ...failed.map(({ module }) => module)]), ...unheard])],
      faults: failed
        .slice(0, FAULTS)
        .map((test) => ({ file: test.module.relativeModuleId, words: wordsOf(test) })),
      longest: longestOf(modules),
    });
    for (const line of judge(skipped.map(({ fullName }) => fullName))) {
      process.stdout.write(`${line.text}\n`);
      if (line.isError) process.exitCode = 1;
    }
  }

  /** With `-t` every other test of a file counts as skipped as well. */
  #wasAskedFor(test: TestCase): boolean {
    const pattern = test.project.config.testNamePattern;
    return !pattern || pattern.test(test.fullName.replaceAll(" > ", " "));
  }
}

/** A failed test's title and what it said, in one line. */
function wordsOf(test: TestCase): string {
  const [error] = test.result().errors ?? [];
  const said = stripVTControlCharacters([error?.message, error?.diff].filter(Boolean).join(" "));
  return `${test.fullName}: ${said}`.replaceAll(/\s+/g, " ").slice(0, WORDS);
}

/** By their tests and imports, with the processes that they start; files run side by side, so they take more than the run. */
function longestOf(modules: readonly TestModule[]): Outcome["longest"] {
  const took = modules.map((module) => {
    const { duration, collectDuration } = module.diagnostic();
    const { processorSeconds = 0 } = module.meta() as { processorSeconds?: number };
    const seconds = Math.round((duration + collectDuration) / 1000);
    return { name: module.relativeModuleId, seconds, processor: Math.round(processorSeconds) };
  });
  return took.sort((a, b) => b.processor - a.processor).slice(0, LONGEST);
}

function writeOutcome(outcome: Outcome): void {
  const file = process.env.HOOKPROOF_OUTCOME;
  if (file) writeFileSync(file, JSON.stringify(outcome));
}

/** Whether a test did not run as what comes before it has failed, which vitest says itself. */
function isCutOff({ parent }: TestCase): boolean {
  return (
    parent.errors().length > 0 || (parent.type === "suite" && isCutOff({ parent: parent.parent } as TestCase))
  );
}

/** What is to be said of skipped tests, given their full names. */
function judge(
  names: readonly string[],
  { CI, HOOKPROOF_MAY_SKIP = "" }: Readonly<Record<string, string | undefined>> = process.env,
): { text: string; isError: boolean }[] {
  const counts = new Map<string, number>();
  const silent: string[] = [];
  for (const name of names) {
    const want = [...name.matchAll(WANT)].at(-1)?.[1]; // the test's own, and not its group's
    if (want) counts.set(want, (counts.get(want) ?? 0) + 1);
    else silent.push(name);
  }
  const list = (wants: readonly [string, number][]) =>
    wants.map(([want, count]) => `${want} (${count} ${count === 1 ? "test" : "tests"})`).join(", ");
  const allowed = HOOKPROOF_MAY_SKIP.split(",").map((one) => one.trim());
  const wants = [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
  const wrong = CI ? wants.filter(([want]) => !allowed.includes(want)) : [];
  return [
    ...(wants.length > 0 ? [{ text: `\n skipped for want of: ${list(wants)}`, isError: false }] : []),
    ...(wrong.length > 0
      ? [{ text: `\n ERROR: CI has to have what these tests need: ${list(wrong)}`, isError: true }]
      : []),
    ...(silent.length > 0
      ? [
          {
            text: `\n ERROR: skipped without a word of why (see test/kit/needs.ts):\n  ${silent.join("\n  ")}`,
            isError: true,
          },
        ]
      : []),
  ];
}
