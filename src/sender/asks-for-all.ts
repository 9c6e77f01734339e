// Whether the wait that an answer asks for is the receiver's, or one event's.
import { FINAL } from "../schemes/classification.js";
import type { AttemptOutcome } from "./attempt.js";

/** Whether the `Retry-After` of an answer is for all events of the receiver, and not for this one alone. */
export function asksForAll({ classification, record: { status } }: AttemptOutcome): boolean {
  if (status === 429 || status === 503) return true;
  return classification.outcome === "setup" && !FINAL.has(status);
}
