// Attempts one claimed event and stores how it ended.
import { sha256Base64url } from "#hash";
import { abortedWith } from "../core/aborted-with.js";
import { type Clock, monotonicMs } from "../core/clock.js";
import { type ErrorCode, HookproofError } from "../core/errors.js";
import { asksForAll } from "../sender/asks-for-all.js";
import type { AttemptOutcome } from "../sender/attempt.js";
import { newDelivery, type Observer } from "../sender/observe.js";
import { nextAttempt } from "../sender/retry-policy.js";
import type { BodyEncryption } from "./body-encryption.js";
import type { BreakerInput } from "./breaker.js";
import { type OutboxListener, START_MARGIN_MS } from "./listener.js";
import type { ClaimedEvent, OutboxStore } from "./outbox-store.js";
import type { Delivery, DeliveryFailure, OutboxAttempt, OutboxEvent } from "./records.js";
import {
  DataRefusal,
  type DeliveryBuffer,
  type Done,
  innermostWords,
  type StoreCalls,
  storeAttempt,
} from "./store-calls.js";

/** What the attempts of one dispatcher share. */
export interface EventAttemptContext {
  readonly store: OutboxStore;
  readonly calls: StoreCalls;
  readonly delivered: DeliveryBuffer;
  readonly encryption: BodyEncryption | undefined;
  /** Whether an unencrypted body is sent although the outbox has encryption. */
  readonly allowUnencrypted: boolean;
  readonly clock: Clock;
  readonly random: () => number;
  readonly observe: Observer | undefined;
  /** Takes warnings, also where there is no observer. */
  readonly notice: Observer;
  readonly aborting: AbortSignal;
}

/** A claimed event whose attempt may start. Times are the monotonic clock's. */
interface StartedEvent {
  readonly listener: OutboxListener;
  readonly claimed: ClaimedEvent;
  /** When the claim was requested: at this moment or later the store's clock showed `claimed.now`. */
  readonly askedAt: number;
  readonly startedAt: number;
}

const PROXY_HINTS = ["the proxy's password", "a host that the proxy does not let through"];

/** One attempt at one claimed event, and what the store is told of its result. */
export class EventAttempt {
  readonly #context: EventAttemptContext;
  readonly #listener: OutboxListener;
  readonly #claimed: ClaimedEvent;
  readonly #askedAt: number;
  readonly #startedAt: number;
  readonly #subject: { readonly eventId: string; readonly url: string; readonly delivery: number };

  constructor(context: EventAttemptContext, { listener, claimed, askedAt, startedAt }: StartedEvent) {
    this.#context = context;
    this.#listener = listener;
    this.#claimed = claimed;
    this.#askedAt = askedAt;
    this.#startedAt = startedAt;
    this.#subject = { eventId: claimed.event.id, url: listener.url, delivery: newDelivery() };
  }

