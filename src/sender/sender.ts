import { sha256Base64url } from "#hash";
import { createTransport } from "#transport";
import { HookproofError } from "../errors.js";
import type { Transport, TransportOptions } from "../http/transport.js";
import { type Clock, systemClock } from "../primitives/clock.js";
import { createEvent, isWebhookEvent, type WebhookEvent } from "../protocol/event.js";
import type { HeaderPair } from "../protocol/headers.js";
import { parseListenerUrl } from "../protocol/listener-url.js";
import type { Signer } from "../protocol/signer.js";
import { type Attempt, createAttempt, isFree } from "./attempt.js";
import { type AttemptRecord, DeliveryError } from "./delivery-error.js";
import { harmless, type Observe } from "./observe.js";
import { nextAttempt, type RetryPolicy, retryPolicy } from "./retry-policy.js";
import { inOrder } from "./send-many.js";
import { safe } from "./sign-request.js";

/** Options of `createSender`. */
export interface SenderOptions extends TransportOptions {
  /** The listener's URL, `{base_url}/api/v1/webhooks/incoming/{listener_id}`. HTTPS, or HTTP on loopback. */
  url: string;
  /** `hmacSigner(...)` or `jwtSigner(...)`. */
  signer: Signer;
  /** Fields of the retry policy to change; 3 attempts by default. */
  retry?: Partial<RetryPolicy> | undefined;
  /** How long `send` may take with all its attempts and waits; 30,000 ms by default. */
  deadlineMs?: number | undefined;
  /** How long one attempt may take; 10,000 ms by default. */
  attemptTimeoutMs?: number | undefined;
  /** An HTTP transport of your own instead of the library's. */
  transport?: Transport | undefined;
  /** Headers to send along; the protocol's own cannot be set. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** Called with everything that happens; see `SenderEvent`. */
  observe?: Observe | undefined;
  clock?: Clock | undefined;
  /** Numbers from 0 up to 1, for the jitter; `Math.random` by default. */
  random?: (() => number) | undefined;
  /** Waits between attempts; `setTimeout` by default. Tests pass one that moves their clock. */
  wait?: ((ms: number, signal?: AbortSignal) => Promise<void>) | undefined;
}

/** Options of one `send`. */
export interface SendOptions {
  /** An id of your own, UUID v4, when the same event may be sent again after a crash. */
  eventId?: string | undefined;
  signal?: AbortSignal | undefined;
}

/** An event that arrived. */
export interface Receipt {
  /** `duplicate`: the first attempt got 409, so this id was used before. */
  readonly outcome: "accepted" | "duplicate";
  readonly eventId: string;
  readonly status: number;
  readonly attempts: readonly AttemptRecord[];
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
  /** Delivers a payload, or an event of `createEvent`; throws a `DeliveryError` when it does not arrive. */
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
  const {
    signer,
    clock = systemClock,
    random = Math.random,
    wait = waitFor,
    deadlineMs = 30_000,
    attemptTimeoutMs = 10_000,
    agent,
  } = options;
  const { href: url } = parseListenerUrl(options.url);
  if (typeof signer?.sign !== "function")
    throw new TypeError("signer must be hmacSigner(...) or jwtSigner(...)");
  if (!(deadlineMs > 0)) throw new RangeError("deadlineMs must be above 0");
  if (!(attemptTimeoutMs > 0)) throw new RangeError("attemptTimeoutMs must be above 0");
  const policy = retryPolicy(options.retry);
  const observe = harmless(options.observe);
  const transport = options.transport ?? createTransport(options);
  const attempt = createAttempt({
    url,
    signer,
    transport,
    clock,
    attemptTimeoutMs,
    headers: freeHeaders(options.headers),
    agent,
    observe,
  });
  const guard = reuseGuard();

