// Finds requests by a line of search terms.
import { isForced, type RequestRow } from "./contract.js";
import { type Entry, headerValues } from "./entry.js";

/** What a search asks for: a text anywhere, and single fields. */
interface Search {
  /** In lower case; empty for none. */
  readonly text: string;
  readonly fields: readonly (readonly [name: string, value: string])[];
}

type Test = (entry: Entry, value: string) => boolean;

/** The fields that a search may name. Values are compared without case. */
const FIELDS: Readonly<Record<string, Test>> = {
  type: ({ row }, value) => has(row.eventType, value),
  id: ({ row }, value) => row.eventId?.toLowerCase().startsWith(value) === true,
  status: ({ row }, value) => value.split(",").some((one) => hasStatus(row.status, one)),
  code: ({ row }, value) => row.code?.toLowerCase() === value,
  listener: ({ row }, value) => row.listenerId?.toLowerCase() === value,
  method: ({ row }, value) => row.method.toLowerCase() === value,
  note: ({ row }, value) => has(row.note, value),
  header: ({ headers }, value) => {
    const [name = "", ...rest] = value.split("=");
    return headerValues(headers, name).some((one) => one.toLowerCase().includes(rest.join("=")));
  },
  is: ({ row }, value) => Object.hasOwn(KINDS, value) && KINDS[value]?.(row) === true,
};

const KINDS: Readonly<Record<string, (row: RequestRow) => boolean>> = {
  pinned: ({ pinned }) => pinned === true,
  replay: ({ replay }) => replay !== undefined,
  forced: isForced,
  imported: ({ imported }) => imported === true,
  test: ({ isTest }) => isTest === true,
};

const FIELD = /(?<!\S)(type|id|status|code|listener|method|note|header|is):("[^"]{0,200}"|\S+)/gi;

/**
 * Takes `type:`, `id:`, `status:`, `code:`, `listener:`, `method:`, `header:name=value`, `note:` and `is:` out of a
 * search; a value with spaces stands in quotes. What is left is one text.
 */
export function searchOf(q: string): Search {
  const fields: [string, string][] = [];
  const text = q.replace(FIELD, (_all, name: string, value: string) => {
    fields.push([name.toLowerCase(), value.replaceAll('"', "").toLowerCase()]);
    return "";
  });
  // The spaces around a field that was taken out; within the text they count.
  return { text: (fields.length === 0 ? q : text.trim()).toLowerCase(), fields };
}

/** Whether an entry has all that a search asks for. */
export function isFound(entry: Entry, { text, fields }: Search): boolean {
  return fields.every(([name, value]) => FIELDS[name]?.(entry, value)) && (text === "" || isIn(entry, text));
}

/** Whether a status is `401`, or of a class such as `4xx`. */
export function hasStatus(status: number, wanted: string): boolean {
  return /^[1-5]xx$/.test(wanted)
    ? Math.floor(status / 100) === Number(wanted[0])
    : status === Number(wanted);
}

function has(text: string | undefined, part: string): boolean {
  return text?.toLowerCase().includes(part) === true;
}

function isIn({ row, target, headers, body }: Entry, needle: string): boolean {
  const short = [row.eventId, row.code, row.cause, row.reason, row.method, row.note, target];
  return (
    short.some((one) => has(one, needle)) ||
    headers.some(([name, value]) => has(`${name}: ${value}`, needle)) ||
    has(Buffer.from(body.buffer, body.byteOffset, body.length).toString("utf8"), needle)
  );
}
