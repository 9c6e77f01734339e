// What a test must not do, as far as its source shows it: docs/testing.md has the reasons.
import type { SourceFile } from "./architecture-rules.js";

/** The shortest limit of vitest's own that only what hangs can meet. */
const MIN_LIMIT_MS = 600_000;
/** How long a test waits for what is bound to come, at least: expect.poll without a limit of its own. */
const MIN_PATIENCE_MS = 60_000;
/** The shortest limit of the product's that real input and output may race. */
const MIN_RACED_MS = 5_000;

/** How a test says that the limit is what it looks at, or that it takes more time where the limit was too short. */
const LOOKS_AT_LIMIT =
  /TIMED_OUT|TIMEOUT|_UNAVAILABLE|_STUCK|lateResult|useFakeTimers|bench\.pass|within|no longer|in vain|limit/;

/** A pool that is given over before it has a connection, or that is without a listener because that is what is looked at. */
const IS_NO_OR_BARE_POOL =
  /new pg\.Pool\((?:options)?\)|connectionString: postgres\?\.url, connectionTimeoutMillis: 10_000/;

/** Tests of these rules and of the reporter, with wrong tests in them. */
const WRITES_WRONG_TESTS = /^test\/(?:architecture|kit\/run-reporter|tools\/stress)\.test\.ts$/;

const number = (text: string) => Number(text.replaceAll("_", ""));

/** Every rule that a test file breaks, with its line; empty when it keeps them all. */
export function testViolationsOf({ path, text }: SourceFile): string[] {
  if (WRITES_WRONG_TESTS.test(path)) return [];
  const lines = text.split("\n");
  return [...lines.flatMap(violationsOfLine), ...testsIn(lines).flatMap(racesOf)].map(
    ({ line, rule }) => `${path}:${line + 1} ${rule}`,
  );

  function violationsOfLine(code: string, line: number) {
    const rules: string[] = [];
    if (/\b(?:it|test|describe)(?:\.\w+)*\.(?:skipIf|runIf|skip|todo|only)\b/.test(code))
      rules.push("skips or chooses by itself: test/kit/needs.ts says for want of what");
    if (/import\.meta\.url\)\.pathname/.test(code))
      rules.push("takes a URL's path for a file's: fileURLToPath knows blanks and umlauts");
    if (/new pg\.Pool\(/.test(code) && !IS_NO_OR_BARE_POOL.test(code))
      rules.push(
        "has a pool that fails the run when its server stops first: testPool of test/kit/postgres.ts",
      );
    if (/\bretry: \d/.test(code)) rules.push("is tried twice: what passes only then is broken");
    if (/\btoBeLess/.test(code) && isWallTime(code))
      rules.push("bounds wall time from above: a busy machine is slow");
    if (/\bvi\.wait(?:For|Until)\(/.test(code))
      rules.push("waits for a second at most: expect.poll waits as long as something may take");
    const [, patience = "60_000"] = /\bpoll\(.*\btimeout: ([\d_]+)/.exec(code) ?? [];
    if (number(patience) < MIN_PATIENCE_MS)
      rules.push("waits shorter than the run does: expect.poll without a limit");
    const ms = number(limitIn(line));
    if (ms >= 1_000 && ms < MIN_LIMIT_MS) rules.push("has a limit of vitest's that what is slow can meet");
    return rules.map((rule) => ({ line, rule }));
  }

  /** A limit of vitest's own: in an option or behind a test, with other words on its line or by itself. */
  function limitIn(line: number): string {
    const [before = "", code = "", next = "", last = ""] = [-1, 0, 1, 2].map((by) => lines[line + by]);
    const [, option, behind] =
      /\btimeout: ([\d_]+) \}, (?:async )?\(|^ {0,2}\}, ([\d_]+)\);$/.exec(code) ?? [];
    const [, name, alone] = /^ +(timeout: )?([\d_]+),$/.exec(code) ?? [];
    const isOption =
      name && (/^ *\}, (?:async )?\(/.test(next) || (/^ *\},$/.test(next) && /^ *(?:async )?\(/.test(last)));
    const isBehind = !name && /^ +\},$/.test(before) && /^ *\);$/.test(next);
    return option ?? behind ?? (isOption || isBehind ? alone : undefined) ?? "0";
  }

  /** Whether what is compared is a difference of two readings of a clock of this machine. */
  function isWallTime(code: string): boolean {
    const reading = /(?:performance|Date)\.now\(\) - /;
    const [, name] = /expect\((\w+)\)\.toBeLess/.exec(code) ?? [];
    return (
      reading.test(code) || lines.some((line) => name && reading.test(line) && line.includes(` ${name} = `))
    );
  }
}

/** A test whose product may give up before real input and output are done, where giving up is not what it looks at. */
function racesOf({ line, body }: { line: number; body: string }) {
  const raced = [...body.matchAll(/\b\w*[tT]imeoutMs: ([\d_]+)/g)].find(
    ([, ms = ""]) => number(ms) > 0 && number(ms) < MIN_RACED_MS,
  );
  const rule = `races real input and output with ${raced?.[0]}: hand in a clock, or give ${MIN_RACED_MS}`;
  return raced && !LOOKS_AT_LIMIT.test(body) ? [{ line, rule }] : [];
}

/** The tests of a file, by the lines in which they begin; what stands before the first is none's. */
function testsIn(lines: readonly string[]): { line: number; body: string }[] {
  const starts = lines.flatMap((code, line) =>
    /^\s*(?:it|test|itWith\(.*\))(?:\.\w+)*[(<]/.test(code) ? [line] : [],
  );
  return starts.map((line, index) => ({ line, body: lines.slice(line, starts[index + 1]).join("\n") }));
}
