import { HookproofError } from "../errors.js";
import { type Clock, checkedClock, systemClock } from "../primitives/clock.js";
import { harmless } from "../primitives/harmless.js";
import { steadyRandom } from "../primitives/jitter.js";
import { eventFrom } from "../protocol/event.js";
import { type ConnectionOptions, connect } from "./connection.js";
import { createDelivery, type Receipt } from "./deliver.js";
import { type AttemptRecord, DeliveryError } from "./delivery-error.js";
import type { Observe } from "./observe.js";
import { type RetryPolicy, retryPolicy } from "./retry-policy.js";
import { reuseGuard } from "./reuse-guard.js";
import { inOrder } from "./send-many.js";
import { steadyWait } from "./waiting.js";

/** Options of `createSender`. */
export interface SenderOptions extends ConnectionOptions {
  /** Fields of the retry policy to change; 3 attempts by default. */
  retry?: Partial<RetryPolicy> | undefined;
  /** How long `send` may take with all its attempts and waits; 30,000 ms by default. */
  deadlineMs?: number | undefined;
  /** Called with everything that happens; see `SenderEvent`. */
  observe?: Observe | undefined;
  clock?: Clock | undefined;
  /** Numbers from 0 up to 1, for the jitter; `Math.random` by default. */
  random?: (() => number) | undefined;
  /** Waits between attempts; `setTimeout` by default, and where it fails. Tests pass one that moves their clock. */
  wait?: ((ms: number, signal?: AbortSignal) => Promise<void>) | undefined;
}

/** Options of one `send`. */
export interface SendOptions {
  /** An id of your own, UUID v4, when the same event may be sent again after a crash. */
  eventId?: string | undefined;
  signal?: AbortSignal | undefined;
}

/** What `trySend` gives: a receipt, or the error that `send` would have thrown. */
export type SendResult =
  | ({ readonly ok: true } & Receipt)
  | {
      readonly ok: false;
      readonly code: HookproofError["code"];
      /** Absent when the payload was refused before it became an event. */
      readonly eventId?: string;
      readonly attempts: readonly AttemptRecord[];
      readonly error: HookproofError;
    };

/** Sends events to one listener. */
export interface Sender {
  /** Delivers a payload, or an event of `createEvent`; throws a `DeliveryError` when no answer says that it arrived. */
  send(payload: unknown, options?: SendOptions): Promise<Receipt>;
  /** The same, with failures as values. */
  trySend(payload: unknown, options?: SendOptions): Promise<SendResult>;
  /** Sends many, `concurrency` at a time (8 by default); results come in the order of the payloads. */
  sendMany(
    payloads: Iterable<unknown> | AsyncIterable<unknown>,
    options?: { concurrency?: number; signal?: AbortSignal },
  ): AsyncGenerator<SendResult, void, undefined>;
}

/**
 * A sender for one listener: signs every attempt anew with the same id and bytes, and follows the protocol in
 * what it retries (specification 4.10, 5.2, 7; docs/decisions.md). Keep it: connections, the clock correction
 * and the secret that works are remembered in it.
 *
 * @throws {TypeError | RangeError | HookproofError} for options that cannot work
 *
 * @example
 * ```ts
 * import { createSender, hmacSigner } from "hookproof";
 *
 * const sender = createSender({
 *   url: "https://tenant.example.com/api/v1/webhooks/incoming/lst_offboarding",
 *   signer: hmacSigner({ secret: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8" }),
 * });
 * const offboard = (userId: string) => sender.send({ type: "user.offboarded", userId });
 * ```
 */
export function createSender(options: SenderOptions): Sender {
  const { deadlineMs = 30_000 } = options;
  const clock = checkedClock(options.clock ?? systemClock);
  if (!(deadlineMs > 0)) throw new RangeError("deadlineMs must be above 0");
  const observe = harmless(options.observe);
  const deliver = createDelivery({
    ...connect(options, { clock, observe }),
    policy: retryPolicy(options.retry),
    clock,
    random: steadyRandom(options.random ?? Math.random),
    wait: steadyWait(options.wait),
    deadlineMs,
    observe,
  });
  const guard = reuseGuard();

  async function send(payload: unknown, { eventId, signal }: SendOptions = {}): Promise<Receipt> {
    const event = eventFrom(payload, eventId);
    const isNew = eventId === undefined && event !== payload;
    if (isNew) guard.remember(event);
    else guard.check(event);
    try {
      return await deliver(event, signal);
    } catch (error) {
      if (isNew) guard.check(event);
      throw error;
    }
  }

  async function trySend(payload: unknown, options?: SendOptions): Promise<SendResult> {
    try {
      return { ok: true, ...(await send(payload, options)) };
    } catch (error) {
      if (!(error instanceof HookproofError)) throw error;
      if (!(error instanceof DeliveryError)) return { ok: false, code: error.code, attempts: [], error };
      return { ok: false, code: error.code, eventId: error.event.id, attempts: error.attempts, error };
    }
  }

  return {
    send,
    trySend,
    sendMany(payloads, { concurrency = 8, signal } = {}) {
      if (!Number.isInteger(concurrency) || concurrency < 1)
        throw new RangeError("concurrency must be a whole number, 1 or more");
      return inOrder(payloads, { concurrency, signal }, (payload) => trySend(payload, { signal }));
    },
  };
}
