// Reads and checks the filters of a query.

import { InspectorError } from "../page/inspector-error.js";
import { LIMITS, type RequestQuery } from "./contract.js";
import type { Entry } from "./entry.js";
import { hasStatus, isFound, searchOf } from "./search.js";

/** A query as it arrives: every value is text, or several. */
export type QueryText = Readonly<Record<string, unknown>>;

/** Reads and checks the filters and the page of a query. */
export function readQuery(query: QueryText): RequestQuery {
  const before = wholeNumber(query, "before", 1, Number.MAX_SAFE_INTEGER);
  const limit = wholeNumber(query, "limit", 1, LIMITS.pageRows);
  const from = wholeNumber(query, "from", 0, Number.MAX_SAFE_INTEGER);
  const to = wholeNumber(query, "to", 0, Number.MAX_SAFE_INTEGER);
  const status = text(query, "status");
  if (status !== undefined && !/^(?:[1-5](?:[0-9]{2}|xx))(?:,[1-5](?:[0-9]{2}|xx))*$/.test(status))
    throw invalid("status is such as 401, 4xx, or several with commas.");
  const [q, listener, event] = [text(query, "q"), text(query, "listener"), text(query, "event")];
  if ((q?.length ?? 0) > LIMITS.searchCharacters)
    throw invalid(`q has at most ${LIMITS.searchCharacters} characters.`);
  return {
    ...(before === undefined ? {} : { before }),
    ...(limit === undefined ? {} : { limit }),
    ...(status === undefined ? {} : { status }),
    ...(q === undefined ? {} : { q }),
    ...(listener === undefined ? {} : { listener }),
    ...(event === undefined ? {} : { event }),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  };
}

/** One text of a query; several under one name are refused. */
export function text(query: QueryText, name: string): string | undefined {
  const value = query[name];
  if (value === undefined || value === "") return undefined;
  if (typeof value !== "string") throw invalid(`${name} stands once.`);
  return value;
}

/** One whole number of a query. */
export function wholeNumber(query: QueryText, name: string, min: number, max: number): number | undefined {
  const value = text(query, name);
  if (value === undefined) return undefined;
  const number = /^[0-9]{1,16}$/.test(value) ? Number(value) : Number.NaN;
  if (number >= min && number <= max) return number;
  throw invalid(`${name} is a whole number from ${min} to ${max}.`);
}

/** Whether an entry is what the filters ask for. */
export function matcher({ q, status, listener, event, from, to }: RequestQuery): (entry: Entry) => boolean {
  const statuses = status?.split(",");
  const search = q === undefined ? undefined : searchOf(q);
  return (entry) => {
    const { row } = entry;
    if (row.at < (from ?? row.at) || row.at >= (to ?? Number.POSITIVE_INFINITY)) return false;
    if (listener !== undefined && row.listenerId !== listener) return false;
    if (event !== undefined && row.eventId?.toLowerCase() !== event.toLowerCase()) return false;
    if (statuses && !statuses.some((one) => hasStatus(row.status, one))) return false;
    return search === undefined || isFound(entry, search);
  };
}

function invalid(message: string): InspectorError {
  return new InspectorError(400, "QUERY_INVALID", message);
}
