// The way to a store that is a server: calls take time, and calls and answers get lost.
import { HookproofError } from "hookproof";
import type { OutboxStore } from "hookproof/outbox/store";
import type { EngineWorld } from "./engine.js";
import type { CHANCES } from "./plan.js";
import { Random } from "./random.js";
import { type Call, linkedStore, type Note } from "./store-link.js";

/** A call as it arrives in the store. */
interface Arrived {
  readonly owner: string;
  readonly name: string;
  readonly note: Note<unknown>;
}

/** Executes a call in the store, and notes what it has done. */
type Execute = <Value>(run: () => Value | Promise<Value>, call: Arrived) => Value | Promise<Value>;

const atOnce: Execute = async (run, { note }) => {
  const value = await run();
  note(value);
  return value;
};

/** Gives a store to a process, over a network. */
export function overNetwork(
  { plan, time, ledger, spells, trace, crash }: EngineWorld,
  execute: Execute = atOnce,
): (inner: OutboxStore, owner: string) => OutboxStore {
  const random = new Random(plan.seed, "store");
  const ofSigns = new Random(plan.seed, "signs of life");

  function callOf(owner: string): Call {
    return (name, run, note) =>
      new Promise((resolve, reject) => {
        if (time.isDead(owner)) return;
        const own = name === "alive" ? ofSigns : random; // what is drawn for them moves nothing else
        const isDrawn = (fault: (typeof CHANCES)[number], share: number) => {
          const strength = plan.faults[fault];
          return !spells.isHealed && strength !== undefined && own.chance(share * strength);
        };
        const askedAt = time.now;
        const fail = (code: "OUTBOX_UNAVAILABLE" | "OUTBOX_OUTCOME_UNKNOWN") => {
          time.after(own.between(0.1, 3), owner, () =>
            reject(new HookproofError(code, "in the simulated store")),
          );
        };
        if (isDrawn("crash at a call", 0.02)) crash(owner); // of a worker: others do not die
        const isBusy = spells.isOn("store is busy");
        const busyMs = isBusy ? own.between(0, 8_000) : own.between(0.1, 5);
        const isLate = isDrawn("answer of the store late", 0.5) || (isBusy && own.chance(0.3));
        const backMs = isLate ? own.between(0, 8_000) : own.between(0.1, 3);
        const answer = async () => {
          if (spells.isOn("store is gone") || isDrawn("store refuses", 0.2)) {
            trace.add(owner, `${name} refused by the store`);
            return fail("OUTBOX_UNAVAILABLE");
          }
          try {
            const noted: Note<unknown> = (value, how) => note?.(value as never, askedAt, how);
            const value = await execute(run, { owner, name, note: noted });
            if (!isDrawn("answer of the store lost", 0.2)) {
              time.after(backMs, owner, () => resolve(value));
              return;
            }
            trace.add(owner, `${name} done, and the answer lost`);
            fail("OUTBOX_OUTCOME_UNKNOWN");
          } catch (error) {
            time.after(own.between(0.1, 3), owner, () => reject(error));
          }
        };
        time.after(busyMs, "store", () => void answer());
      });
  }

  return (inner, owner) => {
    const onWork = (wake: () => void) => {
      const stop = inner.onWork?.(() => void time.after(random.between(0.1, 5), owner, wake));
      return () => stop?.();
    };
    const { tellsNobody, signs } = plan;
    return linkedStore(inner, owner, { call: callOf(owner), ledger, onWork, tellsNobody, signs });
  };
}
