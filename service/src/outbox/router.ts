// The page of an outbox as an Express router.
import express, { type Router } from "express";
import { isEventId } from "hookproof";
import { OUTBOX_PAGE_FOLDER } from "../package-files.js";
import type { PageToken } from "../page/guard.js";
import { InspectorError } from "../page/inspector-error.js";
import { type PageRouterOptions, pageRouter } from "../page/page-router.js";
import { ACTIONS, type OutboxAction } from "./contract.js";
import { type OutboxView, outboxView, type ShownOutbox } from "./outbox-view.js";
import { nameOf, readPause, readRedrive } from "./read-orders.js";

/** Options of `outboxRouter`. */
export interface OutboxRouterOptions extends PageRouterOptions {
  /** What the outbox is called on the page. */
  name?: string | undefined;
  /**
   * What the page may do besides showing: `redrive` returns dead letters to the outbox, `pause` pauses and resumes
   * listeners. Nothing by default.
   */
  allow?: readonly OutboxAction[] | undefined;
}

const ORDER_BYTES = 16 * 1024;

/**
 * A page that shows how an outbox stands: listeners, what failed last and why, dead letters, the attempts of an event.
 * To be mounted at a path of its own, and never where strangers come in. It shows no body of an event.
 *
 * @throws {TypeError} for a token that can be guessed, or an action that there is not
 *
 * @example
 * ```ts
 * import express from "express";
 * import { generateSecret } from "hookproof";
 * import type { Outbox } from "hookproof/outbox";
 * import { outboxRouter } from "hookproof-service";
 *
 * export function admin(outbox: Outbox) {
 *   const app = express();
 *   const token = generateSecret();
 *   app.use("/outbox", outboxRouter(outbox, { token, allow: ["redrive"] }));
 *   app.listen(3001, "127.0.0.1", () => console.log(`http://127.0.0.1:3001/outbox/#t=${token}`));
 * }
 * ```
 */
export function outboxRouter(
  outbox: ShownOutbox,
  { name = "outbox", allow = [], ...page }: OutboxRouterOptions,
): Router {
  if (!allow.every((action) => ACTIONS.includes(action)))
    throw new TypeError(`allow has ${ACTIONS.join(" and ")} only`);
  const view = outboxView(outbox, { name, actions: ACTIONS.filter((action) => allow.includes(action)) });
  return pageRouter(OUTBOX_PAGE_FOLDER, page, (token) => dataRouter(view, token, allow));
}

function dataRouter(view: OutboxView, { ownOrigin }: PageToken, allow: readonly OutboxAction[]): Router {
  const router = express.Router();
  const json = express.json({ limit: ORDER_BYTES });
  router.get("/overview", async (_request, response) => {
    response.json(await view.overview());
  });
  router.get("/dead-letters", async (_request, response) => {
    response.json(await view.deadLetters());
  });
  router.get("/waiting", async (request, response) => {
    response.json(await view.waiting(await nameOf(request.query.listener)));
  });
  router.get("/events/:id", async (request, response) => {
    const id = request.params.id.toLowerCase();
    const entries = isEventId(id) ? await view.event(id) : [];
    if (entries.length === 0) throw new InspectorError(404, "EVENT_UNKNOWN", "The outbox has no such event.");
    response.json(entries);
  });
  router.post("/redrive", ownOrigin, json, async (request, response) => {
    const order = await readRedrive(request.body);
    if (!order.dryRun) requireLeave("redrive");
    response.json(await view.redrive(order));
  });
  router.post("/pause", ownOrigin, json, async (request, response) => {
    requireLeave("pause");
    const { listener, reason } = await readPause(request.body);
    await view.pause(listener, reason);
    response.status(204).end();
  });
  router.post("/resume", ownOrigin, json, async (request, response) => {
    requireLeave("pause");
    await view.resume((await readPause(request.body)).listener);
    response.status(204).end();
  });
  return router;

  function requireLeave(action: OutboxAction): void {
    if (!allow.includes(action))
      throw new InspectorError(403, "ACTION_REFUSED", `This page was not started with leave to ${action}.`);
  }
}
