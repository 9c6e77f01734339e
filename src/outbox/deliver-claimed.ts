import { sha256Base64url } from "#hash";
import { HookproofError } from "../errors.js";
import { type Clock, monotonicMs } from "../primitives/clock.js";
import type { AttemptOutcome } from "../sender/attempt.js";
import { newDelivery, type Observe } from "../sender/observe.js";
import { nextAttempt } from "../sender/retry-policy.js";
import type { AbortAll } from "./abort-all.js";
import { answerLine } from "./answer-line.js";
import type { BodyEncryption } from "./body-encryption.js";
import type { BreakerInput } from "./breaker.js";
import type { Completions } from "./completions.js";
import type { OutboxListener } from "./outbox-listener.js";
import type { Burial, ClaimedEvent, OutboxAttempt, OutboxStore } from "./outbox-store.js";
import type { StoreWatch } from "./store-watch.js";

/** What deliveries of one dispatcher share. */
export interface DeliveryContext {
  readonly store: OutboxStore;
  readonly watch: StoreWatch;
  readonly completions: Completions;
  readonly encryption: BodyEncryption | undefined;
  /** Whether a body that is stored unencrypted is sent although there is an encryption. */
  readonly allowUnencrypted: boolean;
  readonly clock: Clock;
  readonly random: () => number;
  readonly observe: Observe | undefined;
  readonly aborting: AbortAll;
}

/** A claimed event whose attempt may start; times are the monotonic clock's. */
export interface StartedEvent {
  readonly listener: OutboxListener;
  readonly claimed: ClaimedEvent;
  /** Just before the claim was asked for: the store's clock showed `claimed.now` then, or later. */
  readonly askedAt: number;
  readonly startedAt: number;
}

/** An attempt starts only if its lease outlasts it by this much, for what comes after the answer. */
export const LEASE_MARGIN_MS = 5_000;

const PROXY_CAUSES = ["the proxy's password", "a host that the proxy does not let through"];

