import type { EngineWorld } from "./engine.js";
import { Random } from "./random.js";

const MAX = 6;
const LONGEST_MS = 90_000;

/**
 * Processes that stand still at a call of the store, behind a claim or before they note a delivery, until somebody else
 * has taken over what they hold: they wake up while that one is sending.
 */
export function standStills({ plan, time, ledger, spells, trace }: EngineWorld) {
  const strength = plan.faults["stands still at a call"];
  const random = new Random(plan.seed, "stands still at a call");
  const standing = new Set<string>();
  let left = MAX;
  ledger.onOvertaken = (owner) => {
    if (!standing.delete(owner)) return;
    time.after(random.between(0, 60), "world", () => time.resume(owner));
  };
  return async (owner: string, name: string): Promise<void> => {
    if (strength === undefined || spells.isHealed || left === 0 || !owner.startsWith("w")) return;
    if (!random.chance(0.3 * strength)) return;
    left -= 1;
    trace.add(owner, `stands still at ${name}`);
    ledger.duties.disturbed(owner);
    standing.add(owner);
    time.pause(owner, time.now + LONGEST_MS);
    await new Promise<void>((resolve) => time.after(0, owner, resolve));
    standing.delete(owner);
  };
}
