/**
 * Explains a refused request: which known mistake made its signature or token, and what to change.
 *
 * @packageDocumentation
 */

export { type DiagnoseInput, type Diagnosis, diagnose } from "./diagnose.js";

// Requests of other schemes

export type { HttpSignatureInput } from "../schemes/http-signature/diagnose.js";
export type { OtherScheme } from "../schemes/other-scheme.js";
export type { SecurityEventInput } from "../schemes/security-event-token/diagnose.js";
export type { StandardWebhooksInput } from "../schemes/standard-webhooks/diagnose.js";

// A request as it was sent, and as it was received

export { type Change, type ComparedRequest, type Comparison, changes, compare } from "../compare/compare.js";

// The catalogue

export type { Mistake } from "../rows/mistake.js";
export { mistakes } from "./catalogue.js";

// Codes and statuses in words

export {
  type CodeDescription,
  describeCode,
  describeStatus,
  errorCodes,
  type StatusDescription,
} from "../codes/describe.js";
