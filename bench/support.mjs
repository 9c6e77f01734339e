import { cpus } from "node:os";

/** What the figures were measured on. */
export function machine() {
  const [cpu] = cpus();
  return {
    node: process.version,
    cpu: cpu?.model ?? "unknown",
    cores: cpus().length,
    date: new Date().toISOString().slice(0, 10),
  };
}

/**
 * Measures cases in interleaved rounds, so that a slow moment of the machine hits all of them, and gives the
 * median rate of each with its spread (the middle half of the rounds).
 *
 * @param {Record<string, () => unknown | Promise<unknown>>} cases each call does `perCall` operations
 */
export async function interleaved(cases, { rounds = 15, roundMs = 150, perCall = 1 } = {}) {
  const rates = Object.fromEntries(Object.keys(cases).map((name) => [name, []]));
  for (let round = -1; round < rounds; round++) {
    for (const [name, work] of Object.entries(cases)) {
      const rate = await rateOf(work, roundMs, perCall);
      if (round >= 0) rates[name].push(rate); // the round before the first one warms up
    }
  }
  return Object.fromEntries(Object.entries(rates).map(([name, all]) => [name, summary(all)]));
}

async function rateOf(work, roundMs, perCall) {
  let calls = 0;
  const start = performance.now();
  let now = start;
  while (now - start < roundMs) {
    for (let i = 0; i < 64; i++) {
      const pending = work();
      if (pending instanceof Promise) await pending;
      calls++;
      if (i % 8 === 7 && performance.now() - start >= roundMs) break;
    }
    now = performance.now();
  }
  return (calls * perCall * 1000) / (now - start);
}

function summary(all) {
  const sorted = [...all].sort((a, b) => a - b);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  return { perSecond: at(0.5), low: at(0.25), high: at(0.75) };
}

/**
 * Prints one question's answer: every case's rate, and the ratios that were asked for against their goals.
 *
 * @param {{ question: string, results: Record<string, {perSecond: number, low: number, high: number}>,
 *   ratios: { of: string, to: string, goal: number }[] }} answer
 */
export function report({ question, results, ratios }) {
  const measured = ratios.map(({ of, to, goal }) => ({
    of,
    to,
    goal,
    ratio: results[of].perSecond / results[to].perSecond,
  }));
  if (process.argv.includes("--json")) {
    console.log(JSON.stringify({ question, machine: machine(), results, ratios: measured }));
    return;
  }
  console.log(`\n${question}`);
  for (const [name, { perSecond, low, high }] of Object.entries(results)) {
    console.log(`  ${name.padEnd(34)} ${rate(perSecond).padStart(12)}/s   ${rate(low)} to ${rate(high)}`);
  }
  for (const { of, to, goal, ratio } of measured) {
    console.log(`  ${ratio >= goal ? "✔" : "✖"} ${of} is ${ratio.toFixed(2)} of ${to}   goal ${goal}`);
  }
}

function rate(perSecond) {
  return Math.round(perSecond).toLocaleString("en");
}
