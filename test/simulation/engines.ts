// The stores under test, by their names.
import type { DrawnClock } from "./clocks.js";
import type { Engine, EngineWorld } from "./engine.js";
import { memoryServer } from "./memory-server.js";
import type { StoreKind } from "./plan.js";
import { postgresServer } from "./postgres-server.js";
import { sqliteFile } from "./sqlite-file.js";

const ENGINES: Readonly<Record<StoreKind, (world: EngineWorld, clock: DrawnClock) => Engine>> = {
  memory: memoryServer,
  sqlite: sqliteFile,
  postgres: postgresServer,
};

/** The store of a world. */
export function engineOf(world: EngineWorld, clock: DrawnClock): Engine {
  return ENGINES[world.plan.store](world, clock);
}
