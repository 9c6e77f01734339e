/**
 * For authors of a scheme: what a signer and a verifier of one's own consist of, and what an answer may mean.
 *
 * @packageDocumentation
 */

export type {
  Refusal,
  Scheme,
  SchemeAnswers,
  SignedParts,
  UnverifiedRequest,
  Verification,
  Verifier,
} from "./scheme.js";

// The checks of a verdict

export { type SchemeCheck, type SchemeChecks, schemeChecks } from "../core/check.js";

// What an answer means to the sender

export {
  type Answer,
  type Classification,
  classifyAnswer,
  classifyRefusal,
  classifyTransient,
} from "./classification.js";
