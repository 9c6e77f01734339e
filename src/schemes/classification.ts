// What answers mean to a sender, in terms that all schemes share.
import type { ErrorCode } from "../core/errors.js";
import { type HeaderPair, httpDate, isNamed, onlyValue } from "../core/headers.js";
import { shown } from "../core/shown.js";
import { foreignHints, isPage } from "./foreign-answers.js";

/** What a listener answered to one attempt. */
export interface Answer {
  /** The HTTP status. */
  readonly status: number;
  /** The header lines. */
  readonly headers: readonly HeaderPair[];
  /** The first 16 KiB of the body. */
  readonly body?: Uint8Array;
  /** The transport has sent the request twice, as its first connection broke. */
  readonly resent?: boolean;
}

/**
 * What an attempt's result means:
 * - `accepted`: delivered; `earlier` if a copy sent before this one had arrived
 * - `duplicate`: this id was used before, and not by this delivery
 * - `retry`: a transient failure; try again, not before `retryAfterMs`
 * - `setup`: a wrong setting, which a person has to correct; the same event may succeed afterwards, and not before
 *   `retryAfterMs`
 * - `final`: this request will never be accepted. With `stopSending` the receiver wants no other event either: an outbox
 *   pauses the listener instead of burying one event after another, and the event waits until it is resumed
 */
export type Classification =
  | { readonly outcome: "accepted"; readonly earlier: boolean; readonly warning?: string }
  | { readonly outcome: "duplicate" }
  | { readonly outcome: "retry"; readonly code: ErrorCode; readonly retryAfterMs?: number }
  | {
      readonly outcome: "setup";
      readonly code: ErrorCode;
      readonly hints: readonly string[];
      readonly retryAfterMs?: number;
    }
  | {
      readonly outcome: "final";
      readonly code: ErrorCode;
      readonly hints: readonly string[];
      readonly retryAfterMs?: number;
      readonly stopSending?: boolean;
    };

/** Failures without an answer that another attempt cannot change. */
const FINAL_FAILURES = new Set<ErrorCode>([
  "ABORTED",
  "ADDRESS_REFUSED",
  "HEADER_INVALID",
  "KEY_UNFIT",
  "BASE_URL_MISMATCH",
  "EVENT_INVALID",
  "SECRET_INVALID",
]);

/** What it means that there was no answer; the same in every scheme. */
export function classifyFailure(code: ErrorCode): Classification {
  return FINAL_FAILURES.has(code) ? { outcome: "final", code, hints: [] } : { outcome: "retry", code };
}

const TRANSIENT = new Set([408, 425, 429]);

/**
 * The answers that HTTP itself says to try again: 407, 408, 425, 429 and 5xx, with their `Retry-After`, and 413 that has
 * one; `undefined` for any other answer.
 *
 * @param now milliseconds since the epoch, for `Retry-After` as a date
 *
 * @example
 * ```ts
 * import { classifyTransient } from "hookproof/schemes";
 *
 * classifyTransient({ status: 503, headers: [["Retry-After", "120"]] }, Date.now())?.outcome; // "retry"
 * ```
 */
export function classifyTransient({ status, headers }: Answer, now: number): Classification | undefined {
  // Only proxies answer 407; a transport of the caller's own may pass it on.
  if (status === 407) return { outcome: "retry", code: "PROXY_FAILED" };
  const after = waitOf(headers, now);
  // With a time to come again, "too large" is no last word (RFC 9110 section 15.5.14).
  if (status === 413 && after.retryAfterMs !== undefined)
    return { outcome: "retry", code: "REQUEST_REFUSED", ...after };
  if (status < 500 && !TRANSIENT.has(status)) return undefined;
  return { outcome: "retry", code: "RECEIVER_UNAVAILABLE", ...after };
}

/** The refusals that speak of this event's content, or of the listener's end; any other says nothing of the event. */
export const FINAL: ReadonlySet<number | undefined> = new Set([400, 409, 410, 413, 422]);

