// Turns whatever was thrown into an answer of the API.
import type { ErrorRequestHandler, Request, RequestHandler, Response } from "express";
import { loggedError } from "../server/log.js";
import { bearerChallenge, sendJson } from "../server/send-json.js";
import type { ServiceContext } from "../server/service-context.js";
import { ApiError, statusBody } from "./errors.js";
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
