import { HookproofError } from "../errors.js";
import { type Clock, monotonicMs } from "../primitives/clock.js";
import type { WebhookEvent } from "../protocol/event.js";
import type { Attempt } from "./attempt.js";
import { type AttemptRecord, DeliveryError } from "./delivery-error.js";
import { newDelivery, type Observe } from "./observe.js";
import { nextAttempt, type RetryPolicy } from "./retry-policy.js";

/** An event that arrived. */
export interface Receipt {
  /** `duplicate`: the first attempt got 409, so this id was used before. */
  readonly outcome: "accepted" | "duplicate";
  readonly eventId: string;
  readonly status: number;
  readonly attempts: readonly AttemptRecord[];
}

/** What deliveries to one listener share. */
export interface DeliveryContext {
  readonly url: string;
  readonly attempt: Attempt;
  readonly policy: RetryPolicy;
  readonly clock: Clock;
  readonly random: () => number;
  readonly wait: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** One delivery in all, its attempts and waits included. */
  readonly deadlineMs: number;
  readonly attemptTimeoutMs: number;
  readonly observe: Observe | undefined;
}

/** Attempts an event until an answer says that it has arrived; throws a `DeliveryError` when none does, or not in time. */
export type Deliver = (event: WebhookEvent, signal: AbortSignal | undefined) => Promise<Receipt>;

/** Deliveries to one listener: attempts, and the waits between them that the retry policy sets. */
export function createDelivery(context: DeliveryContext): Deliver {
  const { url, attempt, policy, clock, random, wait, attemptTimeoutMs, observe } = context;

  return (event, signal) => {
    const subject = { eventId: event.id, url, delivery: newDelivery() };
    const running: Running = { subject, startedAt: monotonicMs(clock), attempts: [], signal };
    return observe ? observed(observe, event, running) : untilArrived(event, running);
  };

  async function observed(tell: Observe, event: WebhookEvent, running: Running): Promise<Receipt> {
    const { subject, startedAt, attempts } = running;
    tell({ ...subject, type: "send-started", bodyBytes: event.body.length });
    const ended = (outcome: Receipt["outcome"] | "failed", code = {}) =>
      tell({
        ...subject,
        type: "send-ended",
        durationMs: monotonicMs(clock) - startedAt,
        attempts: attempts.length,
        outcome,
        ...code,
      });
    try {
      const receipt = await untilArrived(event, running);
      ended(receipt.outcome);
      return receipt;
    } catch (error) {
      ended("failed", error instanceof HookproofError ? { code: error.code } : {});
      throw error;
    }
  }

  async function untilArrived(
    event: WebhookEvent,
    { subject, startedAt, attempts, signal }: Running,
  ): Promise<Receipt> {
    const deadline = startedAt + context.deadlineMs;
    let mayHaveArrived = false;
    for (;;) {
      const { record, classification, cause, ...outcome } = await attempt({
        event,
        number: attempts.length + 1,
        delivery: subject.delivery,
        timeoutMs: Math.min(attemptTimeoutMs, deadline - monotonicMs(clock)),
        signal,
      });
      attempts.push(record);
      mayHaveArrived ||= outcome.mayHaveArrived;
      const { verdict } = classification;
      if (verdict === "accepted" || verdict === "duplicate")
        return { outcome: verdict, eventId: event.id, status: record.status ?? 0, attempts };
      const { code } = classification;
      const failure = { code, event, attempts, cause, mayHaveArrived };
      if (verdict !== "retry") throw new DeliveryError({ ...failure, causes: classification.causes });

      const now = monotonicMs(clock);
      const next = nextAttempt(
        policy,
        { attempts: attempts.length, firstAttemptAt: startedAt },
        { now, retryAfterMs: classification.retryAfterMs, random: random() },
      );
      if (next.at === undefined)
        throw new DeliveryError(next.reason === "window" ? { ...failure, code: "WINDOW_CLOSED" } : failure);
      const delayMs = next.at - now;
      if (next.at >= deadline) throw new DeliveryError({ ...failure, retryAfterMs: delayMs });
      observe?.({ ...subject, type: "retry-scheduled", attempt: attempts.length + 1, delayMs, code });
      await wait(delayMs, signal);
      if (signal?.aborted) throw new DeliveryError({ ...failure, code: "ABORTED" });
    }
  }
}

/** A delivery under way. */
interface Running {
  readonly subject: { readonly eventId: string; readonly url: string; readonly delivery: number };
  readonly startedAt: number;
  readonly attempts: AttemptRecord[];
  readonly signal: AbortSignal | undefined;
}
