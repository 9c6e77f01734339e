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
  readonly attempts: readonly AttemptRecord[];
  /** The event, with the id and bytes to send again. */
  declare readonly event: WebhookEvent;
  /**
   * Whether the receiver may have run the automation all the same: an attempt got a 5xx, or no answer to what was sent. False
   * only if every attempt was refused with another status or ended before anything was sent.
   */
  readonly mayHaveArrived: boolean;
  /** Likely causes in plain words; empty when there is nothing to add. */
  readonly hint: string;
  /** How long the receiver or the schedule wants to wait, when that is longer than `send` may. */
  declare readonly retryAfterMs?: number;

  constructor(details: {
    code: ErrorCode;
    event: WebhookEvent;
    attempts: readonly AttemptRecord[];
    mayHaveArrived: boolean;
    causes?: readonly string[];
    retryAfterMs?: number | undefined;
    cause?: unknown;
  }) {
    const { code, event, attempts, mayHaveArrived, causes = [], retryAfterMs, cause } = details;
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
    this.hint = causes.length === 0 ? "" : `Likely: ${causes.join("; ")}.`;
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

/** What is known of the event, of these attempts alone: an earlier `send` may have brought it there. */
function ending({ code, attempts, mayHaveArrived }: Ending): string {
  const tries = attempts.length === 1 ? "1 attempt" : `${attempts.length} attempts`;
  if (!mayHaveArrived) return `was not delivered in ${tries}.`;
  const advice =
    code === "WINDOW_CLOSED"
      ? "Look whether it did before you send a new one."
      : "Send it again under the same id.";
  return `was not confirmed in ${tries}: it may have arrived. ${advice}`;
}

/** What the transport or signer said, which names the host and the stage; otherwise the code's own sentence. */
function reasonOf(code: ErrorCode, cause: unknown): string {
  return cause instanceof HookproofError && cause.code === code ? cause.message : messageOf(code);
}
