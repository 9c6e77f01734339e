// See docs/simulation.md. Started by run.mjs, which bundles it with the library's source.
import "./globals.js";
import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import type { StoreKind } from "./plan.js";
import { search } from "./search.js";
import { shrunk } from "./shrink.js";
import { type AnyPlan, drawn, isReplayPlan, type Side, simulate, simulateTwice } from "./simulate.js";
import { stopSqlServer } from "./sql-server.js";
import { timeline } from "./timeline.js";

const USAGE = `npm run simulate -- --seed 1            one world, with its trace
npm run simulate -- --seeds 300         so many worlds, each twice; --from 1000 begins elsewhere
npm run simulate -- --minutes 60        as many as there is time for
npm run simulate -- --search file.json --seeds 100000
                                        goes on with a long search; the file keeps how far it came, and
                                        --from 50001 leaves the part before to another process
npm run simulate -- --plan file.json    a world of a file, such as a fixture's
  --receiver              the receiving side: processes with a replay store, and not the outbox
  --schemes               the outbox with a listener of each of the four schemes
  --store memory|sqlite|postgres
                          the store, memory by default; PostgreSQL is that of TEST_DATABASE_URL, or a server of its
                          own, and has no worlds of --receiver
  --shrink file.json      of --seed or --plan: leaves out what a failure does not need, and writes the rest
  --svg file.svg          of --seed or --plan, not of --receiver: draws its timeline
  --once                  of --seeds and --minutes: each world once
  --fault name            of --seeds and --minutes: passes over the worlds that do not have it
  --stop-at-first         of --seeds and --minutes: ends with the first failure`;

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    seeds: { type: "string" },
    minutes: { type: "string" },
    plan: { type: "string" },
    search: { type: "string" },
    from: { type: "string", default: "1" },
    receiver: { type: "boolean", default: false },
    schemes: { type: "boolean", default: false },
    store: { type: "string", default: "memory" },
    shrink: { type: "string" },
    svg: { type: "string" },
    "stop-at-first": { type: "boolean", default: false },
    once: { type: "boolean", default: false },
    fault: { type: "string" },
    help: { type: "boolean", default: false },
  },
});
const STORES: readonly StoreKind[] = ["memory", "sqlite", "postgres"];
const store = STORES.find((name) => name === values.store) ?? "memory";
const side: Side = values.receiver ? "receiver" : values.schemes ? "schemes" : "outbox";
const HOUR_MS = 3_600_000;

if (values.help) console.log(USAGE);
else await run().finally(stopSqlServer);

async function run(): Promise<void> {
  if (store === "postgres" && side === "receiver") throw new Error("PostgreSQL has no worlds of --receiver");
  if (values.plan !== undefined) return one(JSON.parse(readFileSync(values.plan, "utf8")).plan as AnyPlan);
  if (values.seed !== undefined) return one(drawn(Number(values.seed), side, store));
  if (values.search === undefined) return many();
  const { search: file, seeds = 100_000, from } = values;
  process.exitCode = (await search(file, store, Number(seeds), Number(from))) ? 0 : 1;
}

async function one(plan: AnyPlan): Promise<void> {
  const { trace, violation, steps, lasted, requests, runs, events } = await simulate(plan);
  console.log(JSON.stringify(plan));
  console.log(trace.text());
  const hours = (lasted / HOUR_MS).toFixed(2);
  console.log(`${steps} steps, ${hours} hours, ${events} events, ${requests} requests, ${runs} runs`);
  console.log(`trace ${trace.digest()}`);
  if (values.svg !== undefined && !isReplayPlan(plan)) writeFileSync(values.svg, timeline(plan, trace));
  if (!violation) return;
  console.log(`BROKEN at ${(violation.at / 1000).toFixed(3)} s: ${violation.rule}: ${violation.message}`);
  process.exitCode = 1;
  if (values.shrink === undefined) return;
  const found = { rule: violation.rule, message: violation.message, plan: await shrunk(plan) };
  writeFileSync(values.shrink, `${JSON.stringify(found, null, 2)}\n`);
}

async function many(): Promise<void> {
  const from = Number(values.from);
  const isTimed = values.minutes !== undefined;
  const until = isTimed ? Date.now() + Number(values.minutes) * 60_000 : Number.POSITIVE_INFINITY;
  const last = isTimed ? Number.POSITIVE_INFINITY : from + Number(values.seeds ?? 300) - 1;
  const sums = { seeds: 0, steps: 0, hours: 0, requests: 0, events: 0, runs: 0, failures: 0 };
  const cpu = process.cpuUsage();
  for (let seed = from; seed <= last && Date.now() < until; seed++) {
    const plan = drawn(seed, side, store);
    if (values.fault !== undefined && !(values.fault in plan.faults)) continue;
    const outcome = await (values.once ? simulate : simulateTwice)(plan);
    sums.seeds += 1;
    sums.hours += outcome.lasted / HOUR_MS;
    for (const name of ["steps", "requests", "events", "runs"] as const) sums[name] += outcome[name];
    const { violation } = outcome;
    if (!violation) continue;
    sums.failures += 1;
    console.log(`seed ${seed} (${store}): ${violation.rule}: ${violation.message}`);
    if (values["stop-at-first"]) break;
  }
  const { user, system } = process.cpuUsage(cpu);
  const cpuSeconds = Math.round((user + system) / 1e4) / 100;
  console.log(JSON.stringify({ side, store, ...sums, hours: Math.round(sums.hours), cpuSeconds }));
  process.exitCode = sums.failures > 0 ? 1 : 0;
}
