import type { Clock } from "hookproof";
import { keySetRules } from "../automations/check-automation.js";
import { createExpressions, type Expressions } from "../automations/expressions.js";
import type { LocalObjects } from "../objects/local-objects.js";
import type { S3Options } from "../objects/s3-objects.js";
import type { SecretTools } from "../secrets/create-secret.js";
import { openSecrets } from "../secrets/open-secrets.js";
import type { Seed } from "../seed/seed.js";
import { openStorage, type Storage } from "../storage/storage.js";
import type { Fixture } from "./fixture.js";
import { createState, type State, settledSource } from "./state.js";

/** What a service is told of its state. */
export interface StateOptions {
  /** The SQLite file, made if it is not there; by default everything is in memory. */
  db?: string | undefined;
  /** What the service holds at the start; put into a new database only. */
  fixture?: Fixture | undefined;
  /** A made-up state instead: the same number gives the same ids, names and times. */
  seed?: Seed["seed"];
  /** How many users a made-up state has; 250 by default. */
  users?: Seed["users"];
  /** Keeps the files of paper secrets in a bucket; by default they are in a folder beside the database. */
  s3?: S3Options | undefined;
  /** Lets key sets be on loopback over plain HTTP, and on private addresses. */
  allowInsecure?: boolean | undefined;
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
}

/** Opens a database for the client there always is. Nothing is loaded yet. */
export async function openState(
  { allowInsecure = false, s3, ...options }: StateOptions,
  { clock, clientId, downloadsAt }: { clock: Clock; clientId: string; downloadsAt: () => string },
): Promise<OpenState> {
  const source = settledSource(options);
  const db = options.db === ":memory:" ? undefined : options.db;
  const { downloads, ...secrets } = openSecrets({ db, s3, clock, downloadsAt });
  const storage = await openStorage(db, clock);
  const expressions = createExpressions();
  const state = createState({
    storage,
    secrets,
    expressions,
    clock,
    source,
    clientId,
    isKept: db !== undefined,
    keySets: keySetRules(allowInsecure),
  });
  return {
    storage,
    state,
    secrets,
    downloads,
    expressions,
    async close() {
      await expressions.stop();
      storage.db.close();
    },
  };
}
