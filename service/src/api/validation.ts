import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { openApiDocument, type ParameterObject, type Schema } from "../openapi-document.js";
import { ApiError, type FieldViolation } from "./errors.js";
import type { components } from "./openapi.js";

/** The schemas of the OpenAPI document, as types. */
export type Schemas = components["schemas"];

const DOCUMENT = "openapi";
// The document is held against OpenAPI by a test; to do that at every start would take longer than all the rest.
const options = {
  strict: false,
  strictNumbers: true,
  ownProperties: true,
  meta: false,
  validateSchema: false,
} as const;
const checking = prepared(new Ajv2020(options));
const completing = prepared(new Ajv2020({ ...options, useDefaults: true }));
const compiled = new WeakMap<Schema, ValidateFunction>();
const completers = new Map<string, ValidateFunction>();

function prepared(ajv: Ajv2020): Ajv2020 {
  // The package is CommonJS, and its types say otherwise to an ES module.
  (formats as unknown as (ajv: Ajv2020) => void)(ajv);
  const { validate } = ajv.formats["date-time"] as { validate: (text: string) => boolean };
  // RFC 3339 has leap seconds, which no clock here can show: a secret that ends in one would never end.
  ajv.addFormat("date-time", (text: string) => validate(text) && !Number.isNaN(Date.parse(text)));
  ajv.addSchema({ $id: DOCUMENT, components: openApiDocument.components });
  return ajv;
}

/** What a value breaks of a schema of the document; empty if nothing. Validators are compiled when first used. */
export function violationsOf(value: unknown, schema: Schema, place: string): FieldViolation[] {
  let validate = compiled.get(schema);
  if (!validate) {
    validate = checking.compile(withinDocument(schema));
    compiled.set(schema, validate);
  }
  return validate(value) ? [] : (validate.errors ?? []).map((error) => violation(error, place));
}

/**
 * A resource with what it lacks: every scalar and list its schema has a default for. The value itself is completed.
 *
 * @throws {ApiError} 400 for a value that does not fit
 */
export function completed<Name extends keyof Schemas & string>(name: Name, value: object): Schemas[Name] {
  let complete = completers.get(name);
  if (!complete) {
    complete = completing.compile({ $ref: `${DOCUMENT}#/components/schemas/${name}` });
    completers.set(name, complete);
  }
  if (!complete(value)) throw badRequest((complete.errors ?? []).map((error) => violation(error, name)));
  return value as Schemas[Name];
}

/** 400 for what a request breaks. */
export function badRequest(violations: readonly FieldViolation[]): ApiError {
  const [first] = violations;
  return new ApiError(
    "invalid-argument",
    first ? `${first.field} ${first.description}` : "The request is not valid.",
    violations,
  );
}

/** Parameters by name, numbers as numbers. A number that is none stays text, and its schema refuses it. */
export function parameterValues(
  parameters: readonly ParameterObject[],
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const { name, schema } of parameters) {
    const text = given[name];
    if (text === undefined) continue;
    values[name] = isWholeNumber(schema) && /^-?[0-9]+$/.test(String(text)) ? Number(text) : text;
  }
  return values;
}

function isWholeNumber(schema: Schema): boolean {
  return schema.$ref === "#/components/schemas/PageSize" || schema.type === "integer";
}

/** References in the document are relative to the document, which the validator knows by a name. */
function withinDocument(schema: Schema): Schema {
  return JSON.parse(
    JSON.stringify(schema).replaceAll('"#/components/', `"${DOCUMENT}#/components/`),
  ) as Schema;
}

/** `/profileFilters/0/values` as `profileFilters[0].values`. */
function violation({ instancePath, message, keyword, params }: ErrorObject, place: string): FieldViolation {
  const missing = keyword === "required" ? [String(params.missingProperty)] : [];
  const unknown = keyword === "additionalProperties" ? [String(params.additionalProperty)] : [];
  const steps = [...instancePath.split("/").slice(1), ...missing, ...unknown];
  const path = steps.reduce((before, step) => {
    if (/^[0-9]+$/.test(step)) return `${before}[${step}]`;
    return before ? `${before}.${step}` : step;
  }, "");
  if (missing.length > 0) return { field: path, description: "is missing" };
  if (unknown.length > 0) return { field: path, description: "is not known here" };
  return { field: path || place, description: message ?? "is not valid" };
}
