import { HookproofError } from "hookproof";
import { memoryStore } from "hookproof/outbox";
import type { OutboxStore } from "hookproof/outbox/store";
import type { DrawnClock } from "./clocks.js";
import type { Engine, EngineWorld } from "./engine.js";
import type { CHANCES } from "./plan.js";
import { Random } from "./random.js";
import { type Call, linkedStore } from "./store-link.js";

/** The memory store as a server that workers reach over a network: calls take time, and calls and answers get lost. */
export function memoryServer(world: EngineWorld, clock: DrawnClock): Engine {
  const { plan, time, ledger, spells, trace, crash } = world;
  const inner = memoryStore({ clock });
  const random = new Random(plan.seed, "store");
  const isDrawn = (name: (typeof CHANCES)[number], share: number) => {
    const strength = plan.faults[name];
    return !spells.isHealed && strength !== undefined && random.chance(share * strength);
  };

  function callOf(owner: string): Call {
    return (name, run, note) =>
      new Promise((resolve, reject) => {
        if (time.isDead(owner)) return;
        const askedAt = time.now;
        const fail = (code: "OUTBOX_UNAVAILABLE" | "OUTBOX_OUTCOME_UNKNOWN") => {
          time.after(random.between(0.1, 3), owner, () =>
            reject(new HookproofError(code, "in the simulated store")),
          );
        };
        if (isDrawn("crash at a call", 0.02)) crash(owner); // of a worker: others do not die
        const isBusy = spells.isOn("store is busy");
        const busyMs = isBusy ? random.between(0, 8_000) : random.between(0.1, 5);
        const isLate = isDrawn("answer of the store late", 0.5) || (isBusy && random.chance(0.3));
        const backMs = isLate ? random.between(0, 8_000) : random.between(0.1, 3);
        const execute = async () => {
          if (spells.isOn("store is gone") || isDrawn("store refuses", 0.2)) {
            trace.add(owner, `${name} refused by the store`);
            return fail("OUTBOX_UNAVAILABLE");
          }
          try {
            const value = await run();
            note?.(value, askedAt);
            if (!isDrawn("answer of the store lost", 0.2)) {
              time.after(backMs, owner, () => resolve(value));
              return;
            }
            trace.add(owner, `${name} done, and the answer lost`);
            fail("OUTBOX_OUTCOME_UNKNOWN");
          } catch (error) {
            time.after(random.between(0.1, 3), owner, () => reject(error));
          }
        };
        time.after(busyMs, "store", () => void execute());
      });
  }

  function open(owner: string): OutboxStore {
    const onWork = (wake: () => void) => {
      const stop = inner.onWork?.(() => void time.after(random.between(0.1, 5), owner, wake));
      return () => stop?.();
    };
    return linkedStore(inner, owner, { call: callOf(owner), ledger, onWork, tellsNobody: plan.tellsNobody });
  }

  return { inner, process: (owner) => ({ store: open(owner) }), close: () => {} };
}
