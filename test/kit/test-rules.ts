// What a test must not do, as far as its source shows it: docs/testing.md has the reasons.
import type { SourceFile } from "./architecture-rules.js";

/** The shortest limit of vitest's own that only what hangs can meet. */
const LEAST_LIMIT_MS = 60_000;
/** The shortest limit of the product's that real input and output may race. */
const LEAST_RACED_MS = 5_000;

/** How a test says that the limit itself is what it looks at. */
const LOOKS_AT_LIMIT =
  /TIMED_OUT|TIMEOUT|_TIMED|times? out|timed out|within|no longer than|\bclock\b|\bwait\b/i;

const number = (text: string) => Number(text.replaceAll("_", ""));

/** Every rule that a test file breaks, with its line; empty when it keeps them all. */
export function testViolationsOf({ path, text }: SourceFile): string[] {
  const broken: string[] = [];
  const lines = text.split("\n");
  const at = (line: number, rule: string) => broken.push(`${path}:${line + 1} ${rule}`);
  for (const [index, line] of lines.entries()) {
    if (/\b(?:it|test|describe)(?:\.\w+)*\.(?:skipIf|runIf|skip|todo|only)\b/.test(line))
      at(index, "skips or chooses by itself: test/kit/needs.ts says for want of what");
    if (/\bretry: \d/.test(line)) at(index, "is tried twice: what passes only then is broken");
    if (/expect\(.*(?:performance|Date)\.now\(\) - .*toBeLess/.test(line))
      at(index, "bounds wall time from above: a busy machine is slow");
    const own = /\btimeout: ([\d_]+) \}, (?:async )?\(|^\}, ([\d_]+)\);$|^ {2}\}, ([\d_]+)\);$/.exec(line);
    const limit = own?.slice(1).find((one) => one !== undefined);
    if (limit && number(limit) < LEAST_LIMIT_MS && number(limit) >= 100)
      at(index, "has a limit of vitest's that what is slow can meet");
  }
  for (const { start, body } of testsIn(lines)) {
    const raced = [...body.matchAll(/\b\w*[tT]imeoutMs: ([\d_]+)/g)].filter(
      ([, ms = ""]) => number(ms) > 0 && number(ms) < LEAST_RACED_MS,
    );
    if (raced.length > 0 && !LOOKS_AT_LIMIT.test(body))
      at(
        start,
        `races real input and output with ${raced[0]?.[0]}: the test's clock, or ${LEAST_RACED_MS} and more`,
      );
  }
  return broken;
}

/** The tests of a file, by the lines in which they begin; what stands before the first is none's. */
function testsIn(lines: readonly string[]): { start: number; body: string }[] {
  const starts = lines.flatMap((line, index) =>
    /^\s*(?:it|test|itWith\(.*\))(?:\.\w+)*[(<]/.test(line) ? [index] : [],
  );
  return starts.map((start, index) => ({
    start,
    body: lines.slice(start, starts[index + 1]).join("\n"),
  }));
}
