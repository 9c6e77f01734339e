// The record of one attempt.
import type { ErrorCode } from "../core/errors.js";

/** The record of one attempt. */
export interface AttemptRecord {
  /** 1 for the first. */
  readonly number: number;
  /** Milliseconds since the epoch, by the local clock. */
  readonly startedAt: number;
  /** Milliseconds that the attempt took, corrections included. */
  readonly durationMs: number;
  /** The last answer's status, if there was one. */
  readonly status?: number;
  /** Why it was not accepted. */
  readonly code?: ErrorCode;
  /** The code the receiver itself named in its answer, if it did. */
  readonly receiverCode?: string;
  /**
   * The beginning of the receiver's answer where it is no 200: one line of at most 200 characters, without control
   * characters and credentials. Not enumerable, as a receiver may repeat the body in it: anyone who logs the record does
   * not log it.
   */
  readonly answer?: string;
  /** What was changed within the attempt to send the same event once more. */
  readonly corrected?: readonly ("clock" | "secret")[];
}
