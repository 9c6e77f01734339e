// The formats of a test report: for people, as JSON lines, TAP and JUnit.
import type { ProbeResult } from "hookproof/probes";
import { countOf, inertJson, inertLine } from "../output.js";
import { type CreateReporter, deviationOf, isFailure, type Run, seenBy } from "./reporter.js";

const MARKS = { pass: "✔", fail: "✖", skip: "-", unclear: "?" } as const;
const COLOURS = { pass: "green", fail: "red", skip: "dim", unclear: "yellow" } as const;
const INDENT = " ".repeat(8);

/** For people: the verdict first, then a line for each probe, more where something is to be done. */
export const pretty: CreateReporter = (paint, verbose, isTerminal) => {
  const results: ProbeResult[] = [];
  let last: readonly string[] = [];
  let remaining: readonly ProbeResult[] = [];
  let isFolded = false;
  const headline = (result: ProbeResult) => {
    const mark = paint(COLOURS[result.outcome], MARKS[result.outcome]);
    return `${mark} ${shortly(result).padEnd(5)} ${result.id.padEnd(32)} ${result.title}`;
  };
  const linesOf = (result: ProbeResult) => {
    const { outcome, reason } = result;
    if (result.skipped === "would-trigger") return []; // the end says how many there were
    if (isTerminal && !verbose && (outcome === "pass" || isWorthless(result))) return [];
    const lines = [headline(result)];
    if (outcome === "skip") lines.push(`${INDENT}skip    ${reason}`);
    if (outcome === "fail" || outcome === "unclear") {
      lines.push(`${INDENT}${outcome.padEnd(7)} ${deviationOf(result)} (specification ${result.section})`);
      if (!isWorthless(result))
        lines.push(`${INDENT}means   ${result.means}`, `${INDENT}fix     ${result.fix}`);
    }
    return lines;
  };
  return {
    begin: ({ url, method, probes }) =>
      `${countOf(probes.length, "probe")} (${method}) to ${inertLine(url)}\n`,
    result(result) {
      results.push(result);
      return "";
    },
    verdict(verdict) {
      const follows = new Set(verdict?.follows);
      const unproved = new Set(verdict?.unproved);
      const isBrief = isTerminal === true && !verbose;
      // Without a pass or a failure the end says the one reason that there is; a screen of each would only bury it.
      isFolded = isBrief && !results.some(({ outcome }) => outcome === "pass" || outcome === "fail");
      const isShown = ({ id, outcome }: ProbeResult) =>
        verbose || !(follows.has(id) || unproved.has(id) || (isBrief && verdict && outcome === "skip"));
      const lines = isFolded ? [] : results.filter(isShown).flatMap(linesOf);
      if (verdict) {
        remaining = results.filter(({ id, outcome }) => outcome === "fail" && !follows.has(id));
        const found = [`${paint("red", "✖")} ${verdict.sentence}`, `  fix     ${verdict.fix}`];
        if (isTerminal) last = found;
        else lines.unshift(...found);
        const hidden = [
          follows.size > 0 &&
            `  ${countOf(follows.size, "result")} below would only repeat it; -v shows ${follows.size === 1 ? "it" : "them"}.`,
          unproved.size > 0 && `  ${worthless(results.filter(({ id }) => unproved.has(id)))}`,
        ];
        const folded = verbose ? [] : hidden.filter((one) => one !== false);
        if (isTerminal)
          last = [...last, ...folded.map((text) => text.replace("results below", "more results"))];
        else lines.splice(2, 0, ...folded);
      }
      return lines.map((one) => `${inertLine(one)}\n`).join("");
    },
    end(summary) {
      const { pass, fail, skip, unclear, wouldTrigger, nothing, incomplete, ok } = summary;
      const more = isFolded && unclear + skip > wouldTrigger ? "; -v shows each" : "";
      const lines = [`${pass} pass, ${fail} fail, ${unclear} unclear, ${skip} skipped${more}`];
      if (nothing !== undefined) lines.unshift(nothing);
      if (incomplete !== undefined) lines.push(incomplete);
      if (incomplete !== undefined && isTerminal && !verbose) lines.push(...worthlessLine(results));
      if (wouldTrigger > 0)
        lines.push(
          `${wouldTrigger} of the skipped would run the automation: --allow-trigger sends them too.`,
        );
      if (remaining.length > 0)
        lines.push(
          `${countOf(remaining.length, "failure")} that the verdict does not explain:`,
          ...remaining.map((result) => inertLine(headline(result))),
        );
      const counts = `${paint(ok ? "green" : "red", ok ? "✔" : "✖")} ${lines.join("\n  ")}\n`;
      return `${counts}${last.map((one) => `${inertLine(one)}\n`).join("")}`;
    },
  };
};

/** A right answer that proves nothing (see proof.ts): there is nothing to fix. */
function isWorthless({ outcome, means }: ProbeResult): boolean {
  return outcome === "unclear" && means === undefined;
}

function worthlessLine(results: readonly ProbeResult[]): string[] {
  const [first, ...more] = results.filter(isWorthless);
  return first
    ? [`${countOf(more.length + 1, "answer")} with no proof: ${first.reason}; -v shows each.`]
    : [];
}

function shortly(result: ProbeResult): string {
  return result.outcome === "skip" ? "skip" : result.status === undefined ? "none" : seenBy(result);
}

