import type { ErrorCode } from "../errors.js";
import type { HeaderPair } from "../protocol/headers.js";
import { retryAfterMs } from "./response-headers.js";

/** What came of one attempt: an answer, or the code of the failure that left none. */
export type AttemptResult =
  | { readonly status: number; readonly headers: readonly HeaderPair[]; readonly resent?: boolean }
  | { readonly failure: ErrorCode };

/**
 * What an attempt's result means:
 * - `accepted`: delivered; `earlier` when a 409 says that a copy sent before this one had arrived
 * - `duplicate`: a 409 to the first copy ever sent, so this id was used before
 * - `retry`: weather; try again, not before `retryAfterMs`
 * - `setup`: something is configured wrong; only a human can help, but the same event may succeed later
 * - `final`: this request will never be accepted
 */
export type Classification =
  | { readonly verdict: "accepted"; readonly earlier: boolean; readonly warning?: string }
  | { readonly verdict: "duplicate" }
  | { readonly verdict: "retry"; readonly code: ErrorCode; readonly retryAfterMs?: number }
  | { readonly verdict: "setup" | "final"; readonly code: ErrorCode; readonly causes: readonly string[] };

const WEATHER = new Set([408, 425, 429]);

/** Failures without an answer that another attempt will not mend. */
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
      ? { verdict: "final", code: failure, causes: [] }
      : { verdict: "retry", code: failure };
  }
  const { status, headers } = result;
  if (status === 200) return { verdict: "accepted", earlier: false };
  if (status > 200 && status < 300) {
    return {
      verdict: "accepted",
      earlier: false,
      warning: `The receiver answered ${status}; the service answers 200. Is this the listener itself?`,
    };
  }
  if (status === 409)
    return attempt > 1 || result.resent ? { verdict: "accepted", earlier: true } : { verdict: "duplicate" };
  // A proxy's word, never a listener's; a transport of somebody else's may hand it on.
  if (status === 407) return { verdict: "retry", code: "PROXY_FAILED" };
  if (status >= 500 || WEATHER.has(status)) {
    const after = retryAfterMs(headers, now);
    return {
      verdict: "retry",
      code: "RECEIVER_UNAVAILABLE",
      ...(after === undefined ? {} : { retryAfterMs: after }),
    };
  }
  return refusal(status);
}

function refusal(status: number): Classification {
  switch (status) {
    case 401:
      return {
        verdict: "setup",
        code: "AUTHENTICATION_REFUSED",
        causes: [
          "another secret or key than the listener's own",
          "a listener of the other method (HMAC or JWT)",
          "a secret that was decoded, trimmed or quoted on its way here",
          "a proxy that changed the body",
          "a key set that the service cannot fetch, or that lacks the key",
        ],
      };
    case 403:
      return {
        verdict: "setup",
        code: "SOURCE_REFUSED",
        causes: ["a source address outside the listener's allowed ranges", "a firewall or proxy in between"],
      };
    case 404:
      return {
        verdict: "setup",
        code: "LISTENER_NOT_FOUND",
        causes: [
          "a mistyped listener id or base URL",
          "an automation that is not published, or whose trigger is not enabled",
        ],
      };
    case 400:
      return {
        verdict: "final",
        code: "REQUEST_REFUSED",
        causes: ["a clock that is more than 5 minutes off", "a proxy that removed or changed a header"],
      };
    case 413:
      return {
        verdict: "final",
        code: "REQUEST_REFUSED",
        causes: ["a proxy with a lower limit than the service's 65,536 bytes"],
      };
    case 405:
    case 415:
      return {
        verdict: "final",
        code: "REQUEST_REFUSED",
        causes: ["a URL that is not the listener's", "a proxy that changed the request"],
      };
    default:
      return status >= 300 && status < 400
        ? {
            verdict: "final",
            code: "REDIRECT_REFUSED",
            causes: ["a URL that is not the listener's final one: http for https, or another host"],
          }
        : {
            verdict: "final",
            code: "REQUEST_REFUSED",
            causes: ["a URL that is not the listener's", "a proxy in between"],
          };
  }
}
