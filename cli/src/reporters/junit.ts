import type { ProbeResult } from "hookproof/probes";
import { type CreateReporter, deviationOf, isFailure, type Run } from "./reporter.js";

/** JUnit XML: one suite, written whole at the end, because its counts stand at the beginning. */
export const junit: CreateReporter = () => {
  let run: Run | undefined;
  const results: ProbeResult[] = [];
  return {
    begin(started) {
      run = started;
      return "";
    },
    result(result) {
      results.push(result);
      return "";
    },
    end({ durationMs }) {
      const strict = run?.strict === true;
      const failures = results.filter((one) => isFailure(one, strict)).length;
      const skipped = results.filter((one) => one.outcome !== "pass" && !isFailure(one, strict)).length;
      const counts = `tests="${results.length}" failures="${failures}" errors="0" skipped="${skipped}" time="${seconds(durationMs)}"`;
      const name = attribute("name", `hookproof test ${run?.url ?? ""}`);
      return [
        '<?xml version="1.0" encoding="UTF-8"?>',
        `<testsuites ${counts}>`,
        `  <testsuite ${name} ${counts}>`,
        ...results.map((one) => testcase(one, strict)),
        "  </testsuite>",
        "</testsuites>",
        "",
      ].join("\n");
    },
  };
};

function testcase(result: ProbeResult, strict: boolean): string {
  const { id, title, section, outcome, durationMs } = result;
  const open = `    <testcase classname="hookproof.probes" ${attribute("name", `${id}: ${title}`)} time="${seconds(durationMs)}"`;
  if (outcome === "pass") return `${open}/>`;
  if (isFailure(result, strict)) {
    const words = `${result.means ?? ""}\n${result.fix ?? ""}\nspecification ${section}`;
    const failure = `<failure ${attribute("type", outcome)} ${attribute("message", deviationOf(result))}>${escaped(words)}</failure>`;
    return `${open}>\n      ${failure}\n    </testcase>`;
  }
  const message = outcome === "skip" ? (result.reason ?? "") : `unclear: ${deviationOf(result)}`;
  return `${open}>\n      <skipped ${attribute("message", message)}/>\n    </testcase>`;
}

function attribute(name: string, value: string): string {
  return `${name}="${escaped(value).replaceAll("\n", "&#10;")}"`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};

/** Text for XML 1.0, which has no way to write most control characters and lone surrogates. */
function escaped(text: string): string {
  return text
    .toWellFormed()
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd")
    .replace(/[&<>"']/g, (one) => ENTITIES[one] ?? one);
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}
