// Serves a page and its data to anyone who has the token.
import express, { type ErrorRequestHandler, type Router } from "express";
import type { HookproofError } from "hookproof";
import type { Failure } from "./contract.js";
import { allowHosts, type PageToken, pageToken, sameSite, securityHeaders } from "./guard.js";
import { InspectorError } from "./inspector-error.js";

/** Options of a page next to a server: `inspectorRouter`, `outboxRouter`. */
export interface PageRouterOptions {
  /**
   * What a page has to show to read or change anything: 22 to 256 letters, digits, `-` or `_` that nobody can
   * guess. The page takes it from its address, `…/#t=<token>`, which belongs to anyone who may see what it shows.
   */
  token: string;
  /** Names it answers under besides `localhost` and the loopback addresses, such as `dev.internal`. */
  allowedHosts?: readonly string[] | undefined;
}

/** A page in a folder of files, and under `api` its data, which only a page with the token can have. */
export function pageRouter(
  folder: string,
  { token, allowedHosts = [] }: PageRouterOptions,
  data: (token: PageToken) => Router,
): Router {
  const router = express.Router();
  const pass = pageToken(token);
  router.use(securityHeaders, allowHosts(allowedHosts));
  router.use("/api", neverKept, sameSite, pass.required, data(pass), () => {
    throw new InspectorError(404, "PATH_UNKNOWN", "There is no such call.");
  });
  router.use(withSlash, express.static(folder, { setHeaders: askAgain }));
  router.use((_request, response) => {
    response.status(404).type("text").send("There is nothing here.\n");
  });
  router.use(failed);
  return router;
}

const neverKept: express.RequestHandler = (_request, response, next) => {
  response.set("Cache-Control", "no-store");
  next();
};

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
  // An outbox may come from another copy of the library, whose class is another one.
  if ((error as Error).name === "HookproofError") {
    const { code, message } = error as HookproofError;
    return { status: 503, code, message };
  }
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
  return { status: 503, code: "INSPECTOR_FAILED", message: "The server could not do this." };
}
