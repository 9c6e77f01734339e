import {
  memoryReplayStore,
  type ReplayStore,
  type Reservation,
  type ReserveResult,
} from "hookproof/receiver";
import { withinMs } from "../../src/replay/replay-store.js";
import type { DrawnClock } from "./clocks.js";
import { Random } from "./random.js";
import type { ReplayEngine, ReplayWorldParts } from "./replay-engine.js";
import { recordedStore } from "./replay-ledger.js";

/** How long a call may take, as with the stores on the network: docs/guides/receiving.md. */
export const CALL_MS = 2_000;

/**
 * The memory store as a server that processes reach over a network: calls take time, and calls and answers get lost. Who
 * has waited for too long is told that the store failed, and a reservation that comes then is released, as in the stores
 * on the network.
 */
export function replayServer(world: ReplayWorldParts, clock: DrawnClock): ReplayEngine {
  const { plan, time, ledger, spells, trace, crash } = world;
  const { inner, size } = counted(() => memoryReplayStore({ clock, reservationMs: plan.reservationMs }));
  const random = new Random(plan.seed, "store");
  const isDrawn = (name: "answer of the store lost" | "store refuses" | "crash at a call", share: number) => {
    const strength = plan.faults[name];
    return !spells.isHealed && strength !== undefined && random.chance(share * strength);
  };

  function call<Value>(owner: string, name: string, run: () => Promise<Value>): Promise<Value> {
    return new Promise((resolve, reject) => {
      if (time.isDead(owner)) return;
      if (isDrawn("crash at a call", 0.05)) crash(owner);
      const later = (settle: () => void) => void time.after(random.between(0.1, 3), owner, settle);
      const execute = async () => {
        if (spells.isOn("store is gone") || isDrawn("store refuses", 0.2)) {
          trace.add(owner, `${name} refused by the store`);
          return later(() => reject(new Error("in the simulated store")));
        }
        try {
          const value = await run();
          if (!isDrawn("answer of the store lost", 0.2)) return later(() => resolve(value));
          trace.add(owner, `${name} done, and the answer lost`);
          if (random.chance(0.5)) later(() => reject(new Error("connection lost")));
        } catch (error) {
          later(() => reject(error));
        }
      };
      const waits = spells.isOn("store is busy") ? random.between(0, 8_000) : random.between(0.1, 5);
      time.after(waits, "store", () => void execute());
    });
  }

  function open(owner: string): ReplayStore {
    const recorded = recordedStore(inner, owner, ledger);
    const release = (reservation: Reservation) => {
      ledger.givesBack(reservation);
      return call(owner, "release", () => recorded.release(reservation));
    };
    return {
      async reserve(listener, id) {
        let isLate = false;
        const ask = async () => {
          const result = await call(owner, "reserve", () => recorded.reserve(listener, id));
          if (isLate && result.state === "reserved") ledger.cameLate(owner, result.reservation);
          return result;
        };
        const undo = (result?: ReserveResult) => result?.state === "reserved" && release(result.reservation);
        try {
          return await withinMs(CALL_MS, ask, undo);
        } catch (error) {
          isLate = true;
          throw error;
        }
      },
      commit: (reservation) =>
        withinMs(CALL_MS, () => call(owner, "commit", () => recorded.commit(reservation))),
      release: (reservation) => withinMs(CALL_MS, () => release(reservation)),
    };
  }

  return {
    process: (owner) => ({
      store: open(owner),
      inTransaction: (reservation) => {
        const work = () => ledger.ran(owner, reservation);
        const { commit } = recordedStore(inner, owner, ledger, work);
        return withinMs(CALL_MS, () => call(owner, "transaction", () => commit(reservation)));
      },
    }),
    died: () => {},
    size,
    close: () => {},
  };
}

/** Makes a store whose maps can be counted from outside. */
function counted(make: () => ReplayStore): { inner: ReplayStore; size: () => number } {
  const RealMap = globalThis.Map;
  const maps: Map<unknown, unknown>[] = [];
  globalThis.Map = class<Key, Value> extends RealMap<Key, Value> {
    constructor(entries?: readonly (readonly [Key, Value])[]) {
      super(entries);
      maps.push(this as Map<unknown, unknown>);
    }
  } as typeof RealMap;
  try {
    return { inner: make(), size: () => maps.reduce((sum, map) => sum + map.size, 0) };
  } finally {
    globalThis.Map = RealMap;
  }
}
