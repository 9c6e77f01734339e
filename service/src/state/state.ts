// Loads a state, and takes it back to its start.
import { setImmediate as nextTurn } from "node:timers/promises";
import { generateSecret } from "hookproof";
import type { SaveContext } from "../automations/save-automation.js";
import type { SecretTools } from "../secrets/create-secret.js";
import type { IdentityFile } from "../secrets/open-secrets.js";
import { harmless } from "../server/harmless.js";
import type { Storage } from "../storage/storage.js";
import { type ExportOptions, exportState } from "./export-state.js";
import type { Fixture } from "./fixture.js";
import { refuseFixtureMistakes } from "./fixture-automations.js";
import { settledFixture } from "./fixture-mistakes.js";
import { loadFixture } from "./load-fixture.js";
import { type Seed, seedParts, settledSeed } from "./seed/seed.js";
import { stateTables } from "./snapshots.js";

/**
 * The id of the client there always is.
 *
 * @example
 * ```ts
 * import { DEFAULT_CLIENT } from "hookproof-service";
 *
 * console.log(DEFAULT_CLIENT); // "local-admin"
 * ```
 */
export const DEFAULT_CLIENT = "local-admin";

/** What a state is made from: a seed, or a fixture. */
type Source = { readonly seed: number; readonly users: number } | { readonly fixture: Fixture };

/** Told how many of the users of a seed there are so far. */
export type SeedProgress = (done: number, total: number) => void;

/** What loading a state needs. */
interface StateContext extends Pick<SaveContext, "expressions" | "keySets" | "clock"> {
  readonly storage: Storage;
  readonly secrets: SecretTools;
  /** What the state is made from, unless the database says so itself. */
  readonly source: Source;
  /** Whether the source was asked for: where nothing was loaded, it counts more than what the database says. */
  readonly isSourceGiven: boolean;
  /** Whether the database stays, and the source has to stay in it. */
  readonly isKept: boolean;
  /** The id of the client there always is. */
  readonly clientId: string;
  /** The file that the source, as it may hold secrets, is encrypted to. */
  readonly identity: IdentityFile;
}

/** The state of a service: what it was made from, and the way back to that. */
export interface State {
  /** Whether a source has been loaded. */
  isLoaded(): boolean;
  /** Loads the source into a database that has none yet, or where loading one was cut off; whether it did. */
  ensure(onProgress?: SeedProgress): Promise<boolean>;
  /** Empties the database and loads the source; cut off in between, `ensure` begins again. */
  replace(onProgress?: SeedProgress): Promise<void>;
  /** Goes back to the source that was loaded; of several at once, one after another. */
  reset(onProgress?: SeedProgress): Promise<void>;
  /** Adds a fixture to what is there, all of it or nothing. */
  add(fixture: Fixture): Promise<void>;
  /** What is there as a fixture. */
  export(options?: ExportOptions): Promise<Fixture>;
  /** Does what changes the clients, and leaves the client there always is as it is. */
  keepingAdmin<Result>(work: () => Result | Promise<Result>): Promise<Result>;
  /** The client there always is: a Super Admin, who acts as the user that the source says. */
  putAdmin(secretHash: string | undefined): void;
}

/** A source with every choice made; nothing asked for is nothing there. */
export function settledSource({ fixture, seed, users }: Seed & { fixture?: Fixture | undefined }): Source {
  if (seed === undefined && users === undefined) return { fixture: settledFixture(fixture ?? {}) };
  if (fixture === undefined) return settledSeed({ seed, users });
  throw new TypeError("a state comes from a seed or from a fixture, not from both");
}

/** The state in a database. */
export function createState(context: StateContext): State {
  const { storage, secrets, clientId, clock } = context;

  const recorded = async (): Promise<Source> => {
    const sealed = storage.meta.get("source");
    if (sealed === undefined) return context.source;
    return JSON.parse(await secrets.vault.open(Buffer.from(sealed, "base64"))) as Source;
  };
  const replaceBy = async (source: Source, onProgress?: SeedProgress) => {
    if ("fixture" in source) await refuseFixtureMistakes(source.fixture, context);
    // It may have secrets in it.
    const sealed = context.isKept ? await secrets.vault.seal(JSON.stringify(source)) : undefined;
    storage.db.transaction(() => {
      storage.meta.set("loaded", undefined);
      storage.meta.set("source", sealed && Buffer.from(sealed).toString("base64"));
      storage.meta.set("identity", sealed && context.identity().fingerprint);
      empty(storage);
    });
    try {
      await load(context, source, onProgress);
    } catch (error) {
      storage.meta.set("source", undefined);
      throw error;
    }
    storage.meta.set("loaded", new Date(clock.now()).toISOString());
  };
  const putAdmin = (secretHash: string | undefined) => {
    const defaults = { createdAt: clock.now(), displayName: "Local administrator", userId: "" };
    const known = storage.clients.get(clientId);
    storage.clients.put({ ...defaults, ...known, clientId, role: "super-admin", secretHash });
  };
  let before: Promise<unknown> = Promise.resolve();
  const keepingAdmin = <Result>(work: () => Result | Promise<Result>): Promise<Result> => {
    const done = before.then(async () => {
      const secretHash = storage.clients.get(clientId)?.secretHash;
      const result = await work();
      putAdmin(secretHash);
      return result;
    });
    before = done.catch(() => {});
    return done;
  };
  const isLoaded = () => storage.meta.get("loaded") !== undefined;

  return {
    isLoaded,
    async ensure(onProgress) {
      if (isLoaded()) return false;
      const { isSourceGiven, source } = context;
      await keepingAdmin(async () => replaceBy(isSourceGiven ? source : await recorded(), onProgress));
      return true;
    },
    replace: (onProgress) => keepingAdmin(() => replaceBy(context.source, onProgress)),
    reset: (onProgress) => keepingAdmin(async () => replaceBy(await recorded(), onProgress)),
    add: (given) =>
      keepingAdmin(async () => {
        const fixture = settledFixture(given);
        await refuseFixtureMistakes(fixture, context, {
          user: (id) => storage.users.get(id) !== undefined,
          app: (id) => storage.resourceTypes.hasApp(id),
          entitlement: (appId, id) => storage.owners.hasEntitlement(appId, id),
        });
        await loadFixture(storage, secrets, fixture, clock.now());
      }),
    export: (options) => exportState(context, options),
    putAdmin,
    keepingAdmin,
  };
}

async function load(
  { storage, secrets, clientId, clock }: StateContext,
  source: Source,
  onProgress: SeedProgress = () => {},
): Promise<void> {
  if ("fixture" in source) return loadFixture(storage, secrets, source.fixture, clock.now());
  // One that stays through a reset: whoever sends to the listener has it.
  const signingSecret = storage.meta.getOrSet("seed-signing-secret", generateSecret);
  const notify = harmless(onProgress);
  let done = 0;
  for (const part of seedParts(source, { clientId, signingSecret })) {
    await loadFixture(storage, secrets, part, clock.now());
    done += part.users?.length ?? 0;
    notify(done, source.users);
    await nextTurn(); // libsql frees what its statements gave when the event loop turns, and not before
  }
}

/** Clients that act as no user stay, as do the service's own keys and settings. */
function empty({ db }: Storage): void {
  db.exec("PRAGMA defer_foreign_keys = ON");
  for (const name of stateTables(db))
    db.exec(`DELETE FROM "${name}"${name === "clients" ? " WHERE user_id IS NOT NULL" : ""}`);
}