  async function send(payload: unknown, { eventId, signal }: SendOptions = {}): Promise<Receipt> {
    const event = eventOf(payload, eventId);
    guard(event);
    const startedAt = clock.now();
    observe({ type: "send-started", eventId: event.id, url, bodyBytes: event.body.length });
    const attempts: AttemptRecord[] = [];
    const ended = { type: "send-ended", eventId: event.id, url } as const;
    try {
      const receipt = await deliver(attempt, event, attempts, { policy, startedAt, signal });
      observe({
        ...ended,
        durationMs: clock.now() - startedAt,
        attempts: attempts.length,
        outcome: receipt.outcome,
      });
      return receipt;
    } catch (error) {
      const code = error instanceof HookproofError ? { code: error.code } : {};
      observe({
        ...ended,
        durationMs: clock.now() - startedAt,
        attempts: attempts.length,
        outcome: "failed",
        ...code,
      });
      throw error;
    }
  }

  async function deliver(
    attempt: Attempt,
    event: WebhookEvent,
    attempts: AttemptRecord[],
    {
      policy,
      startedAt,
      signal,
    }: { policy: RetryPolicy; startedAt: number; signal: AbortSignal | undefined },
  ): Promise<Receipt> {
    for (;;) {
      const { record, classification, cause } = await attempt(event, attempts.length + 1, signal);
      attempts.push(record);
      if (classification.verdict === "accepted" || classification.verdict === "duplicate") {
        return { outcome: classification.verdict, eventId: event.id, status: record.status ?? 0, attempts };
      }
      const { code } = classification;
      const failure = { code, event, attempts, cause };
      if (classification.verdict !== "retry")
        throw new DeliveryError({ ...failure, causes: classification.causes });

      const now = clock.now();
      const state = { attempts: attempts.length, firstAttemptAt: startedAt };
      const next = nextAttempt(policy, state, {
        now,
        retryAfterMs: classification.retryAfterMs,
        random: random(),
      });
      if (next.at === undefined)
        throw new DeliveryError(next.reason === "window" ? { ...failure, code: "WINDOW_CLOSED" } : failure);
      const delayMs = next.at - now;
      if (next.at > startedAt + deadlineMs) throw new DeliveryError({ ...failure, retryAfterMs: delayMs });
      observe({
        type: "retry-scheduled",
        eventId: event.id,
        url,
        attempt: attempts.length + 1,
        delayMs,
        code,
      });
      await wait(delayMs, signal);
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
      return inOrder(payloads, concurrency, (payload) => trySend(payload, { signal }));
    },
  };
}

function eventOf(payload: unknown, eventId: string | undefined): WebhookEvent {
  if (!isWebhookEvent(payload)) return createEvent(payload, { eventId });
  if (eventId !== undefined && eventId.toLowerCase() !== payload.id) {
    throw new HookproofError(
      "EVENT_ID_REUSED",
      "This event has an id already; a second id would make it a second event.",
    );
  }
  return payload;
}

/** Ids this sender has seen lately; the receiver would take other bytes under a known id for a replay and drop them. */
const REMEMBERED_IDS = 10_000;

function reuseGuard(): (event: WebhookEvent) => void {
  const seen = new Map<string, string>();
  return ({ id, body }) => {
    const digest = sha256Base64url(body);
    const before = seen.get(id);
    if (before !== undefined && before !== digest) {
      throw new HookproofError(
        "EVENT_ID_REUSED",
        `Event id ${id} was used before with other bytes. A new event needs a new id.`,
      );
    }
    if (before !== undefined) return;
    if (seen.size >= REMEMBERED_IDS)
      for (const [oldest] of seen) {
        seen.delete(oldest);
        break;
      }
    seen.set(id, digest);
  };
}

function freeHeaders(headers: Readonly<Record<string, string>> = {}): HeaderPair[] {
  return Object.entries(headers).map(([name, value]) => {
    if (!isFree(name)) throw new TypeError(`headers must not set ${name}: it belongs to the protocol`);
    return safe([name, value]);
  });
}

function waitFor(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", done, { once: true });
    if (signal?.aborted) done();
  });
}
