import { type ErrorCode, HookproofError, messageOf } from "../errors.js";
import type { WebhookEvent } from "../protocol/event.js";

/** One attempt, as it is remembered. */
export interface AttemptRecord {
  /** 1 for the first. */
  readonly number: number;
  /** Milliseconds since the epoch, by the local clock. */
  readonly startedAt: number;
  readonly durationMs: number;
  /** The last answer's status, if there was one. */
  readonly status?: number;
  /** Why it was not accepted. */
  readonly code?: ErrorCode;
  /** The code the receiver itself named in its answer, if it did. */
  readonly receiverCode?: string;
  /** What was changed within the attempt to send the same event once more. */
  readonly corrected?: readonly ("clock" | "secret")[];
}

/**
 * An event that was not delivered: the code of the last attempt, all attempts, and the event itself, so that
 * `sender.send(error.event)` sends the same id and bytes again. `console.log` shows no body.
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
  readonly attempts: readonly AttemptRecord[];
  /** The event, with the id and bytes to send again. */
  declare readonly event: WebhookEvent;
  /** Likely causes in plain words; empty when there is nothing to add. */
  readonly hint: string;
  /** How long the receiver or the schedule wants to wait, when that is longer than `send` may. */
  declare readonly retryAfterMs?: number;

  constructor(details: {
    code: ErrorCode;
    event: WebhookEvent;
    attempts: readonly AttemptRecord[];
    causes?: readonly string[];
    retryAfterMs?: number | undefined;
    cause?: unknown;
  }) {
    const { code, event, attempts, causes = [], retryAfterMs, cause } = details;
    const last = attempts.at(-1);
    const tries = attempts.length === 1 ? "1 attempt" : `${attempts.length} attempts`;
    const answer =
      last?.status === undefined
        ? ""
        : ` (${last.status}${last.receiverCode ? ` ${last.receiverCode}` : ""})`;
    super(
      code,
      `${reasonOf(code, cause)}${answer} Event ${event.id} was not delivered after ${tries}.`,
      cause === undefined ? {} : { cause },
    );
    this.attempts = attempts;
    this.hint = causes.length === 0 ? "" : `Likely: ${causes.join("; ")}.`;
    if (retryAfterMs !== undefined) this.retryAfterMs = retryAfterMs;
    // Not enumerable: whoever logs the error does not log the event.
    Object.defineProperty(this, "event", { value: event, enumerable: false });
  }
}

/** What the transport or signer said, which names the host and the stage; otherwise the code's own sentence. */
function reasonOf(code: ErrorCode, cause: unknown): string {
  return cause instanceof HookproofError && cause.code === code ? cause.message : messageOf(code);
}
