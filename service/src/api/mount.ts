// Mounts every operation of the document that has a handler.
import express, { type Request, type Response, type Router } from "express";
import { callerOf } from "../auth/bearer.js";
import type { Principal } from "../auth/principal.js";
import { ServiceFault } from "../server/log.js";
import { sendJson } from "../server/send-json.js";
import type { ServiceContext } from "../server/service-context.js";
import { ApiError } from "./errors.js";
import type { ApiRequest, Handler, Handlers } from "./handlers.js";
import { lenientBody } from "./lenient-body.js";
import { OPERATIONS, type Operation, type OperationId } from "./operations.js";
import { readJson } from "./request-body.js";
import { unknownNames } from "./unknown-names.js";
import { pathValues, queryValues, refuse, violationsOf } from "./validation.js";

/** What decides who may make a request. */
export type AdmissionContext = Pick<ServiceContext, "faults" | "tokens" | "storage" | "controlToken">;

/** What an answer needs beside its handler. */
type AnswerContext = AdmissionContext &
  Pick<ServiceContext, "unknownFields" | "wireNames" | "validateAnswers">;

/** An Express router with every operation that has a handler; the rest of its paths' methods get 405. */
export function operationsRouter(handlers: Partial<Handlers>, context: AnswerContext): Router {
  const router = express.Router({ caseSensitive: true, strict: true });
  const mounted = OPERATIONS.filter(({ id }) => id in handlers);
  for (const operation of mounted) {
    const handler = handlers[operation.id as keyof Handlers] as Handler<OperationId>;
    router[operation.method](expressPath(operation.path), (req, res) =>
      answer(operation, handler, context, req, res),
    );
  }
  for (const path of new Set(mounted.map((one) => one.path))) {
    const methods = mounted.filter((one) => one.path === path).map(({ method }) => method.toUpperCase());
    const allowed = methods.includes("GET") ? [...methods, "HEAD"] : methods;
    router.all(expressPath(path), (_req, res) => {
      res.set("Allow", allowed.join(", "));
      throw new ApiError("method-not-allowed", `This path takes ${allowed.join(", ")}.`);
    });
  }
  return router;
}

/** `/apps/{app_id}` as Express writes it, `/apps/:app_id`. */
function expressPath(path: string): string {
  return path.replace(/\{([a-z_]+)\}/g, ":$1");
}

/**
 * Who makes a request for an operation; undefined if it has been answered by a fault.
 *
 * @throws {ApiError} 401, 403
 */
export async function admitted(
  operation: Operation,
  context: AdmissionContext,
  req: Request,
  res: Response,
): Promise<Principal | undefined> {
  res.locals.operation = operation;
  if (!operation.isControl && (await context.faults.answered(operation.id, req, res))) return undefined;
  const caller = await callerOf(req.headers.authorization, context, operation);
  res.locals.clientId = caller.clientId;
  if (operation.role !== undefined && operation.role !== caller.role) {
    throw new ApiError("permission-denied", `This needs the role ${operation.role}.`);
  }
  return caller;
}

async function answer(
  operation: Operation,
  handler: Handler<OperationId>,
  context: AnswerContext,
  req: Request,
  res: Response,
): Promise<void> {
  const caller = await admitted(operation, context, req, res);
  if (!caller) return;
  const request = {
    path: pathValues(operation.pathParameters, req.params),
    query: queryValues(operation.queryParameters, req.query),
    body: await bodyOf(req, operation, context),
    caller,
    clientIp: req.socket.remoteAddress ?? "",
  };
  res.locals.body = request.body;
  if (context.unknownFields === "refuse") refuse(unknownNames(operation, req.query, request.body));
  if (operation.bodySchema !== undefined) refuse(violationsOf(request.body, operation.bodySchema, "body"));
  const body = await handler(request as unknown as ApiRequest<OperationId>);
  if (context.validateAnswers && operation.answerSchema !== undefined) {
    const [wrong] = violationsOf(body, operation.answerSchema, "answer");
    if (wrong)
      throw new ServiceFault(`${operation.id} would answer with ${wrong.field}, which ${wrong.description}`);
  }
  sendJson(200, context.wireNames.outgoing(body, operation.answerSchema) as object, req, res);
}

async function bodyOf(
  req: Request,
  { bodySchema: schema, method }: Operation,
  { unknownFields, wireNames }: Pick<AnswerContext, "unknownFields" | "wireNames">,
): Promise<unknown> {
  if (schema !== undefined) return lenientBody(wireNames.incoming(await readJson(req), schema), schema);
  // What an operation without a body is sent would change nothing: it is looked at for names that are not known.
  return unknownFields === "refuse" && method !== "get" ? readJson(req) : undefined;
}
