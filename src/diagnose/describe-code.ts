import { CODES, type ErrorCode } from "../errors.js";

/** A code of the library in words. */
export interface CodeDescription {
  readonly code: ErrorCode;
  /** The HTTP status a listener answers with; undefined for a code that never goes on the wire. */
  readonly status?: number;
  /** What it says, in one sentence. */
  readonly message: string;
}

/**
 * Every code that verdicts and errors of the library can have.
 *
 * @example
 * ```ts
 * import { errorCodes } from "hookproof/diagnose";
 *
 * errorCodes().includes("SIGNATURE_MISMATCH"); // true
 * ```
 */
export function errorCodes(): ErrorCode[] {
  return Object.keys(CODES) as ErrorCode[];
}

/**
 * What a code means, for output that explains one; undefined for a text that is no code.
 *
 * @example
 * ```ts
 * import { describeCode } from "hookproof/diagnose";
 *
 * describeCode("EVENT_DUPLICATE")?.status; // 409
 * ```
 */
export function describeCode(code: string): CodeDescription | undefined {
  if (!Object.hasOwn(CODES, code)) return undefined;
  const known = code as ErrorCode;
  const [status, message] = CODES[known];
  return { code: known, ...(status === 0 ? {} : { status }), message };
}
