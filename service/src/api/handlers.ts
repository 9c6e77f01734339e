// What a handler of an operation is given and gives back.
import type { Principal } from "../auth/principal.js";
import type { operations } from "./openapi.js";
import type { OperationId } from "./operations.js";

type Parameters<Id extends OperationId, Place extends "path" | "query"> = operations[Id] extends {
  parameters: { [Key in Place]?: infer Values };
}
  ? NonNullable<Values>
  : Record<string, never>;

type Body<Id extends OperationId> = operations[Id] extends {
  requestBody?: { content: { "application/json": infer Value } };
}
  ? Value
  : undefined;

type Answer<Id extends OperationId> = operations[Id] extends {
  responses: { 200: { content: { "application/json": infer Value } } };
}
  ? Value
  : never;

/** A request that has been authenticated and fits its schema. */
export interface ApiRequest<Id extends OperationId> {
  readonly path: Parameters<Id, "path">;
  readonly query: Parameters<Id, "query">;
  readonly body: Body<Id>;
  readonly caller: Principal;
  /** The address the request came from. */
  readonly clientIp: string;
}

/** What answers an operation: the body of a 200, or an `ApiError` thrown. */
export type Handler<Id extends OperationId> = (request: ApiRequest<Id>) => Answer<Id> | Promise<Answer<Id>>;

/** Operations that read their body in another way, and are mounted by themselves. */
type OwnRoutes = "createToken" | "receiveWebhook" | "uploadSecretFile";

/** A handler for every operation of the document. */
export type Handlers = { readonly [Id in Exclude<OperationId, OwnRoutes>]: Handler<Id> };
