import { readFileSync } from "node:fs";
import { RULES } from "./facts.js";
import { MUTANTS } from "./mutants.mjs";
import { BLOWS, CHANCES, REQUEST_FAULTS, SPELLS } from "./plan.js";
import { REPLAY_RULES } from "./replay-ledger.js";
import { REPLAY_MUTANTS, replayKeyOf } from "./replay-mutants.mjs";
import { REPLAY_BLOWS, REPLAY_CHANCES, REPLAY_REQUEST_FAULTS, REPLAY_SPELLS } from "./replay-plan.js";
import { SCHEME_MUTANTS, schemeKeyOf } from "./scheme-mutants.mjs";
import type { Searched } from "./search.js";

const FAULTS = [
  ["At a request", REQUEST_FAULTS],
  ["For a while", SPELLS],
  ["At a moment", BLOWS],
  ["At a call, or of an event", CHANCES],
] as const;

const REPLAY_FAULTS = [
  ["At a request or its run", REPLAY_REQUEST_FAULTS],
  ["For a while", REPLAY_SPELLS],
  ["At a moment", REPLAY_BLOWS],
  ["At a call, or of an event", REPLAY_CHANCES],
] as const;

/** The seed at which a mutant falls, and the rule that it breaks. */
type Fallen = { readonly seed: number; readonly rule: string } | null | undefined;

const read = (name: string): unknown => JSON.parse(readFileSync(new URL(name, import.meta.url), "utf8"));
const number = (value: number) => value.toLocaleString("en-US");

/** The parts of the pages that are written from what was measured, by their page and the name of their place. */
function generatedParts(): Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> {
  const fallen = read("mutants.json") as Record<string, Fallen>;
  const runs = read("results.json") as readonly Searched[];
  const tableOf = (mutants: typeof MUTANTS, keyOf: (mutant: (typeof MUTANTS)[number]) => string) => [
    "| store | mutant | file | seed | rule |",
    "| --- | --- | --- | --- | --- |",
    ...mutants.map((mutant) => {
      const { store, name, file, elsewhere, unseenIn = 0 } = mutant;
      const found = fallen[keyOf(mutant)];
      return `| ${store} | ${name} | \`${file}\` | ${found?.seed ?? (elsewhere ? `not in ${unseenIn.toLocaleString("en")}; [a test](../${elsewhere})` : found === null ? "not seen" : "not looked for yet")} | ${found?.rule ?? ""} |`;
    }),
  ];
  return {
    "docs/simulation.md": {
      faults: FAULTS.map(([when, names]) => `- ${when}: ${names.join("; ")}`),
      rules: Object.entries(RULES).map(([name, rule]) => `- **${name}**: ${rule}`),
      mutants: tableOf(MUTANTS, ({ store, name }) => `${store}: ${name}`),
      "receiver's faults": REPLAY_FAULTS.map(([when, names]) => `- ${when}: ${names.join("; ")}`),
      "receiver's rules": Object.entries(REPLAY_RULES).map(([name, rule]) => `- **${name}**: ${rule}`),
      "receiver's mutants": tableOf(REPLAY_MUTANTS, replayKeyOf),
      "schemes' mutants": tableOf(SCHEME_MUTANTS, schemeKeyOf),
    },
    "docs/proof.md": {
      runs: [
        "| store | seeds | simulated hours | events | requests | broken rules | processor time | hours a minute | commit | on |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
        ...runs.map((run) => {
          const cells = [
            ...[run.store, `${number(run.from)} to ${number(run.to)}`, number(Math.round(run.hours))],
            ...[number(run.events), number(run.requests), String(run.broken.length)],
            ...[
              `${number(Math.round(run.cpuSeconds))} s`,
              number(Math.round((60 * run.hours) / run.cpuSeconds)),
            ],
            ...[run.commit, run.day],
          ];
          return `| ${cells.join(" | ")} |`;
        }),
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
