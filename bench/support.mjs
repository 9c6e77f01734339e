import { again, quick, summary } from "./reporting.mjs";

export { again, long, machine, quick, report, reportFigures, reportGrowth, summary } from "./reporting.mjs";

/** What CI's short form measures with, and where a ratio had fallen. */
const SHORT = { rounds: again ? 31 : 15, roundMs: 80 };

/**
 * Measures cases in interleaved rounds, so that a slow moment of the machine hits all of them, and gives the
 * median rate of each with its spread (the middle half of the rounds).
 *
 * @param {Record<string, () => unknown | Promise<unknown>>} cases each call does `perCall` operations
 */
export async function interleaved(cases, options = {}) {
  const { rounds, roundMs, perCall, byProcessor } = {
    rounds: 15,
    roundMs: 150,
    perCall: 1,
    byProcessor: false, // the time of all threads of this process, for a machine that does other work too
    ...options,
    ...(quick && SHORT),
  };
  const rates = Object.fromEntries(Object.keys(cases).map((name) => [name, []]));
  for (let round = -1; round < rounds; round++) {
    for (const [name, work] of Object.entries(cases)) {
      const rate = await rateOf(work, roundMs, perCall, byProcessor);
      if (round >= 0) rates[name].push(rate); // the round before the first one warms up
    }
  }
  return Object.fromEntries(Object.entries(rates).map(([name, all]) => [name, summary(all)]));
}

async function rateOf(work, roundMs, perCall, byProcessor) {
  let calls = 0;
  const cpu = process.cpuUsage();
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
  const { user, system } = process.cpuUsage(cpu);
  return (calls * perCall * 1000) / (byProcessor ? (user + system) / 1000 : now - start);
}
