// The route of webhooks (specification 4.10).
import express, { type Router } from "express";
import { INGESTION_PATH } from "../../server/listener-path.js";
import type { ServiceContext } from "../../server/service-context.js";
import { operation } from "../operations.js";

/** Operation 4.10. It reads and answers in its own way; what goes wrong on purpose comes before. */
export function webhookRoute({
  faults,
  automations,
}: Pick<ServiceContext, "faults" | "automations">): Router {
  const router = express.Router({ caseSensitive: true, strict: true });
  router.use(INGESTION_PATH.slice(0, -1), async (req, res, next) => {
    res.locals.operation = operation("receiveWebhook");
    if (!(await faults.answered("receiveWebhook", req, res))) next();
  });
  router.use(automations.router);
  return router;
}
