import type { FaultName, Plan } from "./plan.js";
import { smallerReplayPlans } from "./replay-plan.js";
import { type AnyPlan, isReplayPlan, simulate } from "./simulate.js";

/**
 * A plan that is as small as can be found and breaks the same rule. What one part of a world draws moves no other part,
 * so that a fault can be left out and the rest stays as it was.
 */
export async function shrunk(plan: AnyPlan, maxRuns = 200): Promise<AnyPlan> {
  const { violation } = await simulate(plan);
  if (!violation) return plan;
  let [best, runs]: [AnyPlan, number] = [plan, 0];
  for (let isSmaller = true; isSmaller && runs < maxRuns; ) {
    isSmaller = false;
    for (const smaller of isReplayPlan(best) ? smallerReplayPlans(best) : smallerPlans(best)) {
      if (runs++ >= maxRuns) break;
      const outcome = await simulate(smaller);
      if (outcome.violation?.rule !== violation.rule) continue;
      best = smaller;
      isSmaller = true;
      break;
    }
  }
  return best;
}

function* smallerPlans(plan: Plan): Generator<Plan> {
  for (const name of Object.keys(plan.faults) as FaultName[]) {
    const { [name]: _, ...faults } = plan.faults;
    yield { ...plan, faults };
  }
  if (plan.workers.length > 1) yield { ...plan, workers: plan.workers.slice(0, -1) };
  if (plan.producers > 1) yield { ...plan, producers: plan.producers - 1 };
  if (plan.listeners.length > 1) yield { ...plan, listeners: plan.listeners.slice(0, -1) };
  if (plan.events > 1) yield { ...plan, events: Math.floor(plan.events / 2) };
  if (plan.events > 1) yield { ...plan, events: plan.events - 1 };
  if (plan.keys > 1) yield { ...plan, keys: plan.keys - 1 };
  if (plan.workers.some(({ offMs, rate }) => offMs !== 0 || rate !== 1))
    yield { ...plan, workers: plan.workers.map(() => ({ offMs: 0, rate: 1 })) };
}
