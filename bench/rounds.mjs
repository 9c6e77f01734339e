// Rounds of cases that have a process each: nothing that one allocates, compiles or pools touches another.
import { fork } from "node:child_process";
import { once } from "node:events";
import { again, quick, summary } from "./support.mjs";

/**
 * Measures cases that have a process each, in interleaved rounds: the rate's median and spread, the median CPU
 * time an operation cost the case's process, and its memory at the end.
 *
 * @param {Record<string, { module: URL, args: string[] }>} cases each module calls `serveRounds`
 */
export async function interleavedProcesses(cases) {
  // A process of its own has its own code to warm up, which the short form must not cut away.
  const { rounds, roundMs, warmUps } = quick
    ? { rounds: again ? 25 : 13, roundMs: 200, warmUps: 5 }
    : { rounds: 15, roundMs: 400, warmUps: 6 };
  const started = Object.entries(cases).map(async ([name, { module, args }]) => {
    const child = fork(module, args);
    await once(child, "message");
    return { name, child, measured: [] };
  });
  const processes = await Promise.all(started);
  for (let round = -warmUps; round < rounds; round++) {
    for (const { child, measured } of processes) {
      child.send({ roundMs });
      const [result] = await once(child, "message");
      if (round >= 0) measured.push(result);
    }
  }
  for (const { child } of processes) child.disconnect();
  return Object.fromEntries(
    processes.map(({ name, measured }) => [
      name,
      {
        ...summary(measured.map(({ perSecond }) => perSecond)),
        cpuMicros: summary(measured.map(({ cpuMicros }) => cpuMicros)).perSecond,
        rssMegabytes: Math.round(measured.at(-1).rss / 2 ** 20),
      },
    ]),
  );
}
