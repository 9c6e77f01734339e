import { inertJson } from "../inert.js";
import type { CreateReporter } from "./reporter.js";

/** For programs: a JSON document on each line. */
export const jsonl: CreateReporter = () => ({
  begin: ({ url, method, probes }) => line({ type: "run", url, method, probes: probes.length }),
  result: (result) => line({ type: "probe", ...result }),
  end: ({ ok, ...counts }) => line({ type: "summary", ok, ...counts }),
});

function line(document: Record<string, unknown>): string {
  return `${inertJson({ v: 1, ...document })}\n`;
}
