// What the areas of the service share.
import type { PageTokens } from "../api/paging.js";
import type { UnknownFields } from "../api/unknown-names.js";
import type { WireNames } from "../api/wire-names.js";
import type { AccessTokens } from "../auth/access-tokens.js";
import type { AutomationEngine } from "../automations/engine.js";
import type { SecretTools } from "../secrets/create-secret.js";
import type { Snapshots } from "../state/snapshots.js";
import type { State } from "../state/state.js";
import type { Storage } from "../storage/storage.js";
import type { CorsRule } from "./cors.js";
import type { Faults } from "./faults.js";
import type { ServiceLog } from "./log.js";
import type { RequestJournal } from "./request-journal.js";
import type { ServiceClock } from "./service-clock.js";

export interface ServiceContext {
  readonly storage: Storage;
  readonly clock: ServiceClock;
  /** The address clients use, without a trailing slash. */
  readonly baseUrl: string;
  readonly log: ServiceLog;
  readonly tokens: AccessTokens;
  readonly pageTokens: PageTokens;
  readonly secrets: SecretTools;
  readonly faults: Faults;
  readonly wireNames: WireNames;
  readonly unknownFields: UnknownFields;
  readonly cors: CorsRule;
  readonly journal: RequestJournal;
  readonly snapshots: Snapshots;
  readonly state: State;
  /** What keeps others out of the local administration, besides the access tokens of a Super Admin. */
  readonly controlToken: string;
  readonly automations: AutomationEngine;
  /** Whether answers are held against the OpenAPI document, in tests and development. */
  readonly validateAnswers: boolean;
}
