// The inspector's page and its data as an Express router.
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import express, { type Router } from "express";
import { PAGE_FOLDER } from "../package-files.js";
import type { PageToken } from "../page/guard.js";
import { InspectorError } from "../page/inspector-error.js";
import { type PageRouterOptions, pageRouter } from "../page/page-router.js";
import { LIMITS, type SessionInfo } from "./contract.js";
import type { Inspector } from "./inspector.js";
import { readQuery, text, wholeNumber } from "./query.js";
import {
  readExportQuery,
  readForcedAnswer,
  readMark,
  readReplayOrder,
  readTestEvent,
} from "./read-orders.js";

/** Options of `inspectorRouter`. */
export type InspectorRouterOptions = PageRouterOptions;

/** A body in base64 is a third longer, and stands next to header lines. */
const ORDER_BYTES = 256 * 1024;

/**
 * The inspector's page and its data, to be mounted in a development server: at a path of its own, and never
 * where strangers come in. See `createInspector` for an example.
 */
export function inspectorRouter(
  inspector: Inspector,
  { token, allowedHosts = [] }: InspectorRouterOptions,
): Router {
  return pageRouter(PAGE_FOLDER, { token, allowedHosts }, (pass) => dataRouter(inspector, pass));
}

function dataRouter(inspector: Inspector, token: PageToken): Router {
  const router = express.Router();
  const json = express.json({ limit: ORDER_BYTES });
  router.get("/session", (_request, response) => {
    response.json(inspector.session() satisfies SessionInfo);
  });
  router.get("/requests", (request, response) => {
    response.json(inspector.list(readQuery(request.query)));
  });
  router.get("/requests/:n", async (request, response) => {
    const detail = await inspector.detail(numberOf(request.params));
    if (!detail) throw new InspectorError(404, "REQUEST_UNKNOWN", "This request is not kept any more.");
    response.json(detail);
  });
  router.get("/events", (request, response) => {
    inspector.follow(response, request.get("Last-Event-ID") ?? text(request.query, "after"));
  });
  router.get("/export", async (request, response) => {
    const query = readExportQuery(request.query);
    const name = `hookproof-requests.${query.format}`;
    response.attachment(name).type(query.format === "har" ? "application/json" : "application/x-ndjson");
    await pipeline(Readable.from(inspector.exported(query)), response);
  });

  router.get("/calls", (request, response) => {
    response.json(inspector.calls(readQuery(request.query).q));
  });
  router.get("/calls/:n", (request, response) => {
    const call = inspector.call(numberOf(request.params));
    if (!call) throw new InspectorError(404, "REQUEST_UNKNOWN", "This call is not kept any more.");
    response.json(call);
  });

  router.post("/requests/:n/replay", token.ownOrigin, json, async (request, response) => {
    response.json(await inspector.replay(numberOf(request.params), await readReplayOrder(request.body)));
  });
  router.put("/requests/:n/mark", token.ownOrigin, json, async (request, response) => {
    inspector.mark(numberOf(request.params), await readMark(request.body));
    response.status(204).end();
  });
  router.post("/test-event", token.ownOrigin, json, async (request, response) => {
    const { listenerId, body } = await readTestEvent(request.body);
    response.json(await inspector.sendTestEvent(listenerId, body));
  });
  router.put("/forced-answer", token.ownOrigin, json, async (request, response) => {
    const answer = await readForcedAnswer(request.body);
    inspector.force(answer);
    response.json(answer);
  });
  router.delete("/forced-answer", token.ownOrigin, (request, response) => {
    inspector.unforce(text(request.query, "listener") ?? "");
    response.status(204).end();
  });
  router.delete("/requests", token.ownOrigin, (_request, response) => {
    inspector.clear();
    response.status(204).end();
  });
  router.delete("/calls", token.ownOrigin, (_request, response) => {
    inspector.clearCalls();
    response.status(204).end();
  });
  router.use("/control", changesFromOwnOrigin(token), (request, response, next) => {
    if (inspector.control) inspector.control.handle(request, response, next);
    else next();
  });
  const file = express.raw({ limit: LIMITS.importBytes, type: () => true });
  router.post("/import", token.ownOrigin, file, async (request, response) => {
    const bytes: unknown = request.body;
    response.json(await inspector.imported(Buffer.isBuffer(bytes) ? bytes.toString("utf8") : ""));
  });
  return router;
}

function changesFromOwnOrigin({ ownOrigin }: PageToken): express.RequestHandler {
  return (request, response, next) => {
    if (request.method === "GET") next();
    else ownOrigin(request, response, next);
  };
}

function numberOf(params: Readonly<Record<string, unknown>>): number {
  return wholeNumber(params, "n", 1, Number.MAX_SAFE_INTEGER) ?? 0;
}