const CODES: Readonly<Record<number, ErrorCode>> = {
  401: "AUTHENTICATION_REFUSED",
  403: "SOURCE_REFUSED",
  404: "LISTENER_NOT_FOUND",
};

/**
 * What a refusal means: that this request is never accepted where the answer speaks of it, which are 400, 409, 410, 413
 * and 422; otherwise a wrong setting. The hints name the `Location` of a redirect.
 *
 * @param hints likely causes in plain words; a person reads them. What the answer itself shows comes before them
 * @param now milliseconds since the epoch, for `Retry-After` as a date; without it such a date is not read
 *
 * @example
 * ```ts
 * import { classifyRefusal } from "hookproof/schemes";
 *
 * classifyRefusal({ status: 401, headers: [] }, ["another secret"]).outcome; // "setup"
 * ```
 */
export function classifyRefusal(
  answer: Pick<Answer, "status" | "headers" | "body">,
  hints: readonly string[] = [],
  now: number = Number.NaN,
): Classification {
  const { status, headers } = answer;
  const wait = waitOf(headers, now);
  if (status >= 300 && status < 400) {
    const location = locationHint(headers);
    const all = location ? [location, ...hints] : hints;
    return { outcome: "setup", code: "REDIRECT_REFUSED", hints: all, ...wait };
  }
  const outcome = FINAL.has(status) ? "final" : "setup";
  const code = CODES[status] ?? "REQUEST_REFUSED";
  return { outcome, code, hints: [...foreignHints(answer), ...hints], ...wait };
}

/** Where a redirect leads, without what may be a credential: user, query, fragment, and `;jsessionid=` in a path. */
function locationHint(headers: readonly HeaderPair[]): string | undefined {
  const location = onlyValue(headers, "location")
    ?.replace(/[?#].*$/s, "")
    .replace(/;[^/]*/g, "")
    .replace(/\/\/[^/]*@/, "//");
  return location
    ? `a server in front, or a URL that has moved: its Location is ${shown(location, 120)}`
    : undefined;
}

/**
 * What an answer means in a scheme that says nothing else: every 2xx has accepted the event, what HTTP says to try again
 * is tried again, and the rest is what `classifyRefusal` says.
 *
 * @example
 * ```ts
 * import { classifyAnswer } from "hookproof/schemes";
 *
 * classifyAnswer({ status: 202, headers: [] }, 1, Date.now()).outcome; // "accepted"
 * ```
 */
export function classifyAnswer(answer: Answer, _attempt: number, now: number): Classification {
  if (answer.status >= 200 && answer.status < 300) return acceptance(answer);
  return classifyTransient(answer, now) ?? classifyRefusal(answer, [], now);
}

/**
 * A 2xx: the status counts, and what is not the listener's own is worth a look.
 *
 * @param otherwise what else tells it, if it is no page
 */
export function acceptance(answer: Answer, otherwise?: string): Classification {
  const told = isPage(answer) ? " with a page of HTML" : otherwise;
  const accepted = { outcome: "accepted", earlier: false } as const;
  return told === undefined
    ? accepted
    : {
        ...accepted,
        warning: `The receiver answered ${answer.status}${told}. Is this the listener itself?`,
      };
}

/**
 * What `Retry-After` asks for, in milliseconds from now: seconds or a date (RFC 9110 section 10.2.3). Some servers write
 * decimals, which are rounded up. Where a proxy has added one of its own, as a line or behind a comma, the longest counts.
 */
export function waitOf(headers: readonly HeaderPair[], now: number): { readonly retryAfterMs?: number } {
  let longest = -1;
  for (const line of headers) {
    if (!isNamed(line, "retry-after")) continue;
    // As fetch joins lines; the comma within a date is behind the name of a day.
    for (const text of line[1].trim().split(/(?<=[\dT]), /)) {
      const wait = /^\d+(?:\.\d+)?$/.test(text)
        ? Math.ceil(Number(text)) * 1000
        : Math.max(0, (httpDate(text, now) ?? Number.NaN) - now);
      if (wait > longest) longest = wait;
    }
  }
  return longest < 0 ? {} : { retryAfterMs: longest };
}
