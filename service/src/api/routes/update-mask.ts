// Reads which fields an update changes.
import { invalidField } from "../errors.js";

/**
 * The fields an update changes: those its mask names, in camelCase or snake_case, with or without the resource's
 * own name in front; `*` is all of them, and an empty mask those that are in the body.
 *
 * @throws {ApiError} 400 for a path that is not known, or must not change
 */
export function maskedFields<Field extends string>(
  mask: string,
  fields: readonly Field[],
  resource: string,
  given: Partial<Record<Field, unknown>>,
): Set<Field> {
  if (mask.trim() === "") return new Set(fields.filter((field) => given[field] !== undefined));
  const named = new Set<Field>();
  for (const path of mask.split(",")) {
    const name = camelCase(path.trim());
    const bare = name.startsWith(`${resource}.`) ? name.slice(resource.length + 1) : name;
    if (bare === "*") return new Set(fields);
    const field = fields.find((one) => one === bare);
    if (!field) {
      throw invalidField(
        "updateMask",
        `has a path that cannot be updated: ${JSON.stringify(path.trim().slice(0, 100))}`,
      );
    }
    named.add(field);
  }
  return named;
}

function camelCase(path: string): string {
  return path.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
