// What a list is narrowed to.
export interface Filter {
  readonly text: string;
  /** None means all. */
  readonly statuses: readonly number[];
  /** A listener or a client; empty means all. */
  readonly source: string;
  /** From when, and until when, in milliseconds since the epoch; absent means ever. */
  readonly span?: TimeSpan | undefined;
}

/** A stretch of time: its first millisecond, and the first one after it. */
export interface TimeSpan {
  readonly from: number;
  readonly to: number;
}

export const NO_FILTER: Filter = { text: "", statuses: [], source: "", span: undefined };

/** Whether a filter leaves anything out. */
export function isNarrowed({ text, statuses, source, span }: Filter): boolean {
  return text.trim() !== "" || statuses.length > 0 || source !== "" || span !== undefined;
}

/** Rows that came within the chosen time. */
export function ofSpan<Row extends { readonly at: number }>(
  rows: readonly Row[],
  { span }: Filter,
): readonly Row[] {
  return span === undefined ? rows : rows.filter(({ at }) => at >= span.from && at < span.to);
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
