// Finds names in a request that its operation does not have.
import { didYouMean } from "../server/options.js";
import type { FieldViolation } from "./errors.js";
import { camelCase, propertiesOf } from "./lenient-body.js";
import { resolved, type Schema } from "./openapi-document.js";
import type { Operation } from "./operations.js";

/** What is done with a request that has a field or a query name that the document does not have. */
export type UnknownFields = "refuse" | "ignore";

/** A member that no schema has, and the names that they have in its place. */
interface UnknownMember {
  readonly path: string;
  readonly name: string;
  readonly known: readonly string[];
}

/** The schema of a body that an operation does not have. */
const NO_MEMBERS = { type: "object", properties: {} } as Schema;

/** The names of a query and a body that the operation does not have: what they were to change, they would not. */
export function unknownNames(operation: Operation, query: object, body: unknown): FieldViolation[] {
  const names = operation.queryParameters.map(({ name }) => name);
  const unknown = Object.keys(query).filter((name) => !names.includes(name));
  const members = unknownMembers(body, [operation.bodySchema ?? NO_MEMBERS]);
  return [
    ...unknown.map((name) => ({ field: name, description: isNotKnown(name, names) })),
    ...members.map(({ path, name, known }) => ({ field: path, description: isNotKnown(name, known) })),
  ];
}

/** What is said of a name that nothing here has: the nearest one that there is, where one is near. */
export function isNotKnown(name: string, known: readonly string[]): string {
  return `is not known here${didYouMean(name, known) || didYouMean(camelCase(name), known)}`;
}

/** Members that none of the schemas has, in either spelling. Where one of them is free in its form, any may stand. */
export function unknownMembers(value: unknown, schemas: readonly Schema[], place = ""): UnknownMember[] {
  if (typeof value !== "object" || value === null || schemas.length === 0) return [];
  const forms = schemas.map(
    (schema) => resolved(schema) as { items?: Schema; additionalProperties?: unknown },
  );
  if (Array.isArray(value)) {
    const items = forms.map((form) => form.items).filter((one) => one !== undefined);
    if (items.length < forms.length) return [];
    return value.flatMap((one, index) => unknownMembers(one, items, `${place}[${index}]`));
  }
  const all = schemas.map((schema) => propertiesOf(schema)).filter((properties) => properties !== undefined);
  if (all.length < schemas.length || forms.some(({ additionalProperties }) => additionalProperties))
    return [];
  const known = all.flatMap(Object.keys);
  return Object.entries(value).flatMap(([given, member]) => {
    const name = known.includes(given) ? given : camelCase(given);
    const path = place === "" ? given : `${place}.${given}`;
    if (!known.includes(name)) return [{ path, name: given, known }];
    const parts = all.flatMap((properties) => (Object.hasOwn(properties, name) ? [properties[name]] : []));
    return unknownMembers(member, parts as Schema[], path);
  });
}
