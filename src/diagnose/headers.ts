import { isEventId } from "../core/event.js";
import {
  CONTENT_TYPE_HEADER,
  EVENT_ID_HEADER,
  type ReceivedHeaders,
  TIMESTAMP_HEADER,
} from "../core/headers.js";
import { parseJson } from "../core/json.js";
import { listenerIdOf } from "../core/listener-url.js";
import { isTimestamp, MAX_BODY_BYTES, TIMESTAMP_TOLERANCE_SECONDS } from "../core/protocol.js";
import { countOf } from "../core/words.js";
import { type Mistake, withDetail } from "./mistake.js";
import { HEADER_MISTAKES as MISTAKES, OTHER_NAMES, TARGET_MISTAKES } from "./tables/header-mistakes.js";

/** What is wrong with method and path, as far as both sides are known. */
export function mistakesInTarget(
  { method, url }: { method?: string | undefined; url?: string | undefined },
  listenerId: string | undefined,
): Mistake[] {
  const mistakes: Mistake[] = [];
  if (method !== undefined && method !== "POST") mistakes.push(TARGET_MISTAKES.method);
  if (url !== undefined && listenerId !== undefined && listenerIdOf(url) !== listenerId)
    mistakes.push(TARGET_MISTAKES.path);
  return mistakes;
}

/** What is wrong with the headers that every request has: missing, sent twice, or malformed. */
export function mistakesInHeaders(headers: ReceivedHeaders): Mistake[] {
  return [
    ...mistakesInHeader(headers, TIMESTAMP_HEADER, MISTAKES.timestampMissing, timestampMistake),
    ...mistakesInHeader(headers, EVENT_ID_HEADER, MISTAKES.eventIdMissing, eventIdMistake),
    ...mistakesInHeader(headers, CONTENT_TYPE_HEADER, MISTAKES.contentTypeMissing, contentTypeMistake),
    ...(headers.all("Content-Encoding").length > 0 ? [MISTAKES.contentEncoding] : []),
  ];
}

/**
 * What is wrong with a header that must be there exactly once.
 *
 * @param missing the mistake if it is not there, under no other name either
 * @param mistakeIn what is wrong with its value
 */
export function mistakesInHeader(
  headers: ReceivedHeaders,
  name: string,
  missing: Mistake,
  mistakeIn: (value: string) => Mistake | undefined,
): Mistake[] {
  const [value, ...more] = headers.all(name);
  if (value === undefined) {
    const other = OTHER_NAMES[name]?.find((one) => headers.all(one).length > 0);
    if (other === undefined) return [missing];
    return [withDetail(MISTAKES.headerMisnamed, `${other} is there, ${name} is not.`)];
  }
  if (more.length > 0)
    return [withDetail(MISTAKES.headerTwice, `${name} is there ${more.length + 1} times.`)];
  const mistake = mistakeIn(value);
  return mistake ? [mistake] : [];
}

/** How far the timestamp is from the clock, if that is too far. */
export function mistakesInAge(headers: ReceivedHeaders, nowSeconds: number): Mistake[] {
  const [timestamp = ""] = headers.all(TIMESTAMP_HEADER);
  if (!isTimestamp(timestamp) || timestampMistake(timestamp)) return [];
  const age = nowSeconds - Number(timestamp);
  if (Math.abs(age) <= TIMESTAMP_TOLERANCE_SECONDS) return [];
  return age > 0
    ? [withDetail(MISTAKES.timestampStale, `It is ${age} s old.`)]
    : [withDetail(MISTAKES.timestampAhead, `It is ${-age} s ahead.`)];
}

/** What is wrong with the body itself, even if its signature is right. */
export function mistakesInBody(body: Uint8Array): Mistake[] {
  if (body.length > MAX_BODY_BYTES)
    return [withDetail(MISTAKES.bodyTooLarge, `It has ${countOf(body.length, "byte")}.`)];
  if (body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf) return [MISTAKES.bodyWithBom];
  const parsed = parseJson(body);
  if (parsed.ok) return [];
  return [parsed.reason === "not-utf8" ? MISTAKES.bodyNotUtf8 : MISTAKES.bodyNotJson];
}

function timestampMistake(text: string): Mistake | undefined {
  if (/^[0-9]{12,14}$/.test(text)) return MISTAKES.timestampMilliseconds;
  if (/^[0-9]{15,20}$/.test(text)) return MISTAKES.timestampTooFine;
  if (isTimestamp(text)) return undefined;
  if (/^[0-9]+\.[0-9]*$/.test(text)) return MISTAKES.timestampFraction;
  return /[-:,a-z]/i.test(text) && !Number.isNaN(Date.parse(text))
    ? MISTAKES.timestampDate
    : MISTAKES.timestampMalformed;
}

function eventIdMistake(text: string): Mistake | undefined {
  if (isEventId(text)) return undefined;
  const bare = text.trim().replace(/^urn:uuid:|^[{"'(]|[}"')]$/gi, "");
  if (isEventId(bare)) return MISTAKES.eventIdWrapped;
  if (/^[0-9a-f]{32}$/i.test(bare)) return MISTAKES.eventIdWithoutHyphens;
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(bare)
    ? MISTAKES.eventIdNotV4
    : MISTAKES.eventIdMalformed;
}

function contentTypeMistake(text: string): Mistake | undefined {
  return /^[ \t]*application\/json[ \t]*(?:;|$)/i.test(text) ? undefined : MISTAKES.contentType;
}
