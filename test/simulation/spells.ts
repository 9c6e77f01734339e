import { type FaultName, type Plan, SPELLS } from "./plan.js";
import { Random } from "./random.js";
import type { VirtualTime } from "./virtual-time.js";

interface Spell {
  readonly from: number;
  readonly to: number;
}

/** What goes wrong for a while, and when. */
export class Spells {
  isHealed = false;
  readonly #time: VirtualTime;
  readonly #spells = new Map<FaultName, readonly Spell[]>();

  constructor(plan: Plan, time: VirtualTime) {
    this.#time = time;
    for (const name of SPELLS) {
      const strength = plan.faults[name];
      const random = new Random(plan.seed, name);
      if (strength === undefined) continue;
      const count = strength === 1 ? 1 : 1 + random.below(3);
      this.#spells.set(
        name,
        Array.from({ length: count }, () => {
          // Of full strength: nearly the whole time, as when nobody notices for a week.
          const from = random.between(0, strength === 1 ? 0.05 : 0.9) * plan.troubleMs;
          const lasts =
            strength === 1 ? random.between(0.75, 0.99) : random.between(0.02, 0.4 * strength + 0.05);
          // A worker whose store is away asks every five seconds: an hour of that is enough.
          const most = name === "store is gone" ? 3_600_000 : plan.troubleMs;
          return { from, to: Math.min(plan.troubleMs, from + Math.min(most, lasts * plan.troubleMs)) };
        }),
      );
    }
  }

  isOn(name: FaultName): boolean {
    if (this.isHealed) return false;
    const { now } = this.#time;
    return this.#spells.get(name)?.some(({ from, to }) => from <= now && now < to) ?? false;
  }

  of(name: FaultName): readonly Spell[] {
    return this.#spells.get(name) ?? [];
  }
}
