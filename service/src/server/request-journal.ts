// Keeps the latest requests for tests to ask for.
import { camelCase } from "../api/lenient-body.js";
import type { OperationId } from "../api/operations.js";
import { jsonWithoutSecrets } from "./hidden-secrets.js";

/** A request for an operation, and how it was answered. */
interface JournalEntry {
  readonly requestId: string;
  /** Milliseconds since the epoch, by the service's clock. */
  readonly time: number;
  readonly operation: OperationId;
  readonly method: string;
  readonly path: string;
  /** As it was sent, in either spelling of the names. */
  readonly query: Readonly<Record<string, unknown>>;
  /** As its handler reads it; absent where there was none, where it was not read, and where it is too large to keep. */
  readonly body?: unknown;
  /** 0 where the connection was cut. */
  readonly status: number;
  /** Whether the answer was set on purpose. */
  readonly isFault: boolean;
}

/** What a request must have to match; what is left out matches all. */
interface JournalFilter {
  operation?: string | undefined;
  method?: string | undefined;
  path?: string | undefined;
  status?: number | undefined;
  /** Names and values that the query must have, and may have more; names in either spelling. */
  query?: Readonly<Record<string, unknown>> | undefined;
  /** Members that the body must have, and may have more; names in either spelling. */
  body?: unknown;
}

/** The latest requests, the oldest first. */
export interface RequestJournal {
  add(entry: JournalEntry): void;
  search(filter: JournalFilter): JournalEntry[];
  clear(): void;
}

const MOST_ENTRIES = 1_000;
const MOST_BODY_LENGTH = 16_384;

/** Keeps the latest 1,000 requests, in memory. */
export function requestJournal(): RequestJournal {
  const entries: JournalEntry[] = [];
  return {
    add({ body, query, ...rest }) {
      const entry = { ...rest, query: JSON.parse(jsonWithoutSecrets(query) ?? "{}") };
      const text = jsonWithoutSecrets(body);
      const isKept = text !== undefined && text.length <= MOST_BODY_LENGTH;
      entries.push(isKept ? { ...entry, body: JSON.parse(text) } : entry);
      if (entries.length > MOST_ENTRIES) entries.shift();
    },
    search: (filter) => entries.filter((entry) => matches(entry, filter)),
    clear() {
      entries.length = 0;
    },
  };
}

const PLAIN = ["operation", "method", "path", "status"] as const;

function matches(entry: JournalEntry, { query = {}, body, ...plain }: JournalFilter): boolean {
  if (PLAIN.some((name) => plain[name] !== undefined && plain[name] !== entry[name])) return false;
  const asked = new Map(Object.entries(entry.query).map(([name, value]) => [camelCase(name), value]));
  const isQuery = Object.entries(query).every(([name, value]) => includes(asked.get(camelCase(name)), value));
  return isQuery && (body === undefined || includes(entry.body, body));
}

/** Whether a value is the wanted one; an object may have more members than that. Numbers of a query are text. */
function includes(value: unknown, wanted: unknown): boolean {
  if (typeof wanted !== "object" || wanted === null)
    return (
      value === wanted ||
      (typeof value === "string" && typeof wanted === "number" && value === String(wanted))
    );
  if (typeof value !== "object" || value === null || Array.isArray(value) !== Array.isArray(wanted))
    return false;
  if (Array.isArray(wanted) && wanted.length !== (value as unknown[]).length) return false;
  const members = value as Record<string, unknown>;
  return Object.entries(wanted).every(([given, part]) => {
    const name = Object.hasOwn(members, given) ? given : camelCase(given);
    return Object.hasOwn(members, name) && includes(members[name], part);
  });
}
