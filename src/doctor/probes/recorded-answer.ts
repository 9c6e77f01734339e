// What is kept of an answer, and what varies in it.
import type { HeaderPair } from "../../core/headers.js";

/** Stands in a recorded answer for what is another one each time, such as an id or a time. */
export const VARIES = "<varies>";

/**
 * An answer as a behaviour profile keeps it: without ids, times, addresses and long texts, which are other ones each
 * time or nobody else's business.
 */
export interface RecordedAnswer {
  /** The HTTP status. */
  readonly status: number;
  /** `content-type`, `retry-after`, `allow` and `www-authenticate`, where the answer has them. */
  readonly headers?: Readonly<Record<string, string>>;
  /** An object or a list where the body is JSON, otherwise its text. `<varies>` and 0 stand for what is left out. */
  readonly body?: unknown;
}

/** The headers that say what a sender may do next, or how the body is read. */
export const RECORDED_HEADERS: readonly string[] = [
  "content-type",
  "retry-after",
  "allow",
  "www-authenticate",
];

const MAX_BODY_CHARACTERS = 1_000;
const MAX_TEXT_CHARACTERS = 300;
const MAX_WORD_CHARACTERS = 40;
const MAX_DEPTH = 5;
const MAX_MEMBERS = 30;
/** A larger number is a time or a count. */
const MAX_NUMBER = 999_999;

/** Names of members whose values are other ones each time, whatever they look like. */
const VARYING_NAME =
  /(?:id|ids|time|timestamp|date|trace|span|token|signature|secret|nonce|hash|instance|path|url|uri|host|duration|elapsed|took)$/i;
const VARYING_END = /(?:At|_at|Ms|_ms)$/;
const NAME = /^[\w$@.:-]{1,40}$/;
/** Words of a date that has its digits in other words. */
const OF_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\b/;

/** What is kept of an answer. */
export function recordedAnswer(answer: {
  readonly status: number;
  readonly headers: readonly HeaderPair[];
  readonly body: Uint8Array;
}): RecordedAnswer {
  const text = new TextDecoder().decode(answer.body);
  return steadyAnswer(answer.status, Object.fromEntries(lowerCased(answer.headers)), parsed(text));
}

/** The same answer without what varies; what comes out stays as it is when it goes in again. */
export function steadyAnswer(
  status: number,
  headers: Readonly<Record<string, unknown>> | undefined,
  body: unknown,
): RecordedAnswer {
  const kept = RECORDED_HEADERS.flatMap((name) => {
    const value = headers && Object.hasOwn(headers, name) ? headers[name] : undefined;
    return typeof value === "string" ? [[name, steadyHeader(name, value)] as const] : [];
  });
  return {
    status,
    ...(headers === undefined ? {} : { headers: Object.fromEntries(kept) }),
    ...(body === undefined ? {} : { body: steadyBody(body) }),
  };
}

function lowerCased(headers: readonly HeaderPair[]): [string, string][] {
  return headers.map(([name, value]) => [name.toLowerCase(), value]);
}

function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : text;
  } catch {
    return text;
  }
}

function steadyHeader(name: string, value: string): string {
  const text = value.trim();
  if (name === "content-type" && /^[\w!#$&^.+*/ ;="-]{1,100}$/.test(text)) return text.toLowerCase();
  if (name === "retry-after" && /^[0-9]{1,5}$/.test(text)) return text;
  // A profile may be anybody's file, and Node throws at a header of other characters.
  return steadyText(text.replace(/[^ -~]/g, " "));
}

function steadyBody(body: unknown): unknown {
  const steady = steadyValue("", body, 0);
  return JSON.stringify(steady).length > MAX_BODY_CHARACTERS ? VARIES : steady;
}

function steadyValue(name: string, value: unknown, depth: number): unknown {
  const varies = VARYING_NAME.test(name) || VARYING_END.test(name);
  if (typeof value === "string") return varies ? VARIES : steadyText(value);
  if (typeof value === "number")
    return !varies && Number.isInteger(value) && Math.abs(value) <= MAX_NUMBER ? value : 0;
  if (typeof value !== "object" || value === null) return value;
  if (depth === MAX_DEPTH) return VARIES;
  if (Array.isArray(value))
    return value.slice(0, MAX_MEMBERS).map((one) => steadyValue(name, one, depth + 1));
  const members = Object.entries(value).slice(0, MAX_MEMBERS);
  return Object.fromEntries(
    members.map(([key, one]) => [NAME.test(key) ? key : VARIES, steadyValue(key, one, depth + 1)]),
  );
}

/** A text in which every word that may be an id, a time, an address or a secret is replaced. */
function steadyText(text: string): string {
  const words: string[] = [];
  for (const word of text.replace(/\p{C}/gu, " ").split(/\s+/)) {
    const kept = isVarying(word) ? VARIES : word;
    if (kept !== VARIES || words.at(-1) !== VARIES) words.push(kept);
  }
  const steady = words.join(" ").trim();
  return steady.length > MAX_TEXT_CHARACTERS ? VARIES : steady;
}

/** A URL, a mail address, or the name of a host, also within quotes: realm="tenant.example.com". */
const ADDRESS = /:\/\/|@|[\w-]\.[a-z]{2}/i;

function isVarying(word: string): boolean {
  return word.length > MAX_WORD_CHARACTERS || /\d/.test(word) || ADDRESS.test(word) || OF_DATE.test(word);
}

/** One part of an answer, such as `status`, `header retry-after` or `body.error.code`, and what it is. */
type AnswerPart = readonly [part: string, value: number | string];

/** The parts of an answer that are compared, in order. */
export function partsOfAnswer({ status, headers, body }: RecordedAnswer): AnswerPart[] {
  return [
    ["status", status],
    ...Object.entries(headers ?? {}).map(
      // The time to wait is another one each time; whether there is one is not.
      ([name, value]): AnswerPart => [`header ${name}`, name === "retry-after" ? "a time" : value],
    ),
    ...(body === undefined ? [] : partsOfBody("body", body)),
  ];
}

function partsOfBody(path: string, value: unknown): AnswerPart[] {
  if (typeof value === "string") return [[path, value]];
  if (typeof value !== "object" || value === null) return [[path, JSON.stringify(value)]];
  if (Array.isArray(value))
    return [[path, "a list"], ...value.flatMap((one, index) => partsOfBody(`${path}[${index}]`, one))];
  return [
    [path, "an object"],
    ...Object.entries(value).flatMap(([name, one]) => partsOfBody(`${path}.${name}`, one)),
  ];
}
