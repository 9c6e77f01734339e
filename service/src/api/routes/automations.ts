// Operations on automations.

import { inputOf } from "../../automations/automation.js";
import { rotateSecret, type SavedAutomation, saveAutomation } from "../../automations/save-automation.js";
import { INGESTION_PATH } from "../../server/listener-path.js";
import type { ServiceContext } from "../../server/service-context.js";
import type { AutomationPosition, StoredAutomation } from "../../storage/automations.js";
import { BEFORE_ALL, timestamp } from "../../storage/document.js";
import { invalidField, notFound } from "../errors.js";
import type { Handlers } from "../handlers.js";
import type { Schemas } from "../validation.js";

/** Automations, of the local administration. */
export function automationHandlers({
  storage,
  pageTokens,
  clock,
  baseUrl,
  automations: { expressions, keySets },
}: Pick<ServiceContext, "storage" | "pageTokens" | "clock" | "baseUrl" | "automations">): Pick<
  Handlers,
  | "createAutomation"
  | "listAutomations"
  | "getAutomation"
  | "updateAutomation"
  | "deleteAutomation"
  | "rotateAutomationSecret"
> {
  const context = { storage, expressions, keySets, clock };
  const automationOf = (id: string): StoredAutomation => {
    const automation = storage.automations.get(id);
    if (!automation) throw notFound("automation");
    return automation;
  };
  const saved = ({ automation, signingSecret }: SavedAutomation) => ({
    automation: shown(automation, baseUrl),
    signingSecret,
  });
  return {
    createAutomation: async ({ body }) => saved(await saveAutomation(context, inputOf(body))),
    listAutomations({ query }) {
      const page = pageTokens.page({
        of: ["listAutomations"],
        pageSize: query.pageSize,
        pageToken: query.pageToken,
        start: [BEFORE_ALL, ""] as AutomationPosition,
        find: (after, limit) => storage.automations.list(after, limit),
        position: (automation): AutomationPosition => [automation.createdAt, automation.id],
      });
      return { ...page, list: page.list.map((automation) => shown(automation, baseUrl)) };
    },
    getAutomation: ({ path }) => ({ automation: shown(automationOf(path.automation_id), baseUrl) }),
    updateAutomation: async ({ path, body }) =>
      saved(await saveAutomation(context, inputOf(body), automationOf(path.automation_id).id)),
    deleteAutomation({ path }) {
      if (!storage.automations.remove(path.automation_id)) throw notFound("automation");
      return {};
    },
    rotateAutomationSecret({ path }) {
      const automation = automationOf(path.automation_id);
      if (automation.hmacSecret === undefined)
        throw invalidField("automation_id", "has a JWT trigger, and no secret");
      return saved(rotateSecret(context, automation));
    },
  };
}

function shown(
  { id, displayName, trigger, allowedCidrs, published, enabled, steps, ...rest }: StoredAutomation,
  baseUrl: string,
): Schemas["Automation"] {
  return {
    id,
    displayName,
    trigger: trigger.jwt ? { jwt: trigger.jwt } : { hmac: {} },
    allowedCidrs: [...allowedCidrs],
    published,
    enabled,
    steps: [...steps],
    listenerId: rest.listenerId,
    listenerUrl: `${baseUrl}${INGESTION_PATH}${rest.listenerId}`,
    createdAt: timestamp(rest.createdAt),
    updatedAt: timestamp(rest.updatedAt),
  };
}
