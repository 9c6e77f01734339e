import { existsSync } from "node:fs";
import type { Clock } from "hookproof";
import type { Seed } from "../seed/seed.js";
import type { Fixture } from "./fixture.js";
import { type OpenState, openState, type StateOptions } from "./open-state.js";
import { DEFAULT_CLIENT, type SeedProgress } from "./state.js";

/** A state that cannot be made. */
export class StateError extends Error {
  override readonly name = "StateError";
  readonly code: "DATABASE_MISSING" | "DATABASE_NOT_EMPTY";

  constructor(code: StateError["code"], message: string) {
    super(message);
    this.code = code;
  }
}

/** Options of `resetDatabase`. */
export interface ResetOptions extends Pick<StateOptions, "s3" | "allowInsecure"> {
  /** The SQLite file. */
  db: string;
  clock?: Clock | undefined;
  /** Told how many of the users of a seed there are so far. */
  onProgress?: SeedProgress | undefined;
}

/** Options of `seedDatabase`. */
export interface SeedOptions extends ResetOptions, Seed {
  /** What to fill it with instead of a seed. */
  fixture?: Fixture | undefined;
  /** Also one that has a state, which is lost then. */
  replace?: boolean | undefined;
}

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
  requireDatabase(options.db);
  await withState(options, ({ state }) => state.reset(onProgress));
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
    return await work(opened);
  } finally {
    await opened.close();
  }
}
