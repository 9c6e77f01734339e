// Finds users by what their documents say.
import { openApiDocument } from "../api/openapi-document.js";

/** A condition on a user: one of the values must be that of the attribute. */
export interface UserFilter {
  /** A field of the user; or with `profile`, a key of the profile. */
  readonly attribute: string;
  readonly inProfile: boolean;
  readonly values: readonly string[];
}

/** Names of a user's fields. What a caller writes is part of a JSON path only if it is one of them. */
const FIELDS = new Set(Object.keys(openApiDocument.components.schemas.User?.properties ?? {}));

/** Lists match if one of their values does; booleans and numbers as JSON writes them. */
const AS_TEXT =
  "CASE v.type WHEN 'true' THEN 'true' WHEN 'false' THEN 'false' ELSE CAST(v.value AS TEXT) END";
const VALUES = "(SELECT value FROM json_each(?))";
const FIELD = `EXISTS (SELECT 1 FROM json_each(u.document, ?) v WHERE ${AS_TEXT} IN ${VALUES})`;
const PROFILE = `EXISTS (SELECT 1 FROM json_each(u.document, '$.profile') p,
  json_each(CASE p.type WHEN 'array' THEN p.value ELSE json_array(p.value) END) v
  WHERE p.key = ? AND CASE p.type WHEN 'true' THEN 'true' WHEN 'false' THEN 'false'
    ELSE CAST(v.value AS TEXT) END IN ${VALUES})`;

/** The filter of an attribute: a field of the user, such as `department`, or `profile.` and a key of the profile. */
export function userFilter(attribute: string, values: readonly string[]): UserFilter {
  const key = /^profile\.(.*)$/s.exec(attribute)?.[1];
  return { attribute: key ?? attribute, inProfile: key !== undefined, values };
}

/** Whether a user can have the attribute at all. */
export function isAttribute({ attribute, inProfile }: UserFilter): boolean {
  return inProfile || FIELDS.has(attribute);
}

/** The condition in SQL on a row `u` of `users`. It takes the two values of `filterValues`. */
export function filterSql({ inProfile }: UserFilter): string {
  return inProfile ? PROFILE : FIELD;
}

/** What `filterSql` is bound to. The attribute must be one: `isAttribute`. */
export function filterValues({ attribute, inProfile, values }: UserFilter): [string, string] {
  return [inProfile ? attribute : `$.${attribute}`, JSON.stringify(values)];
}
