// The outcome of all checks.
import { type Check, detailOf } from "../core/check.js";
import { statusOf, type VerdictCode } from "../core/errors.js";
import type { Verifier } from "../schemes/scheme.js";

/** A request that passed the checks: what it says, with the body as received and as parsed. */
export interface ReceivedEvent {
  /** `Webhook-Event-Id`, in lower case; with another scheme its own id of the event. */
  readonly id: string;
  /** The listener's id, as in its path; the receiver's `id` where it has a verifier of its own. */
  readonly listenerId: string;
  /** When the request was signed, in Unix seconds: `Webhook-Timestamp`. */
  readonly timestamp: number;
  /** The bytes as received. Store, show and forward these: a very deep value cannot be serialised again. */
  readonly body: Uint8Array;
  /** The parsed body, or what the scheme's proof contains. */
  readonly payload: unknown;
}

/** The outcome of the checks, step by step, in the order of `CHECKS`. */
export type Verdict =
  | {
      /** The request passed, and its event was accepted where `run` was called. */
      readonly ok: true;
      readonly event: ReceivedEvent;
      readonly checks: readonly Check[];
    }
  | Rejection;

/** A request that failed: the code and the status of the answer, and the detail that stays on your side. */
export interface Rejection {
  /** False: the request is refused. */
  readonly ok: false;
  /** The code in the answer's body, such as `SIGNATURE_MISMATCH`. */
  readonly code: VerdictCode;
  /** The HTTP status of the answer. */
  readonly status: number;
  /** Private: the rule that was broken, what was seen and what was wanted. */
  readonly detail: string;
  /** The checks up to the one that failed, which is the last. */
  readonly checks: readonly Check[];
  /**
   * Private: what `run`, the trigger, the clock or the replay store threw, for RUN_FAILED and
   * REPLAY_STORE_UNAVAILABLE. It is not enumerable, so that no log prints it by accident.
   */
  readonly cause?: unknown;
}

/** The verdict on a request whose last check failed. */
export function rejection(
  { answers }: Verifier,
  checks: readonly Check[],
  check: Check,
  cause?: unknown,
): Rejection {
  // A failed check without a code, as a fault of ours could make it, must not let a request through.
  const code = check.code ?? "RUN_FAILED";
  const status = answers?.statuses?.[code] ?? statusOf(code);
  const verdict = { ok: false, code, status, detail: detailOf(check), checks } as const;
  // Not enumerable, like the cause of an Error: it may hold a connection string.
  return cause === undefined
    ? verdict
    : Object.defineProperty(verdict, "cause", { value: cause, enumerable: false });
}
