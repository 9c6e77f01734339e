// What an answer of the service means.
import type { ErrorCode } from "../../core/errors.js";
import { onlyValue } from "../../core/headers.js";
import {
  type Answer,
  type Classification,
  classifyFailure,
  classifyRefusal,
  classifyTransient,
} from "../classification.js";
import { likelyCauses } from "./likely-causes.js";

/**
 * What an answer of the service, or a failure in its place, means (specification 7; docs/decisions.md for the answers it
 * does not name). Pure.
 *
 * @param attempt 1 for an event's first attempt
 * @param now milliseconds since the epoch, for `Retry-After` as a date
 */
export function classify(
  result: Answer | { readonly failure: ErrorCode },
  attempt: number,
  now: number,
): Classification {
  if ("failure" in result) return classifyFailure(result.failure);
  const { status } = result;
  const page = isPage(result);
  if (status === 200 && !page) return { outcome: "accepted", earlier: false };
  if (status >= 200 && status < 300) {
    return {
      outcome: "accepted",
      earlier: false,
      warning: page
        ? `The receiver answered ${status} with a page of HTML, as a login page or a website does. Is this the listener itself?`
        : `The receiver answered ${status}; the service answers 200. Is this the listener itself?`,
    };
  }
  if (status === 409)
    return attempt > 1 || result.resent ? { outcome: "accepted", earlier: true } : { outcome: "duplicate" };
  return (
    classifyTransient(result, now) ??
    classifyRefusal(result, [...inFront(result, page), ...likelyCauses(status)])
  );
}

/** Whether an answer is a page of HTML. Its type says nothing: frameworks call an "ok" text/html too. */
function isPage({ body = new Uint8Array() }: Answer): boolean {
  const start = String.fromCharCode(...body.subarray(0, 100));
  return /^\s*<(?:!doctype html|html|head|body)[\s>]/i.test(start);
}

/** What stands in front of the listener, where the answer shows that it is not the listener's own. */
function inFront({ headers }: Answer, page: boolean): string[] {
  const header = (name: string) => onlyValue(headers, name) ?? "";
  // How AWS answers where a gateway has no such route.
  if (header("x-amzn-errortype").startsWith("MissingAuthenticationToken"))
    return ["a path that the gateway in front has no route for"];
  if (/^(?:basic|digest|negotiate|ntlm)\b/i.test(header("www-authenticate")))
    return ["HTTP authentication in front of the listener, which asks for a password"];
  return page
    ? ["another server in front of the listener, or another path: the answer is a page of HTML"]
    : [];
}
