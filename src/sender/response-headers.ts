import type { HeaderPair } from "../protocol/headers.js";

/** The one value of a header, or `undefined` when it is absent or stands twice. */
export function single(headers: readonly HeaderPair[], name: string): string | undefined {
  const values = headers.filter(([key]) => key.toLowerCase() === name);
  return values.length === 1 ? values[0]?.[1] : undefined;
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

/** What `Retry-After` asks for, in milliseconds from now: seconds or a date (RFC 9110 section 10.2.3). */
export function retryAfterMs(headers: readonly HeaderPair[], now: number): number | undefined {
  const text = single(headers, "retry-after");
  if (text === undefined) return undefined;
  if (/^[0-9]+$/.test(text)) return Number(text) * 1000;
  const date = httpDate(text);
  return date === undefined ? undefined : Math.max(0, date - now);
}
