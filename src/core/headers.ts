// Header lines in all forms that servers and clients hand over.
export const AUTHORIZATION_HEADER = "Authorization";
export const CONTENT_TYPE_HEADER = "Content-Type";

/** One header line: its name and its value. */
export type HeaderPair = readonly [name: string, value: string];

/** Headers in any of the forms HTTP servers and clients hand over. */
export type HeadersInput =
  | Headers
  | readonly HeaderPair[]
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** Every value that was sent under a name, in order; the name is looked up without case. */
export interface ReceivedHeaders {
  all(name: string): readonly string[];
}

/** Reads headers without losing one that was sent twice, as far as the given form still holds it. */
export function receivedHeaders(input: HeadersInput): ReceivedHeaders {
  const lines = Array.isArray(input) ? (input as readonly HeaderPair[]).slice() : [...headerLines(input)];
  // Without a table of all names: a request has about ten lines, and a receiver asks for about ten names.
  return { all: (name) => valuesOf(lines, name) };
}

/** Every value under a name, which is looked up without case, in order. */
function valuesOf(lines: readonly HeaderPair[], name: string): readonly string[] {
  const values: string[] = [];
  for (const line of lines) if (isNamed(line, name)) values.push(line[1]);
  return values;
}

/** The header lines in any of the forms, one after the other. */
export function* headerLines(input: HeadersInput): Iterable<HeaderPair> {
  if (isIterable(input)) {
    yield* input;
    return;
  }
  for (const [name, value] of Object.entries(input)) {
    if (value === undefined) continue;
    for (const one of typeof value === "string" ? [value] : value) yield [name, one];
  }
}

function isIterable(input: HeadersInput): input is Headers | readonly HeaderPair[] {
  return Symbol.iterator in input;
}

/** A flat list of header names and values, as Node has it, as pairs: in order, with nothing merged or dropped. */
export function headerPairs(rawHeaders: readonly string[]): HeaderPair[] {
  const pairs: HeaderPair[] = [];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2)
    pairs.push([rawHeaders[i] as string, rawHeaders[i + 1] as string]);
  return pairs;
}

/**
 * The one value of a header, without the blanks around it, which some clients leave there; `undefined` where it is absent
 * or stands twice, as two readers may choose differently.
 *
 * @param name in lower case
 */
export function onlyValue(headers: readonly HeaderPair[], name: string): string | undefined {
  let only: string | undefined;
  for (const line of headers) {
    if (!isNamed(line, name)) continue;
    if (only !== undefined) return undefined;
    only = line[1];
  }
  return only?.trim();
}

/** Whether a header line has a name, in any case. */
export function isNamed(line: HeaderPair, name: string): boolean {
  const given = line[0];
  return given.length === name.length && (given === name || given.toLowerCase() === name.toLowerCase());
}

/** The white space is HTTP's own, space and tab; trim() would take away more. */
export const JSON_TYPE = /^[ \t]*application\/json[ \t]*(?:;|$)/i;

/** Why a request's headers do not announce JSON as it is, and which value says so; `undefined` where they do. */
export function jsonTypeFault(headers: ReceivedHeaders) {
  const type = headers.all(CONTENT_TYPE_HEADER).join(", ");
  if (!JSON_TYPE.test(type)) return { code: "CONTENT_TYPE_UNSUPPORTED", seen: type } as const;
  const encodings = headers.all("Content-Encoding");
  if (encodings.length > 0)
    return { code: "CONTENT_ENCODING_UNSUPPORTED", seen: encodings.join(", ") } as const;
  return undefined;
}

/** The three forms of a date in HTTP: the one that servers generate, and two of old that are read all the same. */
const HTTP_DATES = [
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (?<day>\d\d) (?<month>[A-Z][a-z]{2}) (?<year>\d{4}) (?<time>\d\d:\d\d):(?<second>\d\d) GMT$/,
  /^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (?<day>\d\d)-(?<month>[A-Z][a-z]{2})-(?<year>\d\d) (?<time>\d\d:\d\d):(?<second>\d\d) GMT$/,
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?<month>[A-Z][a-z]{2}) (?<day>[ \d]\d) (?<time>\d\d:\d\d):(?<second>\d\d) (?<year>\d{4})$/,
];

/**
 * An HTTP date in milliseconds since the epoch (RFC 9110 section 5.6.7); `undefined` for what is none, and for a day or
 * time that there is not.
 *
 * @param now milliseconds since the epoch: a year of two digits is at most 50 years after it
 */
export function httpDate(text: string | undefined, now: number = Date.now()): number | undefined {
  if (text === undefined) return undefined;
  const found = HTTP_DATES.map((form) => form.exec(text)?.groups).find((groups) => groups !== undefined);
  if (!found) return undefined;
  const { day = "", month, year = "", time, second } = found;
  // The grammar has leap seconds, which the platform's clock has not.
  const isLeap = second === "60";
  const date = `${day.replace(" ", "0")} ${month} ${fullYear(year, now)} ${time}:${isLeap ? "59" : second} GMT`;
  const ms = Date.parse(date);
  // Date.parse reads 31 Feb as 3 Mar.
  if (Number.isNaN(ms) || !new Date(ms).toUTCString().endsWith(date)) return undefined;
  return isLeap ? ms + 1_000 : ms;
}

function fullYear(year: string, now: number): string {
  if (year.length === 4) return year;
  const thisYear = new Date(now).getUTCFullYear();
  const inCentury = thisYear - (thisYear % 100) + Number(year);
  return String(inCentury > thisYear + 50 ? inCentury - 100 : inCentury);
}

/** @throws {TypeError} for headers of a request that are missing, or no headers at all */
export function requireHeaders({ headers }: { readonly headers?: unknown }): void {
  if (typeof headers !== "object" || headers === null)
    throw new TypeError("request.headers must be a Headers object, pairs or a record");
}
