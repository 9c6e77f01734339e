import { CODES, type ErrorCode } from "../core/errors.js";
import { likelyCauses } from "../core/likely-causes.js";
import { CODE_ADVICE } from "./tables/code-advice.js";
import { STATUS_ADVICE } from "./tables/status-advice.js";

/** An error code of the library in words. */
export interface CodeDescription {
  /** The code itself, such as `SIGNATURE_MISMATCH`. */
  readonly code: ErrorCode;
  /** The HTTP status that a listener answers with; absent if no listener answers with this code. */
  readonly status?: number;
  /** What happened, in one sentence. A listener may put it into its answer. */
  readonly message: string;
  /** Why it usually happens. */
  readonly cause: string;
  /** What to do about it. */
  readonly fix: string;
}

/**
 * Every code that errors and verdicts of the library can have.
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
 * What an error code means, why it usually happens and what to do; `undefined` for a text that is no code.
 *
 * @example
 * ```ts
 * import { describeCode } from "hookproof/diagnose";
 *
 * const described = describeCode("EVENT_DUPLICATE");
 * described?.status; // 409
 * described?.fix; // "Nothing to do: …"
 * ```
 */
export function describeCode(code: string): CodeDescription | undefined {
  if (!Object.hasOwn(CODES, code)) return undefined;
  const known = code as ErrorCode;
  const [status, message] = CODES[known];
  const [cause, fix] = CODE_ADVICE[known];
  return { code: known, ...(status === 0 ? {} : { status }), message, cause, fix };
}

/** A status of the service in words. */
export interface StatusDescription {
  /** The status itself, such as 401. */
  readonly status: number;
  /** What it means, in one sentence. */
  readonly message: string;
  /** What usually leads to it, the likeliest first; empty for a success, and where the service is at fault. */
  readonly causes: readonly string[];
  /** What to do about it. */
  readonly fix: string;
  /** The codes that a listener answers with this status. */
  readonly codes: readonly ErrorCode[];
}

/**
 * What a status of the service means, what usually leads to it and what to do; `undefined` for one that it never
 * answers.
 *
 * @example
 * ```ts
 * import { describeStatus } from "hookproof/diagnose";
 *
 * describeStatus(401)?.codes.includes("SIGNATURE_MISMATCH"); // true
 * ```
 */
export function describeStatus(status: number): StatusDescription | undefined {
  const advice = STATUS_ADVICE[status];
  if (advice === undefined) return undefined;
  const [message, fix] = advice;
  const isRefusal = status >= 400 && status < 500 && status !== 409 && status !== 429 && status !== 431;
  return {
    status,
    message,
    causes: isRefusal ? likelyCauses(status) : [],
    fix,
    codes: errorCodes().filter((code) => CODES[code][0] === status),
  };
}
