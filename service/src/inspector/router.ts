import { Readable } from "node:stream";
import express, { type ErrorRequestHandler, type Router } from "express";
import { PAGE_FOLDER } from "../package-files.js";
import { type Failure, LIMITS, type SessionInfo } from "./contract.js";
import { allowHosts, type PageToken, pageToken, sameSite, securityHeaders } from "./guard.js";
import type { Inspector } from "./inspector.js";
import { InspectorError } from "./inspector-error.js";
import { readQuery, text, wholeNumber } from "./query.js";
import { readExportQuery, readForcedAnswer, readReplayOrder } from "./read-orders.js";

/** Options of `inspectorRouter`. */
export interface InspectorRouterOptions {
  /**
   * What a page has to show to read or change anything: 22 to 256 letters, digits, `-` or `_` that nobody can
   * guess. The page takes it from its address, `…/inspector/#t=<token>`, which belongs to whoever may see and sign.
   */
  token: string;
  /** Names it answers under besides `localhost` and the loopback addresses, such as `dev.internal`. */
  allowedHosts?: readonly string[] | undefined;
}

/** A body in base64 is a third longer, and stands beside header lines. */
const ORDER_BYTES = 256 * 1024;

/**
 * The inspector's page and its data, to be mounted in a development server: at a path of its own, and never
 * where strangers come in. See `createInspector` for an example.
 */
export function inspectorRouter(
  inspector: Inspector,
  { token, allowedHosts = [] }: InspectorRouterOptions,
): Router {
  const router = express.Router();
  router.use(securityHeaders, allowHosts(allowedHosts));
  router.use("/api", dataRouter(inspector, pageToken(token)));
  router.use(withSlash, express.static(PAGE_FOLDER, { setHeaders: askAgain }));
  router.use((_request, response) => {
    response.status(404).type("text").send("There is nothing here.\n");
  });
  router.use(failed);
  return router;
}

function dataRouter(inspector: Inspector, token: PageToken): Router {
  const router = express.Router();
  const json = express.json({ limit: ORDER_BYTES });
  router.use((_request, response, next) => {
    response.set("Cache-Control", "no-store");
    next();
  });
  router.use(sameSite, token.required);

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
  router.get("/export", (request, response) => {
    const query = readExportQuery(request.query);
    const name = `hookproof-requests.${query.format}`;
    response.attachment(name).type(query.format === "har" ? "application/json" : "application/x-ndjson");
    Readable.from(inspector.exported(query)).pipe(response);
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
    response.json(await inspector.replay(numberOf(request.params), readReplayOrder(request.body)));
  });
  router.put("/forced-answer", token.ownOrigin, json, (request, response) => {
    const answer = readForcedAnswer(request.body);
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
  router.use(() => {
    throw new InspectorError(404, "PATH_UNKNOWN", "The inspector has no such call.");
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

/** Addresses of the page are relative, so it has to stand in a folder of its own. */
const withSlash: express.RequestHandler = (request, response, next) => {
  const [path = "", query] = request.originalUrl.split("?");
  if (request.path !== "/" || path.endsWith("/")) next();
  else
    response.redirect(
      308,
      `${path.slice(path.lastIndexOf("/") + 1)}/${query === undefined ? "" : `?${query}`}`,
    );
};

/** The page's files keep their names from version to version. */
function askAgain(response: express.Response): void {
  response.set("Cache-Control", "no-cache");
}

/** Express names four parameters to tell an error handler from others. */
const failed: ErrorRequestHandler = (error: unknown, _request, response, next) => {
  if (response.headersSent) {
    next(error);
    return;
  }
  const { status, code, message } = failureOf(error);
  response.status(status).json({ code, message } satisfies Failure);
};

function failureOf(error: unknown): Failure & { status: number } {
  if (error instanceof InspectorError) return error;
  const { status, type } = error as { status?: number; type?: string };
  if (status === 413) return { status, code: "BODY_TOO_LARGE", message: "The body is too large." };
  if (status === 415)
    return { status, code: "BODY_UNSUPPORTED", message: "The body cannot be read in this encoding." };
  if (status === 400)
    return {
      status,
      code: "BODY_INVALID",
      message: type === "entity.parse.failed" ? "The body is not JSON." : "The request cannot be read.",
    };
  return { status: 503, code: "INSPECTOR_FAILED", message: "The inspector could not do this." };
}
