import type { RequestRow } from "../../src/inspector/contract.js";

/** What the list is narrowed to. */
export interface Filter {
  readonly text: string;
  /** None means all. */
  readonly statuses: readonly number[];
  /** Empty means all. */
  readonly listener: string;
}

export const NO_FILTER: Filter = { text: "", statuses: [], listener: "" };

/** Rows of the chosen listener. */
export function ofListener(rows: readonly RequestRow[], { listener }: Filter): readonly RequestRow[] {
  return listener === "" ? rows : rows.filter(({ listenerId }) => listenerId === listener);
}

/** Rows with one of the chosen statuses. */
export function ofStatus(rows: readonly RequestRow[], { statuses }: Filter): readonly RequestRow[] {
  return statuses.length === 0 ? rows : rows.filter(({ status }) => statuses.includes(status));
}
