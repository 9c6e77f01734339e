// Fills and resets a database without starting a service.
import { existsSync } from "node:fs";
import type { Clock } from "hookproof";
import { checkCelOptions } from "../automations/cel-functions.js";
import { refuseUnknown } from "../server/options.js";
import type { ExportOptions } from "./export-state.js";
import type { Fixture } from "./fixture.js";
import { type OpenState, openState, type StateOptions } from "./open-state.js";
import type { Seed } from "./seed/seed.js";
import { DEFAULT_CLIENT } from "./state.js";
import { StateError } from "./state-error.js";

/** Options of `resetDatabase`. */
export interface ResetOptions
  extends Pick<StateOptions, "s3" | "allowInsecure" | "onProgress" | "celNamespace" | "celFunctions"> {
  /** The SQLite file. */
  db: string;
  clock?: Clock | undefined;
}

/** Options of `seedDatabase`. */
export interface SeedOptions extends ResetOptions, Seed {
  /** What to fill it with instead of a seed. */
  fixture?: Fixture | undefined;
  /** Also one that has a state, which is lost then. */
  replace?: boolean | undefined;
}

const RESET_OPTIONS = {
  db: true,
  s3: true,
  allowInsecure: true,
  celFunctions: true,
  celNamespace: true,
  clock: true,
} as const;
const SEED_OPTIONS = { ...RESET_OPTIONS, seed: true, users: true, fixture: true } as const;

/**
 * Fills a database with a seed or a fixture, without starting a service. A running one sees the new state.
 *
 * @throws {StateError} DATABASE_NOT_EMPTY if it has a state and `replace` is not given
 *
 * @example
 * ```ts
 * import { createService, seedDatabase } from "hookproof-service";
 *
 * await seedDatabase({ db: "service.db", seed: 42, users: 10_000 });
 * await using service = await createService({ db: "service.db" });
 * ```
 */
export async function seedDatabase({ replace = false, onProgress, ...options }: SeedOptions): Promise<void> {
  refuseUnknown("seedDatabase", options, SEED_OPTIONS);
  checkCelOptions(options);
  await withState(options, async ({ state }) => {
    if (!replace && state.isLoaded())
      throw new StateError("DATABASE_NOT_EMPTY", `${options.db} has a state.`);
    await state.replace(onProgress);
  });
}

/**
 * Takes a database back to the seed or fixture it was filled with, without starting a service.
 *
 * @throws {StateError} DATABASE_MISSING if there is none
 *
 * @example
 * ```ts
 * import { resetDatabase } from "hookproof-service";
 *
 * await resetDatabase({ db: "service.db" });
 * ```
 */
export async function resetDatabase({ onProgress, ...options }: ResetOptions): Promise<void> {
  refuseUnknown("resetDatabase", options, RESET_OPTIONS);
  checkCelOptions(options);
  requireDatabase(options.db);
  await withState(options, ({ state }) => state.reset(onProgress));
}

/** Options of `exportDatabase`. */
export interface ExportDatabaseOptions extends ExportOptions, Pick<StateOptions, "s3"> {
  /** The SQLite file. */
  db: string;
}

/**
 * The state in a database as a fixture, without starting a service; one may be running over it. Runs, audit events and
 * event ids are what happened, and no part of it.
 *
 * @throws {StateError} DATABASE_MISSING if there is none; FILE_TOO_LARGE with `withSecrets`, for a file above 8 MiB
 *
 * @example
 * ```ts
 * import { exportDatabase, formatFixture } from "hookproof-service";
 *
 * console.log(await formatFixture(await exportDatabase({ db: "service.db" })));
 * ```
 */
export async function exportDatabase({ withSecrets, ...options }: ExportDatabaseOptions): Promise<Fixture> {
  refuseUnknown("exportDatabase", options, { db: true, s3: true });
  requireDatabase(options.db);
  return withState(options, ({ state }) => state.export({ withSecrets }));
}

/** @throws {StateError} DATABASE_MISSING */
export function requireDatabase(db: string): void {
  if (!existsSync(db)) throw new StateError("DATABASE_MISSING", `There is no database ${db}.`);
}

/** Opens a database for as long as the work takes. */
export async function withState<Result>(
  { clock = { now: () => Date.now() }, ...options }: StateOptions & { clock?: Clock | undefined },
  work: (opened: OpenState) => Result | Promise<Result>,
): Promise<Result> {
  const opened = await openState(options, { clock, clientId: DEFAULT_CLIENT, downloadsAt: () => "" });
  try {
    const result = await work(opened);
    await opened.close();
    return result;
  } catch (error) {
    await opened.abandon();
    throw error;
  }
}
