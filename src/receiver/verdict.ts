import { statusOf, type VerdictCode } from "../errors.js";
import { type Check, type CheckStep, detailOf } from "../protocol/check.js";

/** A request that passed: what it says, with the body as received and as parsed. */
export interface ReceivedEvent {
  /** The event id, in lower case. */
  readonly id: string;
  readonly listenerId: string;
  /** `Webhook-Timestamp`, Unix seconds. */
  readonly timestamp: number;
  /** The exact bytes. Store, show and forward these: a deep value cannot be serialised again. */
  readonly body: Uint8Array;
  /** The parsed body. */
  readonly payload: unknown;
}

/** The outcome of the checks, step by step, in the service's own order. */
export type Verdict =
  | { readonly ok: true; readonly event: ReceivedEvent; readonly checks: readonly Check[] }
  | Rejection;

/** A request that failed: the code and status for the wire, and the detail that stays inside. */
export interface Rejection {
  readonly ok: false;
  readonly code: VerdictCode;
  readonly status: number;
  /** Private: what was seen and what was wanted. */
  readonly detail: string;
  readonly checks: readonly Check[];
  /** Private: what `run`, the trigger, the clock or the replay store threw, for RUN_FAILED and REPLAY_STORE_UNAVAILABLE; not enumerable. */
  readonly cause?: unknown;
}

/** The verdict a failed check makes of the checks up to it. */
export function rejection(
  checks: readonly Check[],
  failed: Check,
  code: VerdictCode,
  cause?: unknown,
): Rejection {
  const verdict = { ok: false, code, status: statusOf(code), detail: detailOf(failed), checks } as const;
  // Not enumerable, like an error's own: it may hold a connection string, so it is read on purpose or not at all.
  return cause === undefined
    ? verdict
    : Object.defineProperty(verdict, "cause", { value: cause, enumerable: false });
}

/** A check that passed. */
export function passed(step: CheckStep, rule: string, seen?: string): Check {
  return { step, ok: true, rule, ...(seen === undefined ? {} : { seen }) };
}

/** A check that failed. */
export function failed(
  step: CheckStep,
  code: VerdictCode,
  rule: string,
  seen?: string,
  wanted?: string,
): Check {
  return {
    step,
    ok: false,
    code,
    rule,
    ...(seen === undefined ? {} : { seen }),
    ...(wanted === undefined ? {} : { wanted }),
  };
}
