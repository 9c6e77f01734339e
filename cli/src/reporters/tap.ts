import { inertLine } from "../inert.js";
import { type CreateReporter, deviationOf, isFailure, type Run } from "./reporter.js";

/** TAP version 14. What is unclear is a TODO, which does not fail a run, unless the run is strict. */
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
      const name = `${number} - ${id}: ${escaped(title)}`;
      if (outcome === "skip") return `ok ${name} # SKIP ${escaped(result.reason ?? "")}\n`;
      if (outcome === "pass") return `ok ${name}\n`;
      const todo = fails ? "" : ` # TODO ${escaped(result.reason ?? "unclear")}`;
      const facts = {
        deviation: deviationOf(result),
        section: result.section,
        means: result.means,
        fix: result.fix,
      };
      // A YAML block may hold JSON texts, which spares the rules of YAML's own.
      const yaml = Object.entries(facts).map(([key, value]) => `  ${key}: ${JSON.stringify(value)}`);
      return `not ok ${name}${todo}\n  ---\n${yaml.join("\n")}\n  ...\n`;
    },
    end(summary) {
      const missing = (run?.probes.length ?? 0) - number;
      const counts = `${summary.pass} pass, ${summary.fail} fail, ${summary.unclear} unclear, ${summary.skip} skipped`;
      return `${missing > 0 ? "Bail out! The run ended early.\n" : ""}# ${counts}\n`;
    },
  };
};

function escaped(text: string): string {
  return inertLine(text.replace(/[\\#]/g, "\\$&"));
}
