// Compares the counters of a store with a count of the events of the ledger.
import type { OutboxStore } from "hookproof/outbox/store";
import { type Facts, isHeldAt } from "./facts.js";

type Counted = Awaited<ReturnType<OutboxStore["stats"]>>[number];

/** What is wrong with them at a moment of the store's; `undefined` if nothing is. */
export function recountFault(
  listeners: readonly { readonly name: string }[],
  facts: readonly Facts[],
  stats: readonly Counted[],
  moment: number,
): string | undefined {
  for (const { name } of listeners) {
    const own = facts.filter(({ listener }) => listener === name);
    const found = stats.find(({ listener }) => listener === name);
    const isHeld = (one: Facts) => one.held !== undefined && one.held.lease.expiresAt > moment;
    const pending = own.filter(({ state }) => state === "pending");
    const counted = {
      pending: pending.filter((one) => !isHeld(one)).length,
      inFlight: pending.filter(isHeld).length,
      delivered: own.filter(({ state }) => state === "delivered").length,
      dead: own.filter(({ state }) => state === "dead").length,
    };
    // After the store's clock was put back a lease may be over sooner.
    const isUnsure = pending.some((one) => isHeld(one) !== isHeldAt(one, moment));
    if (isUnsure && found)
      Object.assign(counted, { pending: pending.length - found.inFlight, inFlight: found.inFlight });
    for (const what of ["pending", "inFlight", "delivered", "dead"] as const)
      if ((found?.[what] ?? 0) !== counted[what])
        return `${name} has ${counted[what]} ${what}, and its counters say ${found?.[what] ?? 0}`;
  }
  return undefined;
}
