import type { FaultName } from "./plan.js";
import { Random } from "./random.js";
import type { VirtualTime } from "./virtual-time.js";

interface Spell {
  readonly from: number;
  readonly to: number;
}

/** The part of a plan that says how much goes wrong, and for how long. */
interface Trouble<Name extends string> {
  readonly seed: number;
  readonly troubleMs: number;
  readonly faults: Readonly<Partial<Record<Name, number>>>;
}

/** What goes wrong for a while, and when. */
export class Spells<Name extends string = FaultName> {
  isHealed = false;
  readonly #time: VirtualTime;
  readonly #spells = new Map<Name, readonly Spell[]>();

  constructor(plan: Trouble<Name>, time: VirtualTime, names: readonly Name[]) {
    this.#time = time;
    for (const name of names) {
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

  isOn(name: Name): boolean {
    if (this.isHealed) return false;
    const now = this.#time.now - this.#time.stoodStillMs;
    return this.#spells.get(name)?.some(({ from, to }) => from <= now && now < to) ?? false;
  }

  of(name: Name): readonly Spell[] {
    return this.#spells.get(name) ?? [];
  }
}
