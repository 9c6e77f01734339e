// Puts the handlers of all areas together.
import type { ServiceContext } from "../../server/service-context.js";
import type { Handlers } from "../handlers.js";
import { addStateHandlers } from "./add-state.js";
import { authConfigHandlers } from "./auth-configs.js";
import { runHandlers } from "./automation-runs.js";
import { automationHandlers } from "./automations.js";
import { clientHandlers } from "./clients.js";
import { controlHandlers } from "./control.js";
import { ownershipHandlers } from "./ownership.js";
import { resourceTypeHandlers } from "./resource-types.js";
import { roleMiningHandlers } from "./role-mining.js";
import { secretHandlers } from "./secrets.js";
import { tunnelHandlers } from "./tunnel.js";

/** What the handlers of all areas need: nothing of who may ask, and nothing of how an answer is written. */
type HandlersContext = Pick<
  ServiceContext,
  | "storage"
  | "clock"
  | "baseUrl"
  | "pageTokens"
  | "secrets"
  | "faults"
  | "journal"
  | "snapshots"
  | "state"
  | "automations"
>;

/** Every area's handlers. */
export function handlersOf(context: HandlersContext): Partial<Handlers> {
  return {
    ...authConfigHandlers(context),
    ...resourceTypeHandlers(context),
    ...roleMiningHandlers(context),
    ...ownershipHandlers(context),
    ...secretHandlers(context),
    ...tunnelHandlers(context),
    ...automationHandlers(context),
    ...runHandlers(context),
    ...addStateHandlers(context),
    ...clientHandlers(context),
    ...controlHandlers(context),
  };
}
