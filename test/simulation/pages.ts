import { readFileSync } from "node:fs";
import { RULES } from "./facts.js";
import { MUTANTS } from "./mutants.mjs";
import { BLOWS, CHANCES, REQUEST_FAULTS, SPELLS } from "./plan.js";

/** What `npm run simulate` printed at the end of a long run: test/simulation/results.json. */
interface LongRun {
  readonly store: string;
  readonly seeds: number;
  readonly steps: number;
  readonly hours: number;
  readonly requests: number;
  readonly events: number;
  readonly runs: number;
  readonly failures: number;
  readonly cpuSeconds: number;
  /** The day, and the command. */
  readonly day: string;
  readonly command: string;
}

const FAULTS = [
  ["At a request", REQUEST_FAULTS],
  ["For a while", SPELLS],
  ["At a moment", BLOWS],
  ["At a call, or of an event", CHANCES],
] as const;

const read = (name: string): unknown => JSON.parse(readFileSync(new URL(name, import.meta.url), "utf8"));
const number = (value: number) => value.toLocaleString("en-US");

/** The parts of the pages that are written from what was measured, by their page and the name of their place. */
function generatedParts(): Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> {
  const fallen = read("mutants.json") as Record<string, { seed: number; rule: string } | null | undefined>;
  const runs = read("results.json") as readonly LongRun[];
  const rows = MUTANTS.map(({ store, name, file }) => {
    const found = fallen[`${store}: ${name}`];
    return `| ${store} | ${name} | \`${file}\` | ${found?.seed ?? (found === null ? "not seen" : "not looked for yet")} | ${found?.rule ?? ""} |`;
  });
  return {
    "docs/simulation.md": {
      faults: FAULTS.map(([when, names]) => `- ${when}: ${names.join("; ")}`),
      rules: Object.entries(RULES).map(([name, rule]) => `- **${name}**: ${rule}`),
      mutants: ["| store | mutant | file | seed | rule |", "| --- | --- | --- | --- | --- |", ...rows],
    },
    "docs/proof.md": {
      runs: [
        "| store | worlds | simulated hours | events | requests | steps | broken rules | processor time | on | command |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
        ...runs.map(
          (run) =>
            `| ${run.store} | ${number(run.seeds)} | ${number(run.hours)} | ${number(run.events)} | ${number(run.requests)} | ${number(run.steps)} | ${run.failures} | ${number(Math.round(run.cpuSeconds))} s | ${run.day} | \`${run.command}\` |`,
        ),
      ],
    },
  };
}

/** The pages with their generated parts, by their paths. */
export function generatedPages(root: URL): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(generatedParts()).map(([path, parts]) => {
      let text = readFileSync(new URL(path, root), "utf8");
      for (const [name, lines] of Object.entries(parts)) {
        const [begin, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
        const [before = "", after = ""] = [text.split(begin)[0], text.split(end)[1]];
        text = `${before}${begin}\n\n${lines.join("\n")}\n\n${end}${after}`;
      }
      return [path, text];
    }),
  );
}
