import type { SchemeMistake } from "../../schemes/scheme.js";

/** A row of a scheme's table: a mistake that a request shows by itself. */
export interface MistakeRow<Facts> extends SchemeMistake {
  /** Whether it was made; or a sentence with what was seen, which then stands for `message`. */
  find(facts: Facts): boolean | string | undefined;
}

/** The mistakes of a table that were made, in the table's order. */
export function mistakesMade<Facts>(
  rows: readonly MistakeRow<Facts>[],
  facts: Facts,
): readonly SchemeMistake[] {
  return rows.flatMap((row) => {
    const seen = row.find(facts);
    if (seen === undefined || seen === false) return [];
    return [{ ...inWords(row), ...(typeof seen === "string" ? { message: seen } : {}) }];
  });
}

/** A mistake without the functions that find it. */
export function inWords({ id, title, message, fix }: SchemeMistake): SchemeMistake {
  return { id, title, message, fix };
}

/** The mistakes of a catalogue: each id once. */
export function catalogueOf(...tables: readonly (readonly SchemeMistake[])[]): readonly SchemeMistake[] {
  const byId = new Map<string, SchemeMistake>();
  for (const mistake of tables.flat()) if (!byId.has(mistake.id)) byId.set(mistake.id, inWords(mistake));
  return [...byId.values()];
}
