import type { Handlers } from "../api/handlers.js";
import type { ServiceContext } from "../service-context.js";
import { authConfigHandlers } from "./auth-configs.js";
import { runHandlers } from "./automation-runs.js";
import { automationHandlers } from "./automations.js";
import { ownershipHandlers } from "./ownership.js";
import { resourceTypeHandlers } from "./resource-types.js";
import { roleMiningHandlers } from "./role-mining.js";
import { secretHandlers } from "./secrets.js";
import { tunnelHandlers } from "./tunnel.js";

/** Every area's handlers. */
export function handlersOf(context: ServiceContext): Partial<Handlers> {
  return {
    ...authConfigHandlers(context),
    ...resourceTypeHandlers(context),
    ...roleMiningHandlers(context),
    ...ownershipHandlers(context),
    ...secretHandlers(context),
    ...tunnelHandlers(context),
    ...automationHandlers(context),
    ...runHandlers(context),
  };
}
