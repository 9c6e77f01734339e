// Refuses a search of the journal that no request can match.
import { didYouMean } from "../server/options.js";
import { ApiError } from "./errors.js";
import { camelCase, propertiesOf } from "./lenient-body.js";
import { resolved, type Schema } from "./openapi-document.js";
import { OPERATIONS } from "./operations.js";
import type { Schemas } from "./validation.js";

/**
 * A misspelt name would make a search that finds nothing, and so an assertion that holds for ever.
 *
 * @throws {ApiError} invalid-argument
 */
export function refuseMisspelt({
  operation,
  method,
  path,
  query = {},
  body,
}: Schemas["SearchJournalRequest"]): void {
  const kept = OPERATIONS.filter(({ isControl }) => !isControl);
  const named = kept.filter(({ id }) => operation === undefined || id === operation);
  const ids = kept.map(({ id }) => id);
  if (operation !== undefined) refuseUnless("operation", operation, named.length > 0, ids);
  const methods = [...new Set(named.map((one) => one.method.toUpperCase()))];
  if (method !== undefined) refuseUnless("method", method, methods.includes(method), methods);
  if (path !== undefined)
    refuseUnless(
      "path",
      path,
      named.some((one) => fits(one.path, path)),
      [],
    );
  const names = named.flatMap(({ queryParameters }) => queryParameters.map(({ name }) => name));
  const known = new Set(names.map(camelCase));
  for (const name of Object.keys(query)) refuseUnless("query name", name, known.has(camelCase(name)), names);
  refuseUnknownMembers(
    body,
    named.map(({ bodySchema }) => bodySchema).filter((schema) => schema !== undefined),
  );
}

/** A member that none of the schemas has. One that is free in its form, or that is unknown, may have any. */
function refuseUnknownMembers(wanted: unknown, schemas: readonly Schema[]): void {
  if (typeof wanted !== "object" || wanted === null || schemas.length === 0) return;
  const forms = schemas.map(
    (schema) => resolved(schema) as { items?: Schema; additionalProperties?: unknown },
  );
  if (Array.isArray(wanted)) {
    const items = forms.map((form) => form.items);
    if (items.every((one) => one !== undefined)) for (const one of wanted) refuseUnknownMembers(one, items);
    return;
  }
  const all = schemas.map(propertiesOf);
  if (all.includes(undefined) || forms.some(({ additionalProperties }) => additionalProperties)) return;
  const names = all.flatMap((properties) => Object.keys(properties ?? {}));
  for (const [given, part] of Object.entries(wanted)) {
    const name = names.includes(given) ? given : camelCase(given);
    refuseUnless("body member", given, names.includes(name), names);
    refuseUnknownMembers(
      part,
      all.map((properties) => properties?.[name]).filter((schema) => schema !== undefined),
    );
  }
}

function refuseUnless(what: string, given: string, isKnown: boolean, known: readonly string[]): void {
  if (isKnown) return;
  const words = `No request can have the ${what} ${JSON.stringify(given)}${didYouMean(given, known)}`;
  throw new ApiError("invalid-argument", words.endsWith("?") ? words : `${words}.`);
}

/** Whether a path is one of a template such as `/api/v1/auth-configs/{id}`. */
function fits(template: string, path: string): boolean {
  const [wanted, given] = [template.split("/"), path.split("/")];
  return (
    wanted.length === given.length &&
    wanted.every((part, at) => (part.startsWith("{") ? given[at] !== "" : part === given[at]))
  );
}
