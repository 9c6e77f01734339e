/** The header names of the protocol (specification 5.2). */
export const TIMESTAMP_HEADER = "Webhook-Timestamp";
export const EVENT_ID_HEADER = "Webhook-Event-Id";
export const SIGNATURE_HEADER = "Webhook-Signature";
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
  const byName = new Map<string, string[]>();
  for (const [name, value] of headerLines(input)) {
    const key = name.toLowerCase();
    const values = byName.get(key);
    if (values) values.push(value);
    else byName.set(key, [value]);
  }
  return { all: (name) => byName.get(name.toLowerCase()) ?? [] };
}

function* headerLines(input: HeadersInput): Iterable<HeaderPair> {
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
