// Checks values by the schemas of the document, and completes them.
import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { ApiError, type FieldViolation } from "./errors.js";
import { camelCase } from "./lenient-body.js";
import type { components } from "./openapi.js";
import { openApiDocument, type ParameterObject, type Schema } from "./openapi-document.js";
import { isNotKnown } from "./unknown-names.js";

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
  // An error has the schema it is of, and with it the names that are known there.
  verbose: true,
} as const;
let checking: Ajv2020 | undefined;
let completing: Ajv2020 | undefined;
const compiled = new Map<Schema, ValidateFunction>();
const completers = new Map<string, ValidateFunction>();

/** Made when something is checked first: a listener alone never does. */
function validator(more: { useDefaults?: boolean } = {}): Ajv2020 {
  const ajv = new Ajv2020({ ...options, ...more });
  addFormats.default(ajv);
  const { validate } = ajv.formats["date-time"] as { validate: (text: string) => boolean };
  // RFC 3339 has leap seconds, which no clock here can show: a secret that ends in one would never end.
  ajv.addFormat("date-time", (text: string) => validate(text) && !Number.isNaN(Date.parse(text)));
  ajv.addKeyword({
    keyword: "x-at-most-one",
    type: "object",
    schemaType: "array",
    validate: atMostOne,
    errors: true,
  });
  ajv.addSchema({ $id: DOCUMENT, components: openApiDocument.components });
  return ajv;
}

/** The members of a oneof of the specification: a schema lists them under `x-at-most-one`. */
function atMostOne(members: string[], value: Readonly<Record<string, unknown>>): boolean {
  const given = members.filter((name) => value[name] !== undefined);
  const message = `has ${given.join(" and ")}, and at most one of them may be set`;
  (atMostOne as { errors?: Partial<ErrorObject>[] }).errors = [
    { keyword: "x-at-most-one", message, params: {} },
  ];
  return given.length < 2;
}

/** What a value breaks of a schema of the document; empty if nothing. Validators are compiled when first used. */
export function violationsOf(value: unknown, schema: Schema, place: string): FieldViolation[] {
  let validate = compiled.get(schema);
  if (!validate) {
    checking ??= validator();
    validate = checking.compile(withinDocument(schema));
    compiled.set(schema, validate);
  }
  return validate(value) ? [] : (validate.errors ?? []).map((error) => violation(error, place));
}

/**
 * A resource with what it lacks, every scalar and list its schema has a default for, and with its times in UTC, as the
 * wire has them. The value itself is completed.
 *
 * @throws {ApiError} 400 for a value that does not fit
 */
export function completed<Name extends keyof Schemas & string>(name: Name, value: object): Schemas[Name] {
  let complete = completers.get(name);
  if (!complete) {
    completing ??= validator({ useDefaults: true });
    complete = completing.compile({ $ref: `${DOCUMENT}#/components/schemas/${name}` });
    completers.set(name, complete);
  }
  if (!complete(value)) throw badRequest((complete.errors ?? []).map((error) => violation(error, name)));
  return inUtc(value, openApiDocument.components.schemas[name]) as Schemas[Name];
}

function inUtc(resource: object, schema: Schema | undefined): object {
  const members = resource as Record<string, unknown>;
  const properties = (schema?.properties ?? {}) as Readonly<Record<string, { $ref?: string }>>;
  for (const [name, value] of Object.entries(members)) {
    if (properties[name]?.$ref !== "#/components/schemas/Timestamp") continue;
    const time = value as string;
    if (time.includes("T") && time.endsWith("Z")) continue;
    const text = new Date(time).toISOString();
    // An hour before the year 0 or behind 9999 has no text of its own.
    if (/^\d{4}-/.test(text)) members[name] = text;
  }
  return resource;
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

/**
 * Path parameters by their names.
 *
 * @throws {ApiError} 400 for a value that does not fit
 */
export function pathValues(
  parameters: readonly ParameterObject[],
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const values = parameters.map(({ name, schema }): [string, unknown] => [
    name,
    asSchema(given[name], schema),
  ]);
  refuse(parameters.flatMap(({ name, schema }, at) => violationsOf(values[at]?.[1], schema, name)));
  return Object.fromEntries(values);
}

/**
 * Query parameters by their names in camelCase: the document lists both spellings of each, `page_size` and `pageSize`,
 * and handlers read one.
 *
 * @throws {ApiError} 400 for a value that does not fit, and for two spellings that disagree
 */
export function queryValues(
  parameters: readonly ParameterObject[],
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const { name, schema, required } of parameters) {
    if (given[name] === undefined && required) throw badRequest([{ field: name, description: "is missing" }]);
    if (given[name] === undefined) continue;
    const value = asSchema(given[name], schema);
    refuse(violationsOf(value, schema, name));
    const spelling = camelCase(name);
    if (spelling in values && values[spelling] !== value)
      throw badRequest([{ field: spelling, description: "stands in two spellings that disagree" }]);
    values[spelling] = value;
  }
  return values;
}

/** @throws {ApiError} 400 if there is one */
export function refuse(violations: readonly FieldViolation[]): void {
  if (violations.length > 0) throw badRequest(violations);
}

/** A number as a number. One that is none stays text, and its schema refuses it. */
function asSchema(text: unknown, schema: Schema): unknown {
  return isWholeNumber(schema) && /^-?[0-9]+$/.test(String(text)) ? Number(text) : text;
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
function violation(
  { instancePath, message, keyword, params, parentSchema }: ErrorObject,
  place: string,
): FieldViolation {
  const missing = keyword === "required" ? [String(params.missingProperty)] : [];
  // Of fixtures: the document's own schemas take fields that they do not name.
  const unknown = keyword === "additionalProperties" ? [String(params.additionalProperty)] : [];
  const steps = [...instancePath.split("/").slice(1), ...missing, ...unknown];
  const path = steps.reduce((before, step) => {
    if (/^[0-9]+$/.test(step)) return `${before}[${step}]`;
    return before ? `${before}.${step}` : step;
  }, "");
  if (missing.length > 0) return { field: path, description: "is missing" };
  const [name] = unknown;
  if (name !== undefined)
    return { field: path, description: isNotKnown(name, Object.keys(parentSchema?.properties ?? {})) };
  return { field: path || place, description: message ?? "is not valid" };
}
