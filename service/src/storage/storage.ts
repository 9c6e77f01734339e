// Opens everything the service keeps.
import type { Clock } from "hookproof";
import { type SqliteReplayStore, sqliteReplayStore } from "hookproof/replay";
import { type AuditEvents, auditEvents } from "./audit-events.js";
import { type AuthConfigs, authConfigs } from "./auth-configs.js";
import { type Automations, automations } from "./automations.js";
import { type Clients, clients } from "./clients.js";
import { type Cohorts, cohorts } from "./cohorts.js";
import { type Database, openDatabase } from "./database.js";
import { type Grants, grants } from "./grants.js";
import { type Meta, meta } from "./meta.js";
import { type Owners, owners } from "./owners.js";
import { type PaperSecrets, paperSecrets } from "./paper-secrets.js";
import { type ResourceTypes, resourceTypes } from "./resource-types.js";
import { type Runs, runs } from "./runs.js";
import { type SigningKeys, signingKeys } from "./signing-keys.js";
import { type TunnelCredentials, tunnelCredentials } from "./tunnel-credentials.js";
import { type Users, users } from "./users.js";

/** Everything the service keeps, by area. */
export interface Storage {
  readonly db: Database;
  readonly meta: Meta;
  readonly signingKeys: SigningKeys;
  readonly clients: Clients;
  readonly users: Users;
  readonly authConfigs: AuthConfigs;
  readonly resourceTypes: ResourceTypes;
  readonly cohorts: Cohorts;
  readonly owners: Owners;
  readonly grants: Grants;
  readonly tunnelCredentials: TunnelCredentials;
  readonly paperSecrets: PaperSecrets;
  readonly auditEvents: AuditEvents;
  readonly automations: Automations;
  readonly runs: Runs;
  /** The event ids of webhook listeners. */
  readonly eventIds: SqliteReplayStore;
}

/** Opens what the service keeps, in a file or in memory. */
export async function openStorage(file: string | undefined, clock: Clock): Promise<Storage> {
  const db = await openDatabase(file);
  const eventIds = sqliteReplayStore({ db, clock });
  return {
    db,
    meta: meta(db),
    signingKeys: signingKeys(db),
    clients: clients(db),
    users: users(db),
    authConfigs: authConfigs(db),
    resourceTypes: resourceTypes(db),
    cohorts: cohorts(db),
    owners: owners(db),
    grants: grants(db),
    tunnelCredentials: tunnelCredentials(db),
    paperSecrets: paperSecrets(db),
    auditEvents: auditEvents(db),
    automations: automations(db),
    runs: runs(db),
    eventIds,
  };
}
