/**
 * Explains a refused request: which known mistake made its signature or token, and what to change.
 *
 * @packageDocumentation
 */

export { type DiagnoseInput, type Diagnosis, diagnose, type KnownListener } from "./diagnose.js";

// A request as it was sent, and as it was received

export { type Change, type ComparedRequest, type Comparison, changes, compare } from "../compare/compare.js";

// The catalogue

export { mistakes } from "./catalogue.js";
export type { Mistake } from "./mistake.js";

// Codes and statuses in words

export {
  type CodeDescription,
  describeCode,
  describeStatus,
  errorCodes,
  type StatusDescription,
} from "../codes/describe.js";
