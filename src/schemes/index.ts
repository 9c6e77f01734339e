/**
 * For authors of a scheme: what a signer and a verifier of one's own consist of, and what an answer may mean.
 *
 * @packageDocumentation
 */

export type {
  AnySigner,
  Refusal,
  Scheme,
  SchemeAnswers,
  SchemeCheck,
  SchemeMistake,
  SchemeSigner,
  SignedParts,
  UnverifiedRequest,
  Verification,
  Verifier,
} from "./scheme.js";

// The checks of a verdict

export { type SchemeChecks, schemeChecks } from "./scheme-checks.js";

// What an answer means to the sender

export {
  type Answer,
  type Classification,
  classifyAnswer,
  classifyRefusal,
  classifyTransient,
} from "./classification.js";
