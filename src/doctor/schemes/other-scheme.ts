// The names of the schemes besides the default one, and what a table has for one of them.

/** The name of a scheme besides the default one. */
export type OtherScheme = "standard-webhooks" | "http-signature" | "security-event-token";

/**
 * What a table has under the name of a scheme.
 *
 * @throws {TypeError} for a scheme that it does not know
 */
export function entryOf<Table extends Readonly<Record<OtherScheme, unknown>>, Name extends OtherScheme>(
  table: Table,
  scheme: Name,
): Table[Name] {
  if (!Object.hasOwn(table, scheme))
    throw new TypeError(`scheme must be one of ${Object.keys(table).join(", ")}, or left out`);
  return table[scheme];
}