/** For programs: a JSON document on each line. */
export const jsonl: CreateReporter = () => ({
  begin: ({ url, method, probes }) => line({ type: "run", url, method, probes: probes.length }),
  result: ({ answer: _ofProfiles, ...result }) => line({ type: "probe", ...result }),
  verdict: (verdict) => (verdict ? line({ type: "verdict", ...verdict }) : ""),
  end: ({ ok, nothing, incomplete, ...counts }) =>
    line({ type: "summary", ok, ...counts, ...(nothing && { nothing }), ...(incomplete && { incomplete }) }),
});

function line(document: Record<string, unknown>): string {
  return `${inertJson({ v: 1, ...document })}\n`;
}

/** TAP version 14. An unclear result is a TODO, which does not fail a run unless the run is strict. */
export const tap: CreateReporter = () => {
  let run: Run | undefined;
  let number = 0;
  return {
    begin(started) {
      run = started;
      return `TAP version 14\n1..${started.probes.length}\n`;
    },
    result(result) {
      number++;
      const { id, title, outcome } = result;
      const fails = isFailure(result, run?.strict === true);
      const name = `${number} - ${id}: ${tapText(title)}`;
      if (outcome === "skip") return `ok ${name} # SKIP ${tapText(result.reason ?? "")}\n`;
      if (outcome === "pass") return `ok ${name}\n`;
      const todo = fails ? "" : ` # TODO ${tapText(result.reason ?? "unclear")}`;
      const facts = {
        deviation: deviationOf(result),
        section: result.section,
        means: result.means,
        fix: result.fix,
      };
      // A YAML block may hold JSON texts, which spares the rules of YAML's own.
      const known = Object.entries(facts).filter(([, value]) => value !== undefined);
      const yaml = known.map(([key, value]) => `  ${key}: ${JSON.stringify(value)}`);
      return `not ok ${name}${todo}\n  ---\n${yaml.join("\n")}\n  ...\n`;
    },
    verdict: (verdict) =>
      verdict ? `# verdict: ${tapText(verdict.sentence)}\n# fix: ${tapText(verdict.fix)}\n` : "",
    end(summary) {
      const missing = (run?.probes.length ?? 0) - number;
      const bail =
        summary.nothing ?? summary.incomplete ?? (missing > 0 ? "The run ended early." : undefined);
      const counts = `${summary.pass} pass, ${summary.fail} fail, ${summary.unclear} unclear, ${summary.skip} skipped`;
      return `${bail === undefined ? "" : `Bail out! ${tapText(bail)}\n`}# ${counts}\n`;
    },
  };
};

function tapText(text: string): string {
  return inertLine(text.replace(/[\\#]/g, "\\$&"));
}

/** JUnit XML: one suite, written whole at the end, because its counts stand at the beginning. */
export const junit: CreateReporter = () => {
  let run: Run | undefined;
  const results: ProbeResult[] = [];
  let properties: readonly string[] = [];
  return {
    begin(started) {
      run = started;
      return "";
    },
    verdict(verdict) {
      if (verdict)
        properties = [
          "    <properties>",
          `      <property name="verdict" ${attribute("value", verdict.sentence)}/>`,
          `      <property name="fix" ${attribute("value", verdict.fix)}/>`,
          "    </properties>",
        ];
      return "";
    },
    result(result) {
      results.push(result);
      return "";
    },
    end({ durationMs, nothing, incomplete }) {
      const strict = run?.strict === true;
      const failures = results.filter((one) => isFailure(one, strict)).length;
      const skipped = results.filter((one) => one.outcome !== "pass" && !isFailure(one, strict)).length;
      const errors: (readonly [name: string, message: string])[] = [];
      if (nothing !== undefined) errors.push(["something was proved", nothing]);
      if (incomplete !== undefined) errors.push(["the run is complete", incomplete]);
      const counts = `tests="${results.length + errors.length}" failures="${failures}" errors="${errors.length}" skipped="${skipped}" time="${seconds(durationMs)}"`;
      const name = attribute("name", `hookproof test ${run?.url ?? ""}`);
      return [
        '<?xml version="1.0" encoding="UTF-8"?>',
        `<testsuites ${counts}>`,
        `  <testsuite ${name} ${counts}>`,
        ...properties,
        ...errors.map(
          ([proof, message]) =>
            `    <testcase classname="hookproof.probes" name="proof: ${proof}" time="0.000">\n      <error ${attribute("message", message)}/>\n    </testcase>`,
        ),
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
    const failure = `<failure ${attribute("type", outcome)} ${attribute("message", deviationOf(result))}>${xmlText(words)}</failure>`;
    return `${open}>\n      ${failure}\n    </testcase>`;
  }
  const message = outcome === "skip" ? (result.reason ?? "") : `unclear: ${deviationOf(result)}`;
  return `${open}>\n      <skipped ${attribute("message", message)}/>\n    </testcase>`;
}

function attribute(name: string, value: string): string {
  return `${name}="${xmlText(value).replaceAll("\n", "&#10;")}"`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};

/** Text for XML 1.0, which has no way to write most control characters and lone surrogates. */
function xmlText(text: string): string {
  return text
    .toWellFormed()
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd")
    .replace(/[&<>"']/g, (one) => ENTITIES[one] ?? one);
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}

/** What is said of passes that prove nothing: of all in one sentence, as all answers have one status. */
function worthless(unproved: readonly ProbeResult[]): string {
  const [count, status = 0] = [unproved.length, unproved[0]?.status];
  const [one, many, others] =
    status < 300
      ? ["acceptance of a correct request", "acceptances of correct requests", "wrong"]
      : ["refusal of a wrong request", "refusals of wrong requests", "correct"];
  return `${count === 1 ? `1 ${one} proves` : `${count} ${many} prove`} nothing, as ${others} ones are answered alike.`;
}
