// Why a step failed, by code.
/** Why a step failed: a stable code for programs, a sentence for people. */
export interface StepFailure {
  readonly code: StepFailureCode;
  readonly message: string;
}

/**
 * - `EXPRESSION_INVALID`: not an expression of CEL
 * - `EXPRESSION_FAILED`: no value, such as a sum of a text and a number
 * - `EXPRESSION_TIMEOUT`, `EXPRESSION_TOO_LARGE`: more time or memory than a step may take
 * - `FIELD_MISSING`: a field that `ctx` does not have
 * - `CONDITION_NOT_BOOLEAN`: a condition that is neither true nor false
 * - `CONTEXT_TOO_DEEP`, `RESULT_TOO_LARGE`: what went in, or came out, is past the limits
 */
export type StepFailureCode =
  | "EXPRESSION_INVALID"
  | "EXPRESSION_FAILED"
  | "EXPRESSION_TIMEOUT"
  | "EXPRESSION_TOO_LARGE"
  | "FIELD_MISSING"
  | "CONDITION_NOT_BOOLEAN"
  | "CONTEXT_TOO_DEEP"
  | "RESULT_TOO_LARGE";

/** A value, or why there is none. */
export type Outcome<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly failure: StepFailure };

/** How a step ends that failed. */
export function failed(failure: StepFailure) {
  return { status: "STEP_STATUS_FAILED", result: "", failure } as const;
}
