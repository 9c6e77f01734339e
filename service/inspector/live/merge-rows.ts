// Puts new rows and new states of known ones into a list.
import { LIMITS } from "../../src/inspector/contract.js";

interface Numbered {
  readonly n: number;
}

/** Puts new rows, and new states of known ones, into a list that is newest first. */
export function mergeRows<Row extends Numbered>(
  rows: readonly Row[],
  incoming: readonly Row[],
): readonly Row[] {
  const newest = rows[0]?.n ?? 0;
  const fresh = new Map<number, Row>();
  const changed = new Map<number, Row>();
  for (const row of incoming) (row.n > newest ? fresh : changed).set(row.n, row);
  const kept = changed.size === 0 ? rows : rows.map((row) => changed.get(row.n) ?? row);
  const added = [...fresh.values()].sort((a, b) => b.n - a.n);
  return [...added, ...kept].slice(0, LIMITS.requests);
}

/** Adds older rows behind those that are there. */
export function appendRows<Row extends Numbered>(
  rows: readonly Row[],
  older: readonly Row[],
): readonly Row[] {
  const oldest = rows.at(-1)?.n ?? Number.POSITIVE_INFINITY;
  return [...rows, ...older.filter(({ n }) => n < oldest)];
}

/** Leaves out what the server does not keep any more. */
export function dropRows<Row extends Numbered>(rows: readonly Row[], upTo: number): readonly Row[] {
  const end = rows.findIndex(({ n }) => n <= upTo);
  return end < 0 ? rows : rows.slice(0, end);
}
