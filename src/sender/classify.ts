import type { ErrorCode } from "../core/errors.js";
import { type HeaderPair, onlyValue } from "../core/headers.js";
import { likelyCauses } from "../core/likely-causes.js";
import type { TransportResponse } from "../http/transport.js";

/** The result of one attempt: an answer, or the code of the failure. */
export type AttemptResult =
  | { readonly status: number; readonly headers: readonly HeaderPair[]; readonly resent?: boolean }
  | { readonly failure: ErrorCode };

/**
 * What an attempt's result means:
 * - `accepted`: delivered; `earlier` when a 409 says that a copy sent before this one had arrived
 * - `duplicate`: a 409 to the first copy ever sent, so this id was used before
 * - `retry`: a transient failure; try again, not before `retryAfterMs`
 * - `setup`: a wrong setting, which a person has to correct; the same event may succeed afterwards
 * - `final`: this request will never be accepted
 */
export type Classification =
  | { readonly outcome: "accepted"; readonly earlier: boolean; readonly warning?: string }
  | { readonly outcome: "duplicate" }
  | { readonly outcome: "retry"; readonly code: ErrorCode; readonly retryAfterMs?: number }
  | { readonly outcome: "setup" | "final"; readonly code: ErrorCode; readonly hints: readonly string[] };

const TRANSIENT = new Set([408, 425, 429]);

/** Failures without an answer that another attempt cannot change. */
const FINAL_FAILURES = new Set<ErrorCode>([
  "ABORTED",
  "ADDRESS_REFUSED",
  "HEADER_INVALID",
  "KEY_UNFIT",
  "BASE_URL_MISMATCH",
  "SECRET_INVALID",
]);

/**
 * Classifies one attempt (specification 7; docs/decisions.md for the answers it does not name). Pure.
 *
 * @param attempt 1 for an event's first attempt
 * @param now milliseconds since the epoch, for `Retry-After` as a date
 */
export function classify(result: AttemptResult, attempt: number, now: number): Classification {
  if ("failure" in result) {
    const { failure } = result;
    return FINAL_FAILURES.has(failure)
      ? { outcome: "final", code: failure, hints: [] }
      : { outcome: "retry", code: failure };
  }
  const { status, headers } = result;
  if (status === 200) return { outcome: "accepted", earlier: false };
  if (status > 200 && status < 300) {
    return {
      outcome: "accepted",
      earlier: false,
      warning: `The receiver answered ${status}; the service answers 200. Is this the listener itself?`,
    };
  }
  if (status === 409)
    return attempt > 1 || result.resent ? { outcome: "accepted", earlier: true } : { outcome: "duplicate" };
  // Only proxies answer 407; a transport of the caller's own may pass it on.
  if (status === 407) return { outcome: "retry", code: "PROXY_FAILED" };
  if (status >= 500 || TRANSIENT.has(status)) {
    const after = retryAfterMs(headers, now);
    return {
      outcome: "retry",
      code: "RECEIVER_UNAVAILABLE",
      ...(after === undefined ? {} : { retryAfterMs: after }),
    };
  }
  return refusal(status);
}

const REFUSALS: Readonly<Record<number, readonly [outcome: "setup" | "final", code: ErrorCode]>> = {
  401: ["setup", "AUTHENTICATION_REFUSED"],
  403: ["setup", "SOURCE_REFUSED"],
  404: ["setup", "LISTENER_NOT_FOUND"],
};

function refusal(status: number): Classification {
  const isRedirect = status >= 300 && status < 400;
  const [outcome, code] = REFUSALS[status] ?? ["final", isRedirect ? "REDIRECT_REFUSED" : "REQUEST_REFUSED"];
  return { outcome, code, hints: likelyCauses(status) };
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
function retryAfterMs(headers: readonly HeaderPair[], now: number): number | undefined {
  const text = onlyValue(headers, "retry-after");
  if (text === undefined) return undefined;
  if (/^[0-9]+$/.test(text)) return Number(text) * 1000;
  const date = httpDate(text);
  return date === undefined ? undefined : Math.max(0, date - now);
}

const NOTICED_MS = 240_000;
const MAX_OFFSET_MS = 24 * 60 * 60 * 1000;

/** The moments of one request, by the local clock without any correction, in milliseconds. */
export interface Moments {
  readonly sentAt: number;
  readonly receivedAt: number;
  /** The correction that was in use. */
  readonly offsetMs: number;
}

/**
 * How far the receiver's clock is ahead of the time that was signed, if that is far enough for it to refuse: by a
 * fresh `Date` (no `Age`: nothing cached), however far.
 */
export function clockDifference(
  response: TransportResponse,
  { sentAt, receivedAt, offsetMs }: Moments,
): number | undefined {
  const estimate = clockEstimate(response, sentAt, receivedAt);
  if (estimate === undefined || Math.abs(estimate - offsetMs) <= NOTICED_MS) return undefined;
  return estimate - offsetMs;
}

/**
 * How far the receiver's clock is ahead of the local one, if a 400 shows that it matters: with a fresh `Date`
 * (no `Age`: nothing cached) more than 240 s away from the time that was signed, in an answer whose transport says
 * that it is the receiver's own (`authenticated`).
 */
export function clockOffset(
  response: TransportResponse,
  { sentAt, receivedAt, offsetMs }: Moments,
): number | undefined {
  if (response.authenticated !== true) return undefined;
  const estimate = clockEstimate(response, sentAt, receivedAt);
  if (estimate === undefined) return undefined;
  return Math.abs(estimate - offsetMs) > NOTICED_MS && Math.abs(estimate) <= MAX_OFFSET_MS
    ? estimate
    : undefined;
}

function clockEstimate(response: TransportResponse, sentAt: number, receivedAt: number): number | undefined {
  if (response.headers.some(([name]) => name.toLowerCase() === "age")) return undefined;
  const date = httpDate(onlyValue(response.headers, "date"));
  if (date === undefined) return undefined;
  return Math.round(date - (sentAt + receivedAt) / 2);
}
