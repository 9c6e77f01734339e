// What a list is narrowed to.
/** What a list is narrowed to. */
export interface Filter {
  readonly text: string;
  /** None means all. */
  readonly statuses: readonly number[];
  /** A listener or a client; empty means all. */
  readonly source: string;
}

export const NO_FILTER: Filter = { text: "", statuses: [], source: "" };

/** Whether a filter leaves anything out. */
export function isNarrowed({ text, statuses, source }: Filter): boolean {
  return text.trim() !== "" || statuses.length > 0 || source !== "";
}

/** Rows of the chosen listener or client. */
export function ofSource<Row>(
  rows: readonly Row[],
  { source }: Filter,
  sourceOf: (row: Row) => string | undefined,
): readonly Row[] {
  return source === "" ? rows : rows.filter((row) => sourceOf(row) === source);
}

/** Rows with one of the chosen statuses. */
export function ofStatus<Row extends { readonly status: number }>(
  rows: readonly Row[],
  { statuses }: Filter,
): readonly Row[] {
  return statuses.length === 0 ? rows : rows.filter(({ status }) => statuses.includes(status));
}
