// Puts requests that were refused for one cause into one line of the list.

/** A line of a list: a row, or the head of several that have one cause. */
export interface Line<Row> {
  /** What is told apart as lines come and go. */
  readonly id: string;
  /** Of a head the newest. */
  readonly row: Row;
  /** A head: all of one cause, newest first, and whether they stand below it. */
  readonly group?: { readonly rows: readonly Row[]; readonly isOpen: boolean };
  /** It stands below its head. */
  readonly isInside?: true;
}

interface Numbered {
  readonly n: number;
}

/** The lines of rows: those of one cause are one line in the place of the newest, until it is opened. */
export function linesOf<Row extends Numbered>(
  rows: readonly Row[],
  causeOf: (row: Row) => string | undefined,
  open: ReadonlySet<string>,
): readonly Line<Row>[] {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const cause = causeOf(row);
    if (cause === undefined) continue;
    const group = groups.get(cause);
    if (group) group.push(row);
    else groups.set(cause, [row]);
  }
  return rows.flatMap((row): Line<Row>[] => {
    const cause = causeOf(row);
    const group = cause === undefined ? undefined : groups.get(cause);
    if (cause === undefined || !group || group.length === 1) return [lineOf(row)];
    if (group[0] !== row) return [];
    const isOpen = open.has(cause);
    const head: Line<Row> = { id: `cause ${cause}`, row, group: { rows: group, isOpen } };
    return isOpen ? [head, ...group.map((one) => ({ ...lineOf(one), isInside: true as const }))] : [head];
  });
}

function lineOf<Row extends Numbered>(row: Row): Line<Row> {
  return { id: String(row.n), row };
}

/** The line that has a request: its own, or the head that it is folded into; -1 for none. */
export function placeOf(lines: readonly Line<Numbered>[], n: number | undefined): number {
  if (n === undefined) return -1;
  return lines.findIndex(({ row, group }) =>
    group ? !group.isOpen && group.rows.some((one) => one.n === n) : row.n === n,
  );
}

/** The request so many lines from the chosen one; from nowhere, the first step down leads to the first line. */
export function steppedFrom(
  lines: readonly Line<Numbered>[],
  chosen: number | undefined,
  by: number,
): number | undefined {
  const steps = lines.filter(({ group }) => !group?.isOpen);
  const at = placeOf(steps, chosen);
  return steps[Math.max(0, Math.min(steps.length - 1, at + by))]?.row.n;
}