/** Makes the attempt, and puts down in the store what came of it; never rejects. */
export function createDeliverClaimed(context: DeliveryContext): (event: StartedEvent) => Promise<void> {
  const { store, watch, completions, encryption, allowUnencrypted, clock, random, observe, aborting } =
    context;

  return async (given) => {
    const { listener, claimed } = given;
    const delivery = newDelivery();
    let body: Uint8Array;
    try {
      body = await bodyOf(claimed);
    } catch (cause) {
      return settle(given, delivery, unreadable(given, cause));
    }
    // Last thing before the first byte, as decrypting may have taken its time.
    if (leaseEnds(given) - monotonicMs(clock) < listener.attemptTimeoutMs + LEASE_MARGIN_MS) {
      listener.limits.cancelled(monotonicMs(clock));
      await watch.untilDone(() => store.release([claimed.lease]), monotonicMs(clock));
      return;
    }
    if (storeNow(given) > claimed.firstAttemptAt + listener.policy.windowMs) {
      listener.limits.cancelled(monotonicMs(clock));
      return bury(given, delivery, { reason: "window", code: "WINDOW_CLOSED" });
    }
    const outcome = await aborting.during((signal) =>
      listener.attempt({
        event: { id: claimed.event.id, body },
        number: claimed.attempt,
        sentBefore: claimed.sentBefore,
        traceparent: claimed.event.traceparent,
        delivery,
        timeoutMs: listener.attemptTimeoutMs,
        signal,
      }),
    );
    return settle(given, delivery, outcome);
  };

  /** The store's time, or a moment later: whole milliseconds, as stores keep them. */
  function storeNow({ claimed, askedAt }: StartedEvent): number {
    return Math.ceil(claimed.now + monotonicMs(clock) - askedAt);
  }

  /** When the lease is over, or a moment earlier; by the monotonic clock. */
  function leaseEnds({ claimed, askedAt }: StartedEvent): number {
    return askedAt + claimed.lease.expiresAt - claimed.now;
  }

  /** Puts down what came of an attempt. */
  async function settle(given: StartedEvent, delivery: number, outcome: AttemptOutcome): Promise<void> {
    const { listener, claimed, startedAt } = given;
    const { lease } = claimed;
    const { classification, response } = outcome;
    const record = recordOf(outcome);
    const result = healthOf(outcome);
    const now = monotonicMs(clock);
    if (result) listener.limits.ended({ result, startedAt, now, answered: response !== undefined });
    else listener.limits.cancelled(now);
    if (classification.verdict === "accepted" || classification.verdict === "duplicate") {
      listener.alerted = false;
      const { verdict } = classification;
      if (verdict === "duplicate") warn(given, "409 at the first attempt: this id was used before.");
      completions.add({ lease, outcome: verdict, attempt: record }, leaseEnds(given), () =>
        ended(given, delivery, verdict),
      );
      return;
    }
    const { verdict, code } = classification;
    if (code === "ABORTED" && aborting.aborted) {
      await watch.untilDone(() => store.reschedule(lease, storeNow(given), record), leaseEnds(given));
      return;
    }
    if (code === "OUTBOX_BODY_UNREADABLE")
      return bury(given, delivery, { reason: "unsendable", code, record });
    if (verdict === "final" && response) return bury(given, delivery, { reason: "refused", code, record });
    if (verdict !== "retry") alert(given, classification.causes, record);
    else if (code === "PROXY_FAILED") alert(given, PROXY_CAUSES, record);
    const retryAfterMs = verdict === "retry" ? classification.retryAfterMs : undefined;
    if (retryAfterMs !== undefined && (record.status === 429 || record.status === 503))
      listener.limits.pauseUntil(now + Math.min(retryAfterMs, listener.policy.maxRetryAfterMs));
    // The listener has refused nothing: only the end of the window ends an event that a proxy holds up.
    const policy =
      code === "PROXY_FAILED"
        ? { ...listener.policy, maxAttempts: Number.MAX_SAFE_INTEGER }
        : listener.policy;
    const next = nextAttempt(
      policy,
      { attempts: claimed.attempt - claimed.attemptsBeforeRedrive, firstAttemptAt: claimed.firstAttemptAt },
      { now: storeNow(given), retryAfterMs, random: random() },
    );
    if (next.at === undefined) {
      const last = next.reason === "window" ? "WINDOW_CLOSED" : code;
      return bury(given, delivery, { reason: next.reason, code: last, record });
    }
    const { at } = next;
    observe?.({
      ...subjectOf(given, delivery),
      type: "retry-scheduled",
      attempt: claimed.attempt + 1,
      delayMs: at - storeNow(given),
      code,
    });
    const kept = await watch.untilDone(() => store.reschedule(lease, at, record), leaseEnds(given));
    if (kept && !kept.value && !kept.wasRepeated) lost(given);
  }

  async function bury(
    given: StartedEvent,
    delivery: number,
    { reason, code, record }: Pick<Burial, "reason" | "code"> & { record?: OutboxAttempt },
  ): Promise<void> {
    const { listener, claimed } = given;
    const burial = { reason, code, attempt: record, blocksKey: listener.blocksKey };
    const buried = await watch.untilDone(() => store.bury(claimed.lease, burial), leaseEnds(given));
    if (buried?.value || buried?.wasRepeated) ended(given, delivery, "dead", code);
    else if (buried) lost(given);
  }

  /** A body that cannot be read is an attempt as well: its history says why it was not sent. */
  function unreadable({ claimed, startedAt }: StartedEvent, cause: unknown): AttemptOutcome {
    const code = cause instanceof HookproofError ? cause.code : "OUTBOX_KEY_MISSING";
    const durationMs = monotonicMs(clock) - startedAt;
    const record = { number: claimed.attempt, startedAt: clock.now() - durationMs, durationMs, code };
    const causes = ["a key that this worker was not given"];
    const classification = { verdict: "setup", code, causes } as const;
    return { record, classification, cause, mayHaveArrived: false };
  }

  async function bodyOf({ event }: ClaimedEvent): Promise<Uint8Array> {
    const { id: eventId, listener, encryptionKeyId: keyId } = event;
    if (keyId !== undefined && !encryption)
      throw new HookproofError(
        "OUTBOX_KEY_MISSING",
        "The event is encrypted, and the outbox was given no encryption.",
      );
    // Else whoever can write to the database could have any body signed and sent, by taking the key's id away.
    if (keyId === undefined && encryption && !allowUnencrypted)
      throw new HookproofError(
        "OUTBOX_BODY_UNREADABLE",
        "The event's stored body is not encrypted, and this outbox has encryption; allowUnencrypted sends such bodies.",
      );
    const body =
      keyId === undefined || !encryption
        ? event.body
        : await encryption.decrypt(event.body, { listener, eventId, keyId });
    if (sha256Base64url(body) !== event.digest)
      throw new HookproofError("OUTBOX_BODY_UNREADABLE", "The event's stored body is not what was enqueued.");
    return body;
  }

  /** With encryption no answer is kept, as a receiver may repeat the body in it. */
  function recordOf({ record, response }: AttemptOutcome): OutboxAttempt {
    const answer = encryption ? undefined : answerLine(response);
    return answer === undefined ? record : { ...record, answer };
  }

  function ended(
    given: StartedEvent,
    delivery: number,
    outcome: "accepted" | "duplicate" | "dead",
    code?: HookproofError["code"],
  ): void {
    const { listener, claimed } = given;
    observe?.({
      ...subjectOf(given, delivery),
      type: "delivery-ended",
      listener: listener.name,
      outcome,
      attempts: claimed.attempt,
      ageMs: storeNow(given) - claimed.enqueuedAt,
      ...(code ? { code } : {}),
    });
  }

  function alert(given: StartedEvent, causes: readonly string[], { status, code }: OutboxAttempt): void {
    if (given.listener.alerted) return;
    given.listener.alerted = true;
    const likely = causes.length === 0 ? "" : ` Likely: ${causes.join("; ")}.`;
    const why = status === undefined ? String(code) : `${status} ${code}`;
    warn(given, `Events cannot be delivered and are tried again until their window closes: ${why}.${likely}`);
  }

  function lost(given: StartedEvent): void {
    warn(given, "LEASE_LOST: another worker has taken the event over, as this one took too long.");
  }

  function warn({ listener: { url }, claimed }: StartedEvent, message: string): void {
    observe?.({ type: "warning", url, eventId: claimed.event.id, message });
  }
}

function subjectOf({ listener: { url }, claimed }: StartedEvent, delivery: number) {
  return { eventId: claimed.event.id, url, delivery };
}

/** A refusal of one event says nothing about the listener; what never reached it, or only a proxy, was no attempt at it. */
function healthOf({ classification, response }: AttemptOutcome): BreakerInput["result"] | undefined {
  const { verdict } = classification;
  if (verdict === "accepted" || verdict === "duplicate") return "good";
  if (verdict === "final") return response && "neither";
  if (verdict === "setup" && response?.status === 400) return "neither"; // our own clock
  const { code } = classification;
  return code === "PROXY_FAILED" || code.startsWith("OUTBOX_") ? undefined : "bad";
}
