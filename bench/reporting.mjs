// What a bench found out: printed, as JSON (--json), kept for docs/performance.md (--write), or watched (--quick).
import { mkdirSync, writeFileSync, writeSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { basename, join } from "node:path";
import { fallenRatios, keptAnswers } from "./fallen.mjs";

const options = new Set(process.argv.slice(2));

/** The short form that CI runs: fewer cases and rounds, and a failure when a ratio has fallen. */
export const quick = options.has("--quick");
/** The short form once more, with more rounds, where a ratio had fallen. */
export const again = options.has("--again");
/** The form with what takes minutes. */
export const long = options.has("--long");

const name = basename(process.argv[1] ?? "", ".bench.mjs");
const answers = [];

// Whatever calls process.exit(), the file is written once and only by a bench that came to its end.
process.on("exit", (code) => {
  if (code !== 0 || quick || !options.has("--write") || answers.length === 0) return;
  const folder = join(import.meta.dirname, "results");
  mkdirSync(folder, { recursive: true });
  const command = `npm run bench -- ${name}${long ? " --long" : ""}`;
  const result = { name, command, machine: machine(), answers };
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(result, rounded, 2)}\n`);
});

/** What the figures were measured on. */
export function machine() {
  const [cpu] = cpus();
  return {
    node: process.version,
    cpu: cpu?.model ?? "unknown",
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    date: new Date().toISOString().slice(0, 10),
  };
}

/**
 * One question's answer in operations a second, and the ratios that were asked for: the median over the rounds of
 * both cases, with the middle half of them. A ratio without a goal is for information.
 *
 * @param {{ question: string, results: Record<string, {perSecond: number, low: number, high: number}>,
 *   ratios: { of: string, to: string, goal?: number }[] }} answer
 */
export function report({ question, results, ratios }) {
  const byRounds = ratios.map((asked) => ({ ...asked, ...ratioOf(results[asked.of], results[asked.to]) }));
  const measured = byRounds.map(({ rounds, ...ratio }) => ratio);
  const kept = Object.entries(results).map(([name, { rounds, ...figures }]) => [name, figures]);
  tell({ kind: "rates", question, results: Object.fromEntries(kept), ratios: measured }, () => {
    for (const [name, { perSecond, low, high, cpuMicros, rssMegabytes }] of kept) {
      const cost = cpuMicros === undefined ? "" : `   ${cpuMicros.toFixed(0)} µs CPU, ${rssMegabytes} MB`;
      console.log(`  ${name.padEnd(40)} ${amount(perSecond).padStart(10)}/s   ${spread(low, high)}${cost}`);
    }
    for (const { of, to, goal, ratio, low, high } of measured) {
      const mark = goal === undefined ? " " : ratio >= goal ? "✔" : "✖";
      const wanted = goal === undefined ? "" : `   goal ${goal}`;
      console.log(`  ${mark} ${of} is ${ratio.toFixed(2)} of ${to}   ${spread(low, high)}${wanted}`);
    }
  });
  if (quick) tellFallen({ question, ratios: byRounds, results: Object.fromEntries(kept) });
}

const kept = quick ? keptAnswers(name, machine()) : undefined;
if (quick && !kept) console.log(`${name}: no kept results of such a machine; half of each goal counts.`);

/** To run.mjs, which measures again before it believes it; to a person where it was not run.mjs that started this. */
function tellFallen(answer) {
  for (const one of fallenRatios(answer, kept)) {
    if (process.env.HOOKPROOF_BENCH_RUN) writeSync(3, `${JSON.stringify(one)}\n`);
    else {
      console.error(`${one.name}: ${one.words}`);
      process.exitCode = 1;
    }
  }
}

/**
 * One question's answer in a unit of its own, where less is better; `atMost` is the goal.
 *
 * @param {{ question: string, unit: string,
 *   figures: Record<string, {value: number, low?: number, high?: number, atMost?: number}> }} answer
 */
export function reportFigures({ question, unit, figures }) {
  tell({ kind: "figures", question, unit, figures }, () => {
    for (const [name, { value, low, high, atMost }] of Object.entries(figures)) {
      const mark = atMost === undefined ? " " : value <= atMost ? "✔" : "✖";
      const wanted = atMost === undefined ? "" : `   goal at most ${amount(atMost)}`;
      const range = low === undefined ? "" : `   ${spread(low, high)}`;
      console.log(`  ${mark} ${name.padEnd(40)} ${amount(value).padStart(10)} ${unit}${range}${wanted}`);
    }
  });
}

/**
 * How a cost grows: a plot of its own, named for its file. Points are [x, y].
 *
 * @param {{ plot: string, question: string, x: {label: string, log?: boolean}, y: {label: string, log?: boolean},
 *   series: Record<string, [number, number][]> }} answer
 */
export function reportGrowth(answer) {
  tell({ kind: "growth", ...answer }, () => {
    console.log(`  ${answer.y.label}, by ${answer.x.label}`);
    for (const [name, points] of Object.entries(answer.series)) {
      console.log(`  ${name.padEnd(40)} ${points.map(([x, y]) => `${amount(x)}: ${amount(y)}`).join("   ")}`);
    }
  });
}

function tell(answer, print) {
  answers.push(answer);
  if (options.has("--json")) {
    console.log(JSON.stringify({ machine: machine(), ...answer }, rounded));
    return;
  }
  console.log(`\n${answer.question}`);
  print();
}

/** Round by round, as both cases of a round met the same machine; or of the medians, where there are no rounds. */
function ratioOf(of, to) {
  if (of.rounds?.length !== to.rounds?.length || !of.rounds) {
    return { ratio: of.perSecond / to.perSecond, low: of.low / to.high, high: of.high / to.low };
  }
  const { perSecond, ...spread } = summary(of.rounds.map((rate, round) => rate / to.rounds[round]));
  return { ratio: perSecond, ...spread };
}

/** The median of some measurements, the middle half of them, and all of them in their order. */
export function summary(all) {
  const sorted = [...all].sort((a, b) => a - b);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  return { perSecond: at(0.5), low: at(0.25), high: at(0.75), rounds: all };
}

/** Four digits say all that a measurement knows. */
function rounded(_name, value) {
  return typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value;
}

/** A number as people read it: three digits, or whole. */
export function amount(value) {
  return value >= 100 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(3)));
}

function spread(low, high) {
  return `${amount(low)} to ${amount(high)}`;
}
