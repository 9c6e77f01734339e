import express, { type Request, type Response, type Router } from "express";
import { callerOf } from "../auth/bearer.js";
import { ServiceFault } from "../log.js";
import type { ServiceContext } from "../service-context.js";
import { sendJson } from "./error-answers.js";
import { ApiError } from "./errors.js";
import type { ApiRequest, Handler, Handlers } from "./handlers.js";
import { OPERATIONS, type Operation, type OperationId } from "./operations.js";
import { readJson } from "./request-body.js";
import { badRequest, parameterValues, violationsOf } from "./validation.js";

/** An Express router with every operation that has a handler; the rest of its paths' methods get 405. */
export function operationsRouter(handlers: Partial<Handlers>, context: ServiceContext): Router {
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

async function answer(
  operation: Operation,
  handler: Handler<OperationId>,
  context: ServiceContext,
  req: Request,
  res: Response,
): Promise<void> {
  res.locals.operation = operation;
  if (await context.faults.answered(operation.id, req, res)) return;
  const caller = await callerOf(req.headers.authorization, context);
  if (operation.role !== undefined && operation.role !== caller.role) {
    throw new ApiError("permission-denied", `This needs the role ${operation.role}.`);
  }
  const request = {
    path: checked(operation.pathParameters, req.params),
    query: operation.queryParameters.length > 0 ? checked(operation.queryParameters, req.query) : {},
    body: operation.bodySchema === undefined ? undefined : await readJson(req),
    caller,
    clientIp: req.socket.remoteAddress ?? "",
  };
  if (operation.bodySchema !== undefined) refuse(violationsOf(request.body, operation.bodySchema, "body"));
  const body = await handler(request as unknown as ApiRequest<OperationId>);
  if (context.validateAnswers && operation.answerSchema !== undefined) {
    const [wrong] = violationsOf(body, operation.answerSchema, "answer");
    if (wrong)
      throw new ServiceFault(`${operation.id} would answer with ${wrong.field}, which ${wrong.description}`);
  }
  sendJson(200, body, req, res);
}

function checked(
  parameters: Operation["pathParameters"],
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const values = parameterValues(parameters, given);
  refuse(
    parameters.flatMap(({ name, schema }) =>
      name in values ? violationsOf(values[name], schema, name) : [],
    ),
  );
  return values;
}

function refuse(violations: ReturnType<typeof violationsOf>): void {
  if (violations.length > 0) throw badRequest(violations);
}
