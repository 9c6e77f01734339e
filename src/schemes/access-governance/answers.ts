// What an answer of the service means.
import type { ErrorCode } from "../../core/errors.js";
import {
  type Answer,
  acceptance,
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
  if (status >= 200 && status < 300)
    return acceptance(result, status === 200 ? undefined : "; the service answers 200");
  if (status === 409)
    return attempt > 1 || result.resent ? { outcome: "accepted", earlier: true } : { outcome: "duplicate" };
  return classifyTransient(result, now) ?? classifyRefusal(result, likelyCauses(status), now);
}
