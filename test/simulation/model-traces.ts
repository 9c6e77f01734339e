// Prints traces of small worlds as steps of test/model/delivery.pml: test/model/traces.test.ts.
import "./globals.js";
import { type FaultName, type Plan, planOf } from "./plan.js";
import type { Trace } from "./trace.js";
import { World } from "./world.js";

/** A step of the model: its name, the worker (0 or 1) and the event (0 or 1) of it. */
type ModelStep = readonly [name: string, worker: number, event: number];

/**
 * What the model has no word for: a second request of one attempt, a call of a store that is carried out after its
 * worker's death, and people; and a worker that is told so late that it is too late, whose next claim may as well come
 * first.
 */
const LEFT_OUT: ReadonlySet<FaultName> = new Set<FaultName>([
  ...([
    "resent by the transport",
    "401 for a while",
    "404 for a while",
    "410 for a while",
    "secret switched",
    "wrong Date",
  ] as const),
  ...(["receiver's clock is off", "worker's clock jumps", "store's clock jumps"] as const),
  ...(["answer of the store lost", "crash at a call", "operator", "deliver later"] as const),
  ...(["brought back at a claim", "stands still at a call"] as const),
]);

/** The world of a seed with two events of one key, two workers and one listener. */
function smallPlan(seed: number): Plan {
  const plan = planOf(seed, "sqlite");
  const [listener] = plan.listeners;
  const { maxAttempts: _, ...retry } = listener?.retry ?? { firstDelayMs: 1_000, maxDelayMs: 8_000 };
  const faults = Object.entries(plan.faults).filter(([name]) => !LEFT_OUT.has(name as FaultName));
  return {
    ...plan,
    workers: [
      { offMs: 0, rate: 1 },
      { offMs: 0, rate: 1 },
    ],
    producers: 1,
    events: 2,
    keys: 1,
    listeners: listener ? [{ ...listener, retry, onDead: "continue" }] : [],
    faults: Object.fromEntries(faults),
  };
}

/** The steps of a trace, as far as they are about these two events. */
function stepsOf({ lines }: Trace, events: readonly string[]): ModelStep[] {
  const steps: ModelStep[] = [];
  for (const { owner, what, words } of lines) {
    const worker = Number(owner[1]) - 1;
    if (/^(crashes|has stopped)$/.test(what)) steps.push(["CRASH", worker, 0]);
    const event = events.indexOf(String(words[1]));
    if (event < 0) continue;
    const late = words[2] === "too late" ? "_LATE" : "";
    const add = (name: string) => void steps.push([name, worker, event]);
    if (what === "claims") add("CLAIM");
    else if (what === "sends") add("SEND");
    else if (what === "is told")
      add(
        words[2] === 200 || words[2] === 409
          ? "TOLD_ACCEPTED"
          : words[2] === 422
            ? "TOLD_REFUSED"
            : "TOLD_UNKNOWN",
      );
    else if (what === "marks as delivered") add(`COMPLETE${late}`);
    else if (what === "reschedules") add(`RESCHEDULE${late}`);
    else if (what === "buries") add(`FAIL${late}`);
    else if (what === "gives back") add("RELEASE");
    else if (what === "expires") steps.push(["EXPIRE", 0, event]);
    else if (what === "runs") steps.push(["RUN", 0, event]);
  }
  return steps;
}

const [from = 1, to = 40] = process.argv.slice(2).map(Number);
for (let seed = from; seed <= to; seed++) {
  const plan = smallPlan(seed);
  const world = new World(plan);
  const { trace, violation } = await world.run();
  const events = world.events.filter(({ key }) => key !== "probe");
  const [first, second] = events;
  if (violation) throw new Error(`seed ${seed}: ${violation.message}`);
  if (events.length !== 2 || !first?.key || first.key !== second?.key) continue;
  const ids = events.map(({ id }) => id);
  const steps = stepsOf(trace, ids);
  console.log(JSON.stringify({ seed, steps }));
}
