// Refuses texts and depths that JSON allows and nothing else does.
import type { FieldViolation } from "./errors.js";

/**
 * The first text or name with half of a surrogate pair, by its path. JSON can write one (`"\ud800"`), UTF-8 cannot:
 * stored or encrypted it would silently become another character. One is enough: a body holds a hundred thousand of
 * them, and the path of each may be as long as the body.
 */
export function halfPairs(value: unknown, place: string): FieldViolation[] {
  // A list of what is left to look at, and no recursion: a body may be nested as deep as it is long.
  const left: [field: string, value: unknown][] = [["", value]];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const [field, part] = next;
    if (typeof part === "string" && !part.isWellFormed()) return halfAt(field, place);
    if (Array.isArray(part))
      for (const [index, item] of part.entries()) left.push([`${field}[${index}]`, item]);
    else if (typeof part === "object" && part !== null)
      for (const [name, item] of Object.entries(part)) {
        const path = field === "" ? name : `${field}.${name}`;
        if (!name.isWellFormed()) return halfAt(path, place);
        left.push([path, item]);
      }
  }
  return [];
}

function halfAt(field: string, place: string): FieldViolation[] {
  return [{ field: field.toWellFormed() || place, description: "has half of a surrogate pair" }];
}

/** Whether a value is nested deeper than that, without a call for each level. */
export function isDeeper(levels: number, value: unknown): boolean {
  const inside = (values: unknown[]) => values.filter((one) => typeof one === "object" && one !== null);
  let level = inside([value]) as object[];
  for (let depth = 0; depth < levels && level.length > 0; depth++)
    level = level.flatMap((one) => inside(Object.values(one)) as object[]);
  return level.length > 0;
}
