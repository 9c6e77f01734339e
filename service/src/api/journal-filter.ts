// Refuses a search of the journal that no request can match.
import { METHODS } from "node:http";
import { didYouMean } from "../server/options.js";
import { ApiError } from "./errors.js";
import { camelCase } from "./lenient-body.js";
import { OPERATIONS, type Operation } from "./operations.js";
import { unknownMembers } from "./unknown-names.js";
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
  status,
  query = {},
  body,
}: Schemas["SearchJournalRequest"]): void {
  const kept = OPERATIONS.filter(({ isControl }) => !isControl);
  const named = kept.filter(({ id }) => operation === undefined || id === operation);
  // What is sent to a webhook's path is kept whatever its method and query: a sender may get both wrong.
  const isWebhook = (one: Operation) => one.id === "receiveWebhook";
  const ids = kept.map(({ id }) => id);
  if (operation !== undefined) refuseUnless("operation", operation, named.length > 0, ids);
  const methods = named.some(isWebhook) ? METHODS : [...new Set(named.flatMap(methodsOf))];
  if (method !== undefined) refuseUnless("method", method, methods.includes(method), methods);
  if (path !== undefined)
    refuseUnless(
      "path",
      path,
      named.some((one) => fits(one.path, path)),
      [],
    );
  // 0 is a connection that was cut.
  if (status !== undefined)
    refuseUnless("status", `${status}`, status === 0 || (status >= 100 && status < 600), []);
  const names = named.flatMap(({ queryParameters }) => queryParameters.map(({ name }) => name));
  const knownNames = new Set(names.map(camelCase));
  const isAnyQuery = kept.some(
    (one) => isWebhook(one) && (one.id === operation || (path !== undefined && fits(one.path, path))),
  );
  for (const name of isAnyQuery ? [] : Object.keys(query))
    refuseUnless("query name", name, knownNames.has(camelCase(name)), names);
  const schemas = named.map(({ bodySchema }) => bodySchema).filter((schema) => schema !== undefined);
  for (const { name, known } of unknownMembers(body, schemas))
    refuseUnless("body member", name, false, known);
}

/** A server answers HEAD where it answers GET. */
function methodsOf({ method }: Operation): string[] {
  return method === "get" ? ["GET", "HEAD"] : [method.toUpperCase()];
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
