import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { planOf, type StoreKind } from "./plan.js";
import { type AnyOutcome, simulate, simulateTwice } from "./simulate.js";

/** A part of a long search, all of it by the same code: docs/proof.md has a line for each. */
export interface Searched {
  readonly store: StoreKind;
  /** What the simulator and the library were, and the commit at which it began. */
  readonly code: string;
  readonly commit: string;
  readonly day: string;
  /** The seeds from the first to the last one. */
  readonly from: number;
  to: number;
  steps: number;
  hours: number;
  requests: number;
  events: number;
  runs: number;
  cpuSeconds: number;
  /** What broke a rule. */
  readonly broken: { readonly seed: number; readonly rule: string; readonly message: string }[];
}

const HOUR_MS = 3_600_000;
/** Every so manieth world runs twice. */
const TWICE = 100;
const KEPT_EVERY = 50;

/**
 * Goes on with the search of a file up to a seed, and keeps in it how far it came. A part that another process has is
 * left out with `from`.
 */
export async function search(file: string, store: StoreKind, seeds: number, from = 1): Promise<boolean> {
  const parts: Searched[] = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : [];
  const part = partOf(parts, store, from);
  const keep = () => {
    writeFileSync(`${file}.new`, `${JSON.stringify(parts, null, 2)}\n`);
    renameSync(`${file}.new`, file);
  };
  let cpu = process.cpuUsage();
  const spent = () => {
    const { user, system } = process.cpuUsage(cpu);
    cpu = process.cpuUsage();
    return (user + system) / 1e6;
  };
  while (part.to < seeds) {
    const seed = part.to + 1;
    const outcome = await (seed % TWICE === 0
      ? simulateTwice(planOf(seed, store))
      : simulate(planOf(seed, store)));
    add(part, seed, outcome);
    if (seed % KEPT_EVERY !== 0 && seed !== seeds && !outcome.violation) continue;
    part.cpuSeconds += spent();
    keep();
    if (outcome.violation)
      console.log(`seed ${seed} (${store}): ${outcome.violation.rule}: ${outcome.violation.message}`);
  }
  console.log(JSON.stringify(part, null, 2));
  return parts.every(({ broken }) => broken.length === 0);
}

/** The part to go on with: the last one, if the code is the same. */
function partOf(parts: Searched[], store: StoreKind, from: number): Searched {
  const last = parts.filter((one) => one.store === store).at(-1);
  const { CODE: code = "", COMMIT: commit = "" } = process.env; // run.mjs sets them
  if (last?.code === code) return last;
  const to = Math.max(last?.to ?? 0, from - 1);
  const part: Searched = {
    ...{ store, code, commit, day: new Date().toISOString().slice(0, 10) },
    ...{ from: to + 1, to, steps: 0, hours: 0, requests: 0, events: 0, runs: 0, cpuSeconds: 0, broken: [] },
  };
  parts.push(part);
  return part;
}

function add(part: Searched, seed: number, { violation, lasted, ...outcome }: AnyOutcome): void {
  part.to = seed;
  part.hours += lasted / HOUR_MS;
  for (const name of ["steps", "requests", "events", "runs"] as const) part[name] += outcome[name];
  if (violation) part.broken.push({ seed, rule: violation.rule, message: violation.message });
}
