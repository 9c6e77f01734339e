// What an answer means to a sender of HTTP message signatures.
import { type Answer, type Classification, classifyAnswer } from "../classification.js";

/**
 * What an answer means to the sender, of which RFC 9421 says nothing: 409 is the answer to a copy, as receivers of this
 * library give it. Pure.
 */
export function classify(answer: Answer, attempt: number, now: number): Classification {
  if (answer.status === 409)
    return attempt > 1 || answer.resent ? { outcome: "accepted", earlier: true } : { outcome: "duplicate" };
  return classifyAnswer(answer, attempt, now);
}
