// Attempts an event until it has arrived, with the waits between.
import { type Clock, monotonicMs } from "../core/clock.js";
import { type ErrorCode, HookproofError, messageOf } from "../core/errors.js";
import type { WebhookEvent } from "../core/event.js";
import type { Attempts } from "./attempt-options.js";
import type { AttemptRecord } from "./attempt-record.js";
import { newDelivery, type Observer } from "./observe.js";
import { nextAttempt, type RetryPolicy } from "./retry-policy.js";

/** An event that arrived. */
export interface Receipt {
  /** `duplicate`: the first attempt got 409, so this id was used before. */
  readonly outcome: "accepted" | "duplicate";
  /** The id to look for in the receiver's log. */
  readonly eventId: string;
  /** The HTTP status of the answer that accepted it. */
  readonly status: number;
  /** All attempts, in order. */
  readonly attempts: readonly AttemptRecord[];
}

/** What deliveries to one listener share. */
export interface DeliveryContext extends Attempts {
  readonly policy: RetryPolicy;
  readonly clock: Clock;
  readonly random: () => number;
  readonly wait: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** For one delivery with all its attempts and waits. */
  readonly deadlineMs: number;
  readonly observe: Observer | undefined;
}

/** A delivery under way. */
interface Running {
  readonly subject: { readonly eventId: string; readonly url: string; readonly delivery: number };
  readonly startedAt: number;
  readonly attempts: AttemptRecord[];
  readonly signal: AbortSignal | undefined;
}

/**
 * Attempts an event until an answer says that it has arrived, with the waits between attempts that the retry policy
 * sets.
 *
 * @throws {DeliveryError} when no answer says so, or not in time
 */
export function deliver(
  context: DeliveryContext,
  event: WebhookEvent,
  signal: AbortSignal | undefined,
): Promise<Receipt> {
  const subject = { eventId: event.id, url: context.url, delivery: newDelivery() };
  const running: Running = { subject, startedAt: monotonicMs(context.clock), attempts: [], signal };
  return context.observe
    ? observed(context, context.observe, event, running)
    : untilArrived(context, event, running);
}

async function observed(
  context: DeliveryContext,
  observe: Observer,
  event: WebhookEvent,
  running: Running,
): Promise<Receipt> {
  const { subject, startedAt, attempts } = running;
  observe({ ...subject, type: "send-started", bodyBytes: event.body.length });
  const ended = (outcome: Receipt["outcome"] | "failed", code = {}) =>
    observe({
      ...subject,
      type: "send-ended",
      durationMs: monotonicMs(context.clock) - startedAt,
      attempts: attempts.length,
      outcome,
      ...code,
    });
  try {
    const receipt = await untilArrived(context, event, running);
    ended(receipt.outcome);
    return receipt;
  } catch (error) {
    ended("failed", error instanceof HookproofError ? { code: error.code } : {});
    throw error;
  }
}

