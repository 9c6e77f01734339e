import { memoryStore } from "hookproof/outbox";
import type { DrawnClock } from "./clocks.js";
import type { Engine, EngineWorld } from "./engine.js";
import { overNetwork } from "./store-network.js";

/** The memory store as a server that workers reach over a network. */
export function memoryServer(world: EngineWorld, clock: DrawnClock): Engine {
  const inner = memoryStore({ clock });
  const open = overNetwork(world);
  return { inner, process: (owner) => ({ store: open(inner, owner) }), close: () => {} };
}
