import type { Flag } from "./command.js";

/** The flag of commands that show a table: its rows. */
export const ROWS_FLAG = {
  limit: {
    type: "number",
    value: "<n>",
    range: [1, 1_000_000],
    default: 50,
    describe: "at most this many",
  },
} as const satisfies Record<string, Flag>;

/** Lines of a table: columns as wide as their widest cell, numbers to the right. */
export function tableLines(
  head: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): string[] {
  const cells = [head, ...rows].map((row) => row.map(String));
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const isNumber = head.map((_, column) => rows.some((row) => typeof row[column] === "number"));
  return cells.map((row) =>
    row
      .map((cell, column) =>
        isNumber[column] ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join("  ")
      .trimEnd(),
  );
}
