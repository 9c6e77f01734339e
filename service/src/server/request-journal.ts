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

const MAX_ENTRIES = 1_000;
const MAX_BODY_LENGTH = 16_384;

/** Keeps the latest 1,000 requests, in memory. */
export function requestJournal(): RequestJournal {
  const entries: JournalEntry[] = [];
  return {
    add({ body, query, ...rest }) {
      const entry = { ...rest, query: JSON.parse(jsonWithoutSecrets(query) ?? "{}") };
      const text = jsonWithoutSecrets(body);
      const isKept = text !== undefined && text.length <= MAX_BODY_LENGTH;
      entries.push(isKept ? { ...entry, body: JSON.parse(text) } : entry);
      if (entries.length > MAX_ENTRIES) entries.shift();
    },
    search: (filter) => entries.filter(matcher(filter)),
    clear() {
      entries.length = 0;
    },
  };
}

const PLAIN = ["operation", "method", "path", "status"] as const;

function matcher({ query = {}, body, ...plain }: JournalFilter): (entry: JournalEntry) => boolean {
  const asked = Object.entries(query).map(([name, value]) => [camelCase(name), prepared(value)] as const);
  const wantedBody = body === undefined ? undefined : prepared(body);
  return (entry) => {
    if (PLAIN.some((name) => plain[name] !== undefined && plain[name] !== entry[name])) return false;
    const sent = new Map(Object.entries(entry.query).map(([name, value]) => [camelCase(name), value]));
    const isQuery = asked.every(([name, wanted]) => includes(sent.get(name), wanted));
    return isQuery && (wantedBody === undefined || includes(entry.body, wantedBody));
  };
}

/** What is wanted, taken apart once: a search looks at a thousand requests with it. */
type Wanted =
  | { readonly value: unknown }
  | { readonly items: readonly Wanted[] }
  | { readonly members: readonly (readonly [given: string, name: string, wanted: Wanted])[] };

function prepared(wanted: unknown): Wanted {
  if (typeof wanted !== "object" || wanted === null) return { value: wanted };
  if (Array.isArray(wanted)) return { items: wanted.map(prepared) };
  return {
    members: Object.entries(wanted).map(([given, part]) => [given, camelCase(given), prepared(part)]),
  };
}

/**
 * Whether a value is the wanted one; an object may have more members than that. Numbers of a query are text, and null is
 * wanted of what is absent, as it counts as absent where it is sent.
 */
function includes(value: unknown, wanted: Wanted): boolean {
  if ("value" in wanted)
    return (
      value === wanted.value ||
      (value === undefined && wanted.value === null) ||
      (typeof value === "string" && typeof wanted.value === "number" && value === String(wanted.value))
    );
  if ("items" in wanted)
    return (
      Array.isArray(value) &&
      value.length === wanted.items.length &&
      wanted.items.every((item, at) => includes(value[at], item))
    );
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const members = value as Record<string, unknown>;
  return wanted.members.every(([given, camel, part]) => {
    const name = Object.hasOwn(members, given) ? given : camel;
    return includes(Object.hasOwn(members, name) ? members[name] : undefined, part);
  });
}
