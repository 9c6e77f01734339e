import type { ProbeResult } from "hookproof/probes";
import { inertLine } from "../inert.js";
import { type CreateReporter, deviationOf, seenBy } from "./reporter.js";

const MARKS = { pass: "✔", fail: "✖", skip: "-", unclear: "?" } as const;
const COLOURS = { pass: "green", fail: "red", skip: "dim", unclear: "yellow" } as const;
const INDENT = " ".repeat(8);

/** For people: a line for each probe, more where something is to be done. */
export const pretty: CreateReporter = (paint) => ({
  begin: ({ url, method, probes }) =>
    `${probes.length} ${probes.length === 1 ? "probe" : "probes"} (${method}) to ${inertLine(url)}\n`,
  result(result) {
    if (result.skipped === "would-trigger") return ""; // the end says how many there were
    const { id, outcome, title, reason } = result;
    const mark = paint(COLOURS[outcome], MARKS[outcome]);
    const lines = [`${mark} ${shortly(result).padEnd(5)} ${id.padEnd(32)} ${title}`];
    if (outcome === "skip") lines.push(`${INDENT}skip    ${reason}`);
    if (outcome === "fail" || outcome === "unclear") {
      lines.push(`${INDENT}${outcome.padEnd(7)} ${deviationOf(result)} (specification ${result.section})`);
      lines.push(`${INDENT}means   ${result.means}`, `${INDENT}fix     ${result.fix}`);
    }
    return `${lines.map(inertLine).join("\n")}\n`;
  },
  end(summary) {
    const { pass, fail, skip, unclear, wouldTrigger, ok } = summary;
    const lines = [`${pass} pass, ${fail} fail, ${unclear} unclear, ${skip} skipped`];
    if (wouldTrigger > 0)
      lines.push(`${wouldTrigger} of the skipped would run the automation: --allow-trigger sends them too.`);
    return `${paint(ok ? "green" : "red", ok ? "✔" : "✖")} ${lines.join("\n  ")}\n`;
  },
});

function shortly(result: ProbeResult): string {
  return result.outcome === "skip" ? "skip" : result.status === undefined ? "none" : seenBy(result);
}
