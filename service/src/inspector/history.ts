// Keeps requests in memory, and in a journal where there is one.
import { LIMITS, type RequestQuery } from "./contract.js";
import { bytesOf, type Entry } from "./entry.js";
import { previewOf } from "./preview.js";
import { matcher } from "./query.js";
import type { Draft } from "./record-request.js";

/** Where a history is written down, next to the memory. */
export interface Journal {
  /** The newest entries, oldest first. */
  load(limit: number): Entry[];
  /** Writes an entry under its number or a higher one, which it gives; undefined where it could not be written. */
  add(entry: Entry): number | undefined;
  replace(entry: Entry): void;
  /** Forgets everything up to a number. */
  drop(upTo: number): void;
  close(): void;
}

/** The requests that are kept: the newest, within the limits. */
export interface History {
  /** Keeps an entry under a new number. */
  add(entry: Draft): Entry;
  /** Puts another version in an entry's place, if it is still kept. */
  replace(entry: Entry): void;
  get(n: number): Entry | undefined;
  /** The accepted delivery of an event id, if it is still kept; with `imported`, the first that came with a file. */
  firstOf(listenerId: string, eventId: string, imported?: true): Entry | undefined;
  /** What a query finds, newest first, and how many in all. */
  find(query: RequestQuery): { entries: Entry[]; found: number };
  clear(): void;
  readonly size: number;
  /** Numbers up to this one are not kept. */
  readonly droppedUpTo: number;
  /** Numbers up to this one were in the journal before: whoever made the file says what they are. */
  readonly restoredUpTo: number;
  close(): void;
}

/** Options of `createHistory`. */
interface HistoryOptions {
  journal?: Journal | undefined;
  maxRequests?: number | undefined;
  maxBytes?: number | undefined;
}

/** A history in memory, written down in a journal where there is one. */
export function createHistory(options: HistoryOptions = {}): History {
  const { journal, maxRequests = LIMITS.requests, maxBytes = LIMITS.requestBytes } = options;
  const entries = new Map<number, Entry>();
  const accepted = new Map<string, number>();
  let bytes = 0;
  let last = 0;
  let droppedUpTo = 0;

  function keep(entry: Entry): void {
    entries.set(entry.row.n, entry);
    bytes += bytesOf(entry);
    last = Math.max(last, entry.row.n);
    const key = acceptedKey(entry);
    if (key !== undefined && !accepted.has(key)) accepted.set(key, entry.row.n);
    if (entries.size > maxRequests || bytes > maxBytes) dropOldest();
  }

  function dropOldest(): void {
    for (const [n, entry] of entries) {
      if ((entries.size <= maxRequests && bytes <= maxBytes) || entries.size === 1) break;
      forget(n, entry);
    }
    journal?.drop(droppedUpTo);
  }

  function forget(n: number, entry: Entry): void {
    entries.delete(n);
    bytes -= bytesOf(entry);
    const key = acceptedKey(entry);
    if (key !== undefined && accepted.get(key) === n) accepted.delete(key);
    droppedUpTo = n;
  }

  for (const entry of journal?.load(maxRequests) ?? []) keep(withPreview(entry));
  const restoredUpTo = last;
  droppedUpTo = Math.max(droppedUpTo, (entries.keys().next().value ?? 1) - 1);

  return {
    add(unnumbered) {
      const draft = withPreview({ ...unnumbered, row: { ...unnumbered.row, n: last + 1 } });
      const n = journal?.add(draft) ?? draft.row.n;
      const entry = { ...draft, row: { ...draft.row, n } };
      keep(entry);
      return entry;
    },
    replace(entry) {
      const old = entries.get(entry.row.n);
      if (!old) return;
      entries.set(entry.row.n, entry);
      bytes += bytesOf(entry) - bytesOf(old);
      journal?.replace(entry);
    },
    get: (n) => entries.get(n),
    firstOf: (listenerId, eventId, imported) =>
      entries.get(accepted.get(keyOf(listenerId, eventId, imported)) ?? 0),
    find(query) {
      const { before = Number.POSITIVE_INFINITY, limit = 100 } = query;
      const matches = matcher(query);
      const all = [...entries.values()].filter(matches);
      const older = all.filter(({ row }) => row.n < before);
      return { entries: older.slice(-limit).reverse(), found: all.length };
    },
    clear() {
      entries.clear();
      accepted.clear();
      bytes = 0;
      droppedUpTo = last;
      journal?.drop(last);
    },
    get size() {
      return entries.size;
    },
    get droppedUpTo() {
      return droppedUpTo;
    },
    restoredUpTo,
    close: () => journal?.close(),
  };
}

/** The piece of the body for the list is made of what is kept, in which secrets are hidden. */
function withPreview(entry: Entry): Entry {
  return { ...entry, row: { ...entry.row, ...previewOf(entry.body) } };
}

/** What came with a file is apart: it was not delivered here, whatever the file says. */
function keyOf(listenerId: string, eventId: string, imported?: true): string {
  return `${imported ? "imported" : "delivered"} ${listenerId} ${eventId.toLowerCase()}`;
}

function acceptedKey({ row }: Entry): string | undefined {
  if (row.code !== undefined || row.listenerId === undefined || row.eventId === undefined) return undefined;
  return keyOf(row.listenerId, row.eventId, row.imported);
}
