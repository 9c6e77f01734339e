import type { Clock } from "hookproof";
import type { PageTokens } from "./api/paging.js";
import type { AccessTokens } from "./auth/access-tokens.js";
import type { AutomationEngine } from "./automations/engine.js";
import type { Faults } from "./faults.js";
import type { ServiceLog } from "./log.js";
import type { SecretTools } from "./secrets/create-secret.js";
import type { Storage } from "./storage/storage.js";

/** What the areas of the service share. */
export interface ServiceContext {
  readonly storage: Storage;
  readonly clock: Clock;
  /** The address clients use, without a trailing slash. */
  readonly baseUrl: string;
  readonly log: ServiceLog;
  readonly tokens: AccessTokens;
  readonly pageTokens: PageTokens;
  readonly secrets: SecretTools;
  readonly faults: Faults;
  readonly automations: AutomationEngine;
  /** Whether answers are held against the OpenAPI document, in tests and development. */
  readonly validateAnswers: boolean;
}
