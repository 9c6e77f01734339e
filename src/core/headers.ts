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

function valuesOf(lines: readonly HeaderPair[], name: string): readonly string[] {
  const values: string[] = [];
  for (const line of lines)
    if (line[0].length === name.length && (line[0] === name || line[0].toLowerCase() === name.toLowerCase()))
      values.push(line[1]);
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
 * The one value of a header; `undefined` where it is absent or stands twice, as two readers may choose differently.
 *
 * @param name in lower case
 */
export function onlyValue(headers: readonly HeaderPair[], name: string): string | undefined {
  const values = headers.filter((line) => line[0].length === name.length && line[0].toLowerCase() === name);
  return values.length === 1 ? values[0]?.[1] : undefined;
}

/** The white space is HTTP's own, space and tab; trim() would take away more. */
const JSON_TYPE = /^[ \t]*application\/json[ \t]*(?:;|$)/i;

/** Why a request's headers do not announce JSON as it is, and which value says so; `undefined` where they do. */
export function jsonTypeFault(headers: ReceivedHeaders) {
  const type = headers.all(CONTENT_TYPE_HEADER).join(", ");
  if (!JSON_TYPE.test(type)) return { code: "CONTENT_TYPE_UNSUPPORTED", seen: type } as const;
  const encodings = headers.all("Content-Encoding");
  if (encodings.length > 0)
    return { code: "CONTENT_ENCODING_UNSUPPORTED", seen: encodings.join(", ") } as const;
  return undefined;
}

/** The one form of date that HTTP servers generate (RFC 9110 section 5.6.7). */
const IMF_FIXDATE =
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT$/;

/** An HTTP date in milliseconds since the epoch. */
export function httpDate(text: string | undefined): number | undefined {
  if (text === undefined || !IMF_FIXDATE.test(text)) return undefined;
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : time;
}
