// The OpenAPI document as types and as data.
import { readFileSync } from "node:fs";
import { packageFile } from "../package-files.js";

/** A JSON Schema as OpenAPI 3.1 has it, as far as it is looked into here. */
export type Schema = Readonly<Record<string, unknown>> & { readonly type?: unknown };

/** A parameter of an operation. */
export interface ParameterObject {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required?: boolean;
  readonly schema: Schema;
}

/** What stands behind a method of a path. */
export interface OperationObject {
  readonly operationId: string;
  readonly summary?: string;
  readonly description?: string;
  readonly parameters?: readonly (ParameterObject | Reference)[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content } | Reference>>;
  readonly "x-role"?: string;
  readonly "x-local"?: boolean;
  readonly "x-control"?: boolean;
}

/** A reference to another place of the document. */
interface Reference {
  readonly $ref: string;
}

type Content = Readonly<Record<string, { readonly schema: Schema }>>;
type PathItem = Readonly<Record<string, OperationObject>> & {
  readonly parameters?: readonly (ParameterObject | Reference)[];
};

/** The OpenAPI document, as far as it is looked into here. */
export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const file = packageFile("openapi.json");

/** `service/openapi.yaml`, which routes, validation and types come from, in the form that is read fast. */
export const openApiDocument = JSON.parse(readFileSync(file, "utf8")) as OpenApiDocument;

/** The target of a reference within the document, or within another root; anything else as it is. */
export function resolved<Value extends object>(
  value: Value | Reference,
  root: object = openApiDocument,
): Value {
  if (!("$ref" in value)) return value;
  const steps = (value as Reference).$ref.slice("#/".length).split("/");
  return steps.reduce<unknown>((place, step) => (place as Record<string, unknown>)[step], root) as Value;
}