  /** Makes the attempt and stores its result; never rejects. */
  async run(): Promise<void> {
    const { aborting } = this.#context;
    const { attempt, attemptTimeoutMs, policy } = this.#listener;
    const { event, firstAttemptAt, attempt: number, sentBefore } = this.#claimed;
    let body: Uint8Array;
    try {
      body = await bodyToSend(event, this.#context);
    } catch (cause) {
      return this.#settle(this.#unreadable(cause));
    }
    // Checked last, because decrypting may have taken its time.
    if (this.#leaseEnds() - this.#now() < attemptTimeoutMs + START_MARGIN_MS) return this.#release();
    if (this.#storeNow() > firstAttemptAt + policy.windowMs) {
      this.#listener.limits.cancelled(this.#now());
      return this.#fail("window", "WINDOW_CLOSED");
    }
    const outcome = await abortedWith(aborting, (signal) =>
      attempt({
        event: { id: event.id, body },
        number,
        sentBefore,
        firstAttemptAt,
        traceparent: event.traceparent,
        delivery: this.#subject.delivery,
        timeoutMs: attemptTimeoutMs,
        signal,
      }),
    );
    return this.#settle(outcome);
  }

  async #release(): Promise<void> {
    const { calls, store } = this.#context;
    this.#listener.limits.cancelled(this.#now());
    await calls.untilDone("release", () => store.release([this.#claimed.lease]), this.#now());
  }

  async #settle(attempted: AttemptOutcome): Promise<void> {
    const { classification, response } = attempted;
    const record = this.#recordOf(attempted);
    this.#count(attempted);
    this.#note(record);
    if (classification.outcome === "accepted") return this.#delivered("delivered", record);
    if (classification.outcome === "duplicate") return this.#delivered("duplicate", record);
    const { outcome, code } = classification;
    if (code === "ABORTED" && this.#context.aborting.aborted)
      return this.#reschedule(this.#storeNow(), record);
    if (code === "OUTBOX_BODY_UNREADABLE") return this.#fail("unsendable", code, record);
    if (outcome === "final" && response)
      return classification.stopSending
        ? this.#stopSending(code, record)
        : this.#fail("refused", code, record);
    if (outcome !== "retry") this.#alert(classification.hints, record);
    else if (code === "PROXY_FAILED") this.#alert(PROXY_HINTS, record);
    const { retryAfterMs } = classification;
    const { policy } = this.#listener;
    if (retryAfterMs !== undefined && asksForAll(attempted))
      await this.#rest(Math.min(retryAfterMs, policy.maxRetryAfterMs));
    return this.#tryAgain(code, record, retryAfterMs);
  }

  /** The receiver wants nothing more: its events wait, at every worker, until a person resumes the listener. */
  async #stopSending(code: ErrorCode, record: OutboxAttempt): Promise<void> {
    const { store, calls } = this.#context;
    const { name, alerted } = this.#listener;
    const reason = `${record.status}: the receiver wants no more events`;
    this.#listener.alerted = true;
    if (!alerted) this.#warn(`The listener is paused until it is resumed. ${reason}.`);
    const pause = () => store.pause(name, reason, { keepReason: true });
    await calls.untilDone("pause", pause, this.#leaseEnds());
    return this.#tryAgain(code, record, undefined, Number.MAX_SAFE_INTEGER);
  }

  /** Tells the listener's limits how the attempt ended. */
  #count(attempted: AttemptOutcome): void {
    const { limits } = this.#listener;
    const now = this.#now();
    const result = healthOf(attempted);
    const answered = attempted.response !== undefined;
    if (result) limits.ended({ result, startedAt: this.#startedAt, now, answered });
    else limits.cancelled(now);
  }

  #delivered(outcome: Delivery["outcome"], attempt: OutboxAttempt): void {
    this.#listener.alerted = false;
    if (outcome === "duplicate") this.#warn("409 at the first attempt: this id was used before.");
    const delivery = { lease: this.#claimed.lease, outcome, attempt };
    this.#context.delivered.add(delivery, this.#leaseEnds(), () => this.#observeEnd(outcome));
  }

  async #tryAgain(
    code: ErrorCode,
    record: OutboxAttempt,
    retryAfterMs: number | undefined,
    // Where the proxy failed and not the listener, only the end of the window ends the event.
    maxAttempts = code === "PROXY_FAILED" ? Number.MAX_SAFE_INTEGER : this.#listener.policy.maxAttempts,
  ): Promise<void> {
    const { random, observe } = this.#context;
    const { policy } = this.#listener;
    const { attempt, attemptsBeforeRedrive, firstAttemptAt } = this.#claimed;
    const next = nextAttempt(
      { ...policy, maxAttempts },
      { attempts: attempt - attemptsBeforeRedrive, firstAttemptAt },
      { now: this.#storeNow(), retryAfterMs, random: random() },
    );
    if (next.at === undefined)
      return this.#fail(next.reason, next.reason === "window" ? "WINDOW_CLOSED" : code, record);
    observe?.({
      ...this.#subject,
      type: "retry-scheduled",
      attempt: attempt + 1,
      delayMs: next.at - this.#storeNow(),
      code,
    });
    return this.#reschedule(next.at, record);
  }

  /** Leaves the listener alone for so long, as it asked: this worker, and by the store all others. */
  async #rest(ms: number): Promise<void> {
    const { store, calls } = this.#context;
    const { limits, name } = this.#listener;
    const end = this.#now() + ms;
    limits.pauseUntil(end);
    const rest = () => store.rest(name, Math.max(0, end - this.#now()));
    await calls.untilDone("rest", rest, this.#leaseEnds());
  }

  async #reschedule(at: number, record: OutboxAttempt): Promise<void> {
    const { store, aborting } = this.#context;
    const { lease } = this.#claimed;
    const done = await this.#store("reschedule", record, (attempt) => store.reschedule(lease, at, attempt));
    if (done && !done.value && !done.wasRepeated && !aborting.aborted) this.#leaseLost();
  }

  async #fail(reason: DeliveryFailure["reason"], code: ErrorCode, attempt?: OutboxAttempt): Promise<void> {
    const { store } = this.#context;
    const failure = { reason, code, blocksKey: this.#listener.blocksKey };
    const done = await this.#store("fail", attempt, (kept) =>
      store.fail(this.#claimed.lease, { ...failure, attempt: kept }),
    );
    if (done?.value || done?.wasRepeated) this.#observeEnd("dead", code);
    else if (done) this.#leaseLost();
  }

  /** Tells the store how the attempt ended, until it is told or the lease has ended. */
  async #store<Attempt extends OutboxAttempt | undefined>(
    name: "reschedule" | "fail",
    attempt: Attempt,
    call: (attempt: Attempt) => Promise<boolean>,
  ): Promise<Done<boolean> | undefined> {
    const store = () => storeAttempt(attempt, call);
    const done = await this.#context.calls.untilDone(name, store, this.#leaseEnds());
    if (!(done?.value instanceof DataRefusal)) return done as Done<boolean> | undefined;
    const words = innermostWords(done.value.error);
    this.#warn(`The store cannot note how the attempt ended: ${words}. It is made again after its lease.`);
    return undefined;
  }

  /** A body that cannot be read counts as an attempt, so that the history says why nothing was sent. */
  #unreadable(cause: unknown): AttemptOutcome {
    const code = cause instanceof HookproofError ? cause.code : "OUTBOX_KEY_MISSING";
    const durationMs = this.#now() - this.#startedAt;
    const startedAt = this.#context.clock.now() - durationMs;
    const record = { number: this.#claimed.attempt, startedAt, durationMs, code };
    const hints = ["a key that this worker was not given"];
    return { record, classification: { outcome: "setup", code, hints }, cause, mayHaveArrived: false };
  }

  /** With encryption the answer is not kept, because a receiver may repeat the body in it. */
  #recordOf({ record }: AttemptOutcome): OutboxAttempt {
    const { answer } = record;
    // A copy has nothing of what is not enumerable: the memory store keeps records as they are.
    return this.#context.encryption || answer === undefined ? { ...record } : { ...record, answer };
  }

  #now(): number {
    return monotonicMs(this.#context.clock);
  }

  /** The store's time, or a moment later, in whole milliseconds, as stores keep it. */
  #storeNow(): number {
    return Math.ceil(this.#claimed.now + this.#now() - this.#askedAt);
  }

  /** When the lease expires, or a moment earlier, by the monotonic clock. */
  #leaseEnds(): number {
    const { lease, now } = this.#claimed;
    return this.#askedAt + lease.expiresAt - now;
  }

  #observeEnd(outcome: Delivery["outcome"] | "dead", code?: ErrorCode): void {
    const { attempt, enqueuedAt } = this.#claimed;
    this.#context.observe?.({
      ...this.#subject,
      type: "delivery-ended",
      listener: this.#listener.name,
      outcome,
      attempts: attempt,
      ageMs: this.#storeNow() - enqueuedAt,
      ...(code ? { code } : {}),
    });
  }

