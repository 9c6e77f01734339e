// Opens a database for the client there always is.
import type { Clock } from "hookproof";
import { type CelOptions, createLookUps } from "../automations/cel-functions.js";
import { keySetRules } from "../automations/check-automation.js";
import { createExpressions, type Expressions } from "../automations/expressions.js";
import type { SecretTools } from "../secrets/create-secret.js";
import { openSecrets } from "../secrets/open-secrets.js";
import type { LocalObjects } from "../storage/local-objects.js";
import type { S3Options } from "../storage/s3-objects.js";
import { openStorage, type Storage } from "../storage/storage.js";
import { claimDatabase } from "./claim-database.js";
import type { Fixture } from "./fixture.js";
import type { Seed } from "./seed/seed.js";
import { createState, type SeedProgress, type State, settledSource } from "./state.js";
import { StateError } from "./state-error.js";

/** Where the state of a service is kept, and what it is made from. */
export interface StateOptions extends CelOptions {
  /** The SQLite file, made if it is not there; by default everything is in memory. */
  db?: string | undefined;
  /** What the service holds at the start; put into a new database only. */
  fixture?: Fixture | undefined;
  /** A made-up state instead: the same number gives the same ids, names and times. */
  seed?: Seed["seed"];
  /** How many users a made-up state has; 250 by default. */
  users?: Seed["users"];
  /** Keeps the files of paper secrets in a bucket; by default they are in a folder next to the database. */
  s3?: S3Options | undefined;
  /** Lets key sets be on loopback over plain HTTP, and on private addresses. */
  allowInsecure?: boolean | undefined;
  /** Is called with how many of the users of a seed there are so far. */
  onProgress?: SeedProgress | undefined;
}

/** An open database with its state, and what belongs to both. */
export interface OpenState {
  readonly storage: Storage;
  readonly state: State;
  readonly secrets: SecretTools;
  /** The files that this service hands out itself. */
  readonly downloads: LocalObjects | undefined;
  readonly expressions: Expressions;
  close(): Promise<void>;
  /** Closes it after a failure; a database that was made for this is gone then. */
  abandon(): Promise<void>;
}

/** Opens a database for the client there always is. Nothing is loaded yet. */
export async function openState(
  { allowInsecure = false, s3, ...options }: StateOptions,
  { clock, clientId, downloadsAt }: { clock: Clock; clientId: string; downloadsAt: () => string },
): Promise<OpenState> {
  const source = settledSource(options);
  const db = options.db === ":memory:" ? undefined : options.db;
  const unclaim = claimDatabase(db);
  const { downloads, identity, ...secrets } = openSecrets({ db, s3, clock, downloadsAt });
  const storage = await openStorage(db, clock).catch((error) => {
    unclaim();
    throw error;
  });
  refuseOtherIdentity(storage, identity());
  const expressions = createExpressions({ lookUps: createLookUps(storage, options) });
  const state = createState({
    storage,
    secrets,
    expressions,
    clock,
    source,
    isSourceGiven: [options.fixture, options.seed, options.users].some((given) => given !== undefined),
    clientId,
    isKept: db !== undefined,
    identity,
    keySets: keySetRules(allowInsecure),
  });
  const close = async () => {
    await expressions.stop();
    storage.db.close();
  };
  return {
    storage,
    state,
    secrets,
    downloads,
    expressions,
    close,
    async abandon() {
      await close();
      unclaim();
    },
  };
}

/** The texts of a database can be read with one identity only: another one would answer each of them with an error. */
function refuseOtherIdentity(
  { db, meta }: Storage,
  identity: { file: string; fingerprint: string | undefined },
) {
  const known = meta.get("identity");
  if (known === undefined || known === identity.fingerprint) return;
  db.close();
  throw identity.fingerprint === undefined
    ? new StateError(
        "IDENTITY_MISSING",
        `${identity.file} is missing, which the texts of the database are encrypted to.`,
      )
    : new StateError(
        "IDENTITY_WRONG",
        `${identity.file} is not the identity that the texts of the database are encrypted to.`,
      );
}
