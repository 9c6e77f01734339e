// Filters rows and counts what is left.
import { useMemo, useState } from "preact/hooks";
import { type Filter, NO_FILTER, ofSource, ofSpan, ofStatus } from "./filter.js";
import { useSearch } from "./use-search.js";

/** What is left of rows when they are filtered. */
export interface Filtered<Row> {
  readonly filter: Filter;
  setFilter(change: Partial<Filter>): void;
  /** Before time and statuses are filtered. */
  readonly ofOne: readonly Row[];
  /** Before statuses are filtered. */
  readonly ofTime: readonly Row[];
  readonly shown: readonly Row[];
}

/** Filters rows: by a text that `find` looks for, by where they come from, by time, and by their statuses. */
export function useFiltered<Row extends { readonly status: number; readonly at: number }>(
  rows: readonly Row[],
  find: (q: string) => Promise<readonly Row[]>,
  sourceOf: (row: Row) => string | undefined,
): Filtered<Row> {
  const [filter, setWhole] = useState<Filter>(NO_FILTER);
  const found = useSearch(find, filter.text, rows) ?? rows;
  const ofOne = useMemo(() => ofSource(found, filter, sourceOf), [found, filter]);
  const ofTime = useMemo(() => ofSpan(ofOne, filter), [ofOne, filter]);
  const shown = useMemo(() => ofStatus(ofTime, filter), [ofTime, filter]);
  return { filter, setFilter: (change) => setWhole({ ...filter, ...change }), ofOne, ofTime, shown };
}