  /** Warns of a wrong set-up, once until an event is delivered. */
  #alert(hints: readonly string[], { status, code }: OutboxAttempt): void {
    if (this.#listener.alerted) return;
    this.#listener.alerted = true;
    const likely = hints.length === 0 ? "" : ` Likely: ${hints.join("; ")}.`;
    const why = status === undefined ? String(code) : `${status} ${code}`;
    this.#warn(`Events cannot be delivered and are tried again until their window closes: ${why}.${likely}`);
  }

  /** Remembers how the attempt ended, for `stats`; one that this process has aborted says nothing of the listener. */
  #note({ code, status, answer }: OutboxAttempt): void {
    if (code === "ABORTED") return;
    const at = this.#context.clock.now();
    const { last } = this.#listener;
    this.#listener.last = code
      ? { ...last, lastError: { at, code, status, answer } }
      : { ...last, lastSuccessAt: at };
  }

  #leaseLost(): void {
    this.#warn("LEASE_LOST: another worker has taken the event over, as this one took too long.");
  }

  #warn(message: string): void {
    const { url, eventId } = this.#subject;
    this.#context.notice({ type: "warning", url, eventId, message });
  }
}

/**
 * The bytes to send, decrypted and checked.
 *
 * @throws {HookproofError} OUTBOX_KEY_MISSING, OUTBOX_BODY_UNREADABLE
 */
export async function bodyToSend(
  { id: eventId, listener, body, digest, encryptionKeyId: keyId }: OutboxEvent,
  { encryption, allowUnencrypted }: Pick<EventAttemptContext, "encryption" | "allowUnencrypted">,
): Promise<Uint8Array> {
  if (keyId !== undefined && !encryption)
    throw new HookproofError(
      "OUTBOX_KEY_MISSING",
      "The event is encrypted, and the outbox was given no encryption.",
    );
  // Otherwise anyone who can write to the database could remove the key's id and have a body of theirs signed.
  if (keyId === undefined && encryption && !allowUnencrypted)
    throw new HookproofError(
      "OUTBOX_BODY_UNREADABLE",
      "The event's stored body is not encrypted, and this outbox has encryption; allowUnencrypted sends such bodies.",
    );
  const plain =
    keyId === undefined || !encryption ? body : await encryption.decrypt(body, { listener, eventId, keyId });
  if (sha256Base64url(plain) !== digest)
    throw new HookproofError("OUTBOX_BODY_UNREADABLE", "The event's stored body is not what was enqueued.");
  return plain;
}

/** What an attempt says about the listener's health; `undefined` if it never reached the listener. */
function healthOf({ classification, response }: AttemptOutcome): BreakerInput["result"] | undefined {
  const { outcome } = classification;
  if (outcome === "accepted" || outcome === "duplicate") return "good";
  if (outcome === "final") return response && "neither"; // it refused one event
  // Our clock is wrong; or this event is too large for now (Retry-After).
  if (response?.status === 400 || response?.status === 413) return "neither";
  const { code } = classification;
  return code === "PROXY_FAILED" || code.startsWith("OUTBOX_") ? undefined : "bad";
}
