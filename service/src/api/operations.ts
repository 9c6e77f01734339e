// Every operation of the OpenAPI document, ready to be mounted.
import type { operations } from "./openapi.js";
import {
  type OperationObject,
  openApiDocument,
  type ParameterObject,
  resolved,
  type Schema,
} from "./openapi-document.js";

/** The name of an operation in the OpenAPI document. */
export type OperationId = keyof operations;

/** An operation of the OpenAPI document, ready to be mounted. */
export interface Operation {
  readonly id: OperationId;
  readonly method: "get" | "post" | "put" | "patch" | "delete";
  /** As the document has it, `/api/v1/auth-configs/{id}`. */
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  /** Of the local service only: it takes the control token as well. */
  readonly isLocal: boolean;
  /** Of the remote control: no fault hits it, and the journal does not hold it. */
  readonly isControl: boolean;
  /** The role the caller must have; without it any role will do. */
  readonly role: string | undefined;
  readonly pathParameters: readonly ParameterObject[];
  readonly queryParameters: readonly ParameterObject[];
  /** Absent where there is no body. */
  readonly bodySchema: Schema | undefined;
  readonly answerSchema: Schema | undefined;
}

const METHODS = ["get", "post", "put", "patch", "delete"] as const;

/** Every operation, in the order of the document. */
export const OPERATIONS: readonly Operation[] = Object.entries(openApiDocument.paths).flatMap(
  ([path, item]) =>
    METHODS.flatMap((method) => {
      const found = item[method];
      return found ? [operationOf(path, method, found, item.parameters ?? [])] : [];
    }),
);

function operationOf(
  path: string,
  method: Operation["method"],
  found: OperationObject,
  shared: readonly unknown[],
): Operation {
  const parameters = [...shared, ...(found.parameters ?? [])].map((one) => resolved(one as ParameterObject));
  const ok = resolved(found.responses["200"] ?? {});
  return {
    id: found.operationId as OperationId,
    method,
    path,
    summary: found.summary ?? "",
    description: found.description ?? "",
    isLocal: found["x-local"] === true,
    isControl: found["x-control"] === true,
    role: found["x-role"],
    pathParameters: parameters.filter((one) => one.in === "path"),
    queryParameters: parameters.filter((one) => one.in === "query"),
    bodySchema: found.requestBody?.content["application/json"]?.schema,
    answerSchema: ok.content?.["application/json"]?.schema,
  };
}

/** The operation of a name. */
export function operation(id: OperationId): Operation {
  const found = OPERATIONS.find((one) => one.id === id);
  if (!found) throw new RangeError(`there is no operation ${id}`);
  return found;
}

/** The names of all operations. */
export const OPERATION_IDS: readonly OperationId[] = OPERATIONS.map(({ id }) => id);

/** The names of the operations that can go wrong on purpose: all but those of the remote control. */
export const FAULT_OPERATION_IDS: readonly OperationId[] = OPERATIONS.filter(
  ({ isControl }) => !isControl,
).map(({ id }) => id);