async function untilArrived(
  { attempt, attemptTimeoutMs, policy, clock, random, wait, deadlineMs, observe }: DeliveryContext,
  event: WebhookEvent,
  { subject, startedAt, attempts, signal }: Running,
): Promise<Receipt> {
  const deadline = startedAt + deadlineMs;
  let mayHaveArrived = false;
  for (;;) {
    const attempted = await attempt({
      event,
      number: attempts.length + 1,
      firstAttemptAt: attempts[0]?.startedAt,
      delivery: subject.delivery,
      timeoutMs: Math.min(attemptTimeoutMs, deadline - monotonicMs(clock)),
      signal,
    });
    const { record, classification, cause } = attempted;
    attempts.push(record);
    mayHaveArrived ||= attempted.mayHaveArrived;
    const { outcome } = classification;
    if (outcome === "accepted" || outcome === "duplicate")
      return { outcome, eventId: event.id, status: record.status ?? 0, attempts };
    const { code } = classification;
    const retryAfterMs = obeyed(classification.retryAfterMs, policy);
    const failure = { code, event, attempts, cause, mayHaveArrived, retryAfterMs };
    if (outcome !== "retry") throw new DeliveryError({ ...failure, hints: classification.hints });

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

function obeyed(retryAfterMs: number | undefined, { maxRetryAfterMs }: RetryPolicy): number | undefined {
  return retryAfterMs === undefined ? undefined : Math.min(retryAfterMs, maxRetryAfterMs);
}

/**
 * No attempt was answered with 200 or 409: the code of the last one, all of them, and the event itself, so that
 * `sender.send(error.event)` sends the same id and bytes again, which is safe where the event may have arrived. `console.log` shows no body.
 *
 * @example
 * ```ts
 * import { createEvent, createSender, DeliveryError, hmacSigner } from "hookproof";
 *
 * const url = "https://tenant.example.com/api/v1/webhooks/incoming/lst_offboarding";
 * const sender = createSender({ url, signer: hmacSigner({ secret: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8" }) });
 * const event = createEvent({ type: "user.offboarded" });
 * const deliver = () =>
 *   sender.send(event).catch((error) => {
 *     if (error instanceof DeliveryError) console.error(error.code, error.hint, error.attempts.length);
 *   });
 * ```
 */
export class DeliveryError extends HookproofError {
  override readonly name: string = "DeliveryError";
  /** All attempts, in order. */
  readonly attempts: readonly AttemptRecord[];
  /** The event, with the id and bytes to send again. */
  declare readonly event: WebhookEvent;
  /**
   * Whether the receiver may have run the automation all the same: an attempt got a 5xx, or no answer to what was sent. False
   * only if every attempt was refused with another status or ended before anything was sent.
   */
  readonly mayHaveArrived: boolean;
  /** Likely mistakes in plain words; empty when there is nothing to add. */
  readonly hint: string;
  /**
   * The delay in milliseconds that the receiver wants, when no attempt is left or none is waited for; or the one that it or
   * the schedule wants, when that is longer than `send` may take.
   */
  declare readonly retryAfterMs?: number;

  constructor(details: {
    code: ErrorCode;
    event: WebhookEvent;
    attempts: readonly AttemptRecord[];
    mayHaveArrived: boolean;
    hints?: readonly string[];
    retryAfterMs?: number | undefined;
    cause?: unknown;
  }) {
    const { code, event, attempts, mayHaveArrived, hints = [], retryAfterMs, cause } = details;
    const last = attempts.at(-1);
    const answer =
      last?.status === undefined
        ? ""
        : ` (${last.status}${last.receiverCode ? ` ${last.receiverCode}` : ""})`;
    super(
      code,
      `${reasonOf(code, cause)}${answer} Event ${event.id} ${ending(details)}`,
      cause === undefined ? {} : { cause },
    );
    this.attempts = attempts;
    this.mayHaveArrived = mayHaveArrived;
    this.hint = hints.length === 0 ? "" : `Likely: ${hints.join("; ")}.`;
    if (retryAfterMs !== undefined) this.retryAfterMs = retryAfterMs;
    // Not enumerable: whoever logs the error does not log the event.
    Object.defineProperty(this, "event", { value: event, enumerable: false });
  }
}

interface Ending {
  readonly code: ErrorCode;
  readonly attempts: readonly AttemptRecord[];
  readonly mayHaveArrived: boolean;
}

/** What these attempts alone show about the event: an earlier `send` may have delivered it. */
function ending({ code, attempts, mayHaveArrived }: Ending): string {
  const tries = attempts.length === 1 ? "1 attempt" : `${attempts.length} attempts`;
  if (!mayHaveArrived) return `was not delivered in ${tries}.`;
  const advice =
    code === "WINDOW_CLOSED"
      ? "Look whether it did before you send a new one."
      : "Send it again under the same id.";
  return `was not confirmed in ${tries}: it may have arrived. ${advice}`;
}

/** The transport's or signer's own message, which names the host and the stage; otherwise the code's sentence. */
function reasonOf(code: ErrorCode, cause: unknown): string {
  return cause instanceof HookproofError && cause.code === code ? cause.message : messageOf(code);
}
