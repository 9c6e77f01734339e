import { type Plan, planOf, type StoreKind } from "./plan.js";
import { type Outcome, World } from "./world.js";

/** Runs the world of a plan. */
export function simulate(plan: Plan): Promise<Outcome> {
  return new World(plan).run();
}

/** Runs the world of a seed, and once more to see that it comes to the same. */
export async function simulateTwice(seed: number, store: StoreKind): Promise<Outcome> {
  const first = await simulate(planOf(seed, store));
  const second = await simulate(planOf(seed, store));
  if (first.violation || first.trace.digest() === second.trace.digest()) return first;
  const differs = first.trace.lines.findIndex((line, index) => {
    return JSON.stringify(line) !== JSON.stringify(second.trace.lines[index]);
  });
  const message = `the second run differs from line ${differs + 1}`;
  return { ...first, violation: { rule: "trace", at: first.trace.lines[differs]?.at ?? 0, message } };
}
