import type { ErrorRequestHandler, Request, RequestHandler, Response } from "express";
import { sendAnswer } from "hookproof/node";
import { loggedError } from "../server/log.js";
import type { ServiceContext } from "../server/service-context.js";
import { ApiError, statusBody } from "./errors.js";

/** The protection space of the service (RFC 9110 section 11.5): all of it. */
export const REALM = "access-governance";

/** The answer to a path that is not there. */
export const answerUnknownPath: RequestHandler = () => {
  throw new ApiError("not-found", "There is nothing at this path.");
};

/** Turns whatever was thrown into an answer. Only what nobody foresaw is a 500, and that is logged. */
export function errorAnswers(context: Pick<ServiceContext, "log">): ErrorRequestHandler {
  // Express names four parameters to tell an error handler from others.
  return (error: unknown, req, res, _next) => {
    const known = asApiError(error);
    if (known.kind === "internal") {
      context.log.error({ error: loggedError(error), requestId: res.locals.requestId }, "a request failed");
    }
    if (res.headersSent) {
      res.destroy();
      return;
    }
    answerError(known, req, res);
  };
}

/** Sends JSON, a text as it is; what is left of the request's body is not waited for. */
export function sendJson(status: number, body: object | string, req: Request, res: Response): void {
  const headers = [["Content-Type", "application/json; charset=utf-8"]] as const;
  const text = typeof body === "string" ? body : JSON.stringify(body);
  res.locals.answer = body;
  // RFC 9110 sections 15.3.5 and 15.4.5: neither has content.
  sendAnswer({ status, headers, body: status === 204 || status === 304 ? "" : text }, req, res);
}

/** What a caller is asked to prove itself with (RFC 6750 section 3). */
export function bearerChallenge(error: ApiError["challenge"]): string {
  return `Bearer realm="${REALM}"${error === undefined ? "" : `, error="${error}"`}`;
}

/** Sends an error as google.rpc.Status. */
function answerError(error: ApiError, req: Request, res: Response): void {
  if (error.kind === "unauthenticated") res.set("WWW-Authenticate", bearerChallenge(error.challenge));
  sendJson(error.status, statusBody(error, res.locals.requestId), req, res);
}

/** An error of Express itself carries a status: a path it cannot decode. */
function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const { status } = (error ?? {}) as { status?: unknown };
  return status === 400
    ? new ApiError("invalid-argument", "The path cannot be decoded.")
    : new ApiError("internal", "Something went wrong here.");
}
