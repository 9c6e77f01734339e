import { isEventId } from "../protocol/event-id.js";
import {
  CONTENT_TYPE_HEADER,
  EVENT_ID_HEADER,
  type ReceivedHeaders,
  TIMESTAMP_HEADER,
} from "../protocol/headers.js";
import { parseJson } from "../protocol/json.js";
import { MAX_BODY_BYTES, TIMESTAMP_TOLERANCE_SECONDS } from "../protocol/limits.js";
import { isTimestamp } from "../protocol/timestamp.js";
import { HEADER_MISTAKES as MISTAKES, OTHER_NAMES } from "./header-mistakes.js";
import type { Finding, Mistake } from "./mistake.js";

/** What is wrong about the headers that every request has: missing, twice, or not of their form. */
export function explainHeaders(headers: ReceivedHeaders): Finding[] {
  return [
    ...single(headers, TIMESTAMP_HEADER, MISTAKES.timestampMissing, timestampForm),
    ...single(headers, EVENT_ID_HEADER, MISTAKES.eventIdMissing, eventIdForm),
    ...single(headers, CONTENT_TYPE_HEADER, MISTAKES.contentTypeMissing, contentTypeForm),
    ...(headers.all("Content-Encoding").length > 0 ? [{ mistake: MISTAKES.contentEncoding }] : []),
  ];
}

/** A header that must stand once, and what its value must be. */
export function single(
  headers: ReceivedHeaders,
  name: string,
  missing: Mistake,
  form: (value: string) => Mistake | undefined,
): Finding[] {
  const [value, ...more] = headers.all(name);
  if (value === undefined) {
    const other = OTHER_NAMES[name]?.find((one) => headers.all(one).length > 0);
    if (other === undefined) return [{ mistake: missing }];
    return [{ mistake: MISTAKES.headerMisnamed, detail: `${other} is there, ${name} is not.` }];
  }
  if (more.length > 0)
    return [{ mistake: MISTAKES.headerTwice, detail: `${name} stands ${more.length + 1} times.` }];
  const mistake = form(value);
  return mistake ? [{ mistake }] : [];
}

/** How far the timestamp is from the clock, if that is too far. */
export function explainAge(headers: ReceivedHeaders, nowSeconds: number): Finding[] {
  const [timestamp = ""] = headers.all(TIMESTAMP_HEADER);
  if (!isTimestamp(timestamp) || timestampForm(timestamp)) return [];
  const age = nowSeconds - Number(timestamp);
  if (Math.abs(age) <= TIMESTAMP_TOLERANCE_SECONDS) return [];
  return age > 0
    ? [{ mistake: MISTAKES.timestampStale, detail: `It is ${age} s old.` }]
    : [{ mistake: MISTAKES.timestampAhead, detail: `It is ${-age} s ahead.` }];
}

/** What is wrong about the body itself, whoever signed it. */
export function explainBody(body: Uint8Array): Finding[] {
  if (body.length > MAX_BODY_BYTES)
    return [{ mistake: MISTAKES.bodyTooLarge, detail: `It has ${body.length} bytes.` }];
  if (body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf) return [{ mistake: MISTAKES.bodyWithBom }];
  const parsed = parseJson(body);
  if (parsed.ok) return [];
  return [{ mistake: parsed.reason === "not-utf8" ? MISTAKES.bodyNotUtf8 : MISTAKES.bodyNotJson }];
}

function timestampForm(text: string): Mistake | undefined {
  if (/^[0-9]{12,14}$/.test(text)) return MISTAKES.timestampMilliseconds;
  if (/^[0-9]{15,20}$/.test(text)) return MISTAKES.timestampTooFine;
  if (isTimestamp(text)) return undefined;
  if (/^[0-9]+\.[0-9]*$/.test(text)) return MISTAKES.timestampFraction;
  return /[-:,a-z]/i.test(text) && !Number.isNaN(Date.parse(text))
    ? MISTAKES.timestampDate
    : MISTAKES.timestampMalformed;
}

function eventIdForm(text: string): Mistake | undefined {
  if (isEventId(text)) return undefined;
  const bare = text.trim().replace(/^urn:uuid:|^[{"'(]|[}"')]$/gi, "");
  if (isEventId(bare)) return MISTAKES.eventIdWrapped;
  if (/^[0-9a-f]{32}$/i.test(bare)) return MISTAKES.eventIdWithoutHyphens;
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(bare)
    ? MISTAKES.eventIdNotV4
    : MISTAKES.eventIdMalformed;
}

function contentTypeForm(text: string): Mistake | undefined {
  return /^[ \t]*application\/json[ \t]*(?:;|$)/i.test(text) ? undefined : MISTAKES.contentType;
}
