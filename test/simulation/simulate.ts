import { type Plan, planOf, type StoreKind, schemesPlanOf } from "./plan.js";
import { type ReplayPlan, replayPlanOf } from "./replay-plan.js";
import { ReplayWorld } from "./replay-world.js";
import { prepareSchemes } from "./scheme-sides.js";
import { startSqlServer } from "./sql-server.js";
import { type Outcome, World } from "./world.js";

/** What is simulated: the outbox, the outbox with a listener of each scheme, or receivers with their replay store. */
export type Side = "outbox" | "schemes" | "receiver";

export type AnyPlan = Plan | ReplayPlan;

/** What came of a world of either side. */
export type AnyOutcome = Omit<Outcome, "violation"> & {
  readonly violation: { readonly rule: string; readonly at: number; readonly message: string } | undefined;
};

/** Draws a world. */
export function drawn(seed: number, side: Side, store: StoreKind): AnyPlan {
  if (side === "schemes") return schemesPlanOf(seed, store);
  return side === "receiver" ? replayPlanOf(seed, store) : planOf(seed, store);
}

export function isReplayPlan(plan: AnyPlan): plan is ReplayPlan {
  return "processes" in plan;
}

/** Runs the world of a plan. */
export async function simulate(plan: AnyPlan): Promise<AnyOutcome> {
  if (plan.store === "postgres") await startSqlServer();
  if (!isReplayPlan(plan) && plan.listeners.some(({ scheme }) => scheme)) await prepareSchemes();
  return isReplayPlan(plan) ? new ReplayWorld(plan).run() : new World(plan).run();
}

/** Runs a world, and once more to see that it comes to the same. */
export async function simulateTwice(plan: AnyPlan): Promise<AnyOutcome> {
  const first = await simulate(plan);
  const second = await simulate(plan);
  if (first.violation || first.trace.digest() === second.trace.digest()) return first;
  const differs = first.trace.lines.findIndex((line, index) => {
    return JSON.stringify(line) !== JSON.stringify(second.trace.lines[index]);
  });
  const message = `the second run differs from line ${differs + 1}`;
  return { ...first, violation: { rule: "trace", at: first.trace.lines[differs]?.at ?? 0, message } };
}
