import { sha256Base64url } from "#hash";
import { HookproofError } from "../errors.js";
import type { Clock } from "../primitives/clock.js";
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
  readonly clock: Clock;
  readonly random: () => number;
  readonly observe: Observe | undefined;
  readonly aborting: AbortAll;
}

/** A claimed event whose attempt may start. */
export interface StartedEvent {
  readonly listener: OutboxListener;
  readonly claimed: ClaimedEvent;
  /** When it was started, by the dispatcher's clock. */
  readonly startedAt: number;
}

/** An attempt starts only if its lease outlasts it by this much, for what comes after the answer. */
export const LEASE_MARGIN_MS = 5_000;

/** Makes the attempt, and puts down in the store what came of it; never rejects. */
export function createDeliverClaimed(context: DeliveryContext): (event: StartedEvent) => Promise<void> {
  const { store, watch, completions, encryption, clock, random, observe, aborting } = context;

  return async (given) => {
    const { listener, claimed, startedAt } = given;
    const { lease } = claimed;
    const delivery = newDelivery();
    if (lease.expiresAt - claimed.now < listener.attemptTimeoutMs + LEASE_MARGIN_MS) {
      listener.limits.cancelled(clock.now());
      await watch.untilDone(() => store.release([lease]), clock.now());
      return;
    }
    const outcome = await attempt(given, delivery);
    const { classification } = outcome;
    const record = recordOf(outcome);
    const storeNow = () => claimed.now + (clock.now() - startedAt);
    const leaseEnds = startedAt + (lease.expiresAt - claimed.now);
    const result = healthOf(outcome);
    if (result) listener.limits.ended({ result, startedAt, now: clock.now() });
    else listener.limits.cancelled(clock.now());
    if (classification.verdict === "accepted" || classification.verdict === "duplicate") {
      listener.alerted = false;
      const { verdict } = classification;
      if (verdict === "duplicate") warn(given, "409 at the first attempt: this id was used before.");
      completions.add({ lease, outcome: verdict, attempt: record }, leaseEnds, () =>
        ended(given, delivery, verdict),
      );
      return;
    }
    const { verdict, code } = classification;
    if (code === "ABORTED" && aborting.aborted) {
      await watch.untilDone(() => store.reschedule(lease, storeNow(), record), leaseEnds);
      return;
    }
    if (code === "OUTBOX_BODY_UNREADABLE") return bury({ reason: "unsendable", code });
    if (verdict === "final" && outcome.response) return bury({ reason: "refused", code });
    if (verdict !== "retry") alert(given, classification.causes, record);
    const retryAfterMs = verdict === "retry" ? classification.retryAfterMs : undefined;
    const { maxRetryAfterMs } = listener.policy;
    if (retryAfterMs !== undefined && (record.status === 429 || record.status === 503))
      listener.limits.pauseUntil(clock.now() + Math.min(retryAfterMs, maxRetryAfterMs));
    // The listener has refused nothing: only the end of the window ends an event that a proxy holds up.
    const policy =
      code === "PROXY_FAILED"
        ? { ...listener.policy, maxAttempts: Number.MAX_SAFE_INTEGER }
        : listener.policy;
    const next = nextAttempt(
      policy,
      { attempts: claimed.attempt - claimed.attemptsBeforeRedrive, firstAttemptAt: claimed.firstAttemptAt },
      { now: storeNow(), retryAfterMs, random: random() },
    );
    if (next.at === undefined)
      return bury({ reason: next.reason, code: next.reason === "window" ? "WINDOW_CLOSED" : code });
    const { at } = next;
    observe?.({
      ...subjectOf(given, delivery),
      type: "retry-scheduled",
      attempt: claimed.attempt + 1,
      delayMs: at - storeNow(),
      code,
    });
    const kept = await watch.untilDone(() => store.reschedule(lease, at, record), leaseEnds);
    if (kept === false) lost(given);

    async function bury(why: Pick<Burial, "reason" | "code">): Promise<void> {
      const burial = { ...why, attempt: record, blocksKey: listener.blocksKey };
      const buried = await watch.untilDone(() => store.bury(lease, burial), leaseEnds);
      if (buried) ended(given, delivery, "dead", why.code);
      else if (buried === false) lost(given);
    }
  };

  /** Decrypts and sends; what goes wrong before the first byte is an attempt as well. */
  async function attempt(
    { listener, claimed, startedAt }: StartedEvent,
    delivery: number,
  ): Promise<AttemptOutcome> {
    const { event } = claimed;
    try {
      const body = await bodyOf(claimed);
      return await aborting.during((signal) =>
        listener.attempt({
          event: { id: event.id, body },
          number: claimed.attempt,
          sentBefore: claimed.sentBefore,
          traceparent: event.traceparent,
          delivery,
          timeoutMs: listener.attemptTimeoutMs,
          signal,
        }),
      );
    } catch (cause) {
      const code = cause instanceof HookproofError ? cause.code : "OUTBOX_KEY_MISSING";
      const record = { number: claimed.attempt, startedAt, durationMs: clock.now() - startedAt, code };
      const causes = ["a key that this worker was not given"];
      return { record, classification: { verdict: "setup", code, causes }, cause };
    }
  }

  async function bodyOf({ event }: ClaimedEvent): Promise<Uint8Array> {
    const { listener, encryptionKeyId: keyId } = event;
    if (keyId !== undefined && !encryption)
      throw new HookproofError(
        "OUTBOX_KEY_MISSING",
        "The event is encrypted, and the outbox was given no encryption.",
      );
    const body =
      keyId === undefined || !encryption
        ? event.body
        : await encryption.decrypt(event.body, { listener, keyId });
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
    const { listener, claimed, startedAt } = given;
    observe?.({
      ...subjectOf(given, delivery),
      type: "delivery-ended",
      listener: listener.name,
      outcome,
      attempts: claimed.attempt,
      ageMs: claimed.now - claimed.enqueuedAt + (clock.now() - startedAt),
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
  const { code } = classification;
  return code === "PROXY_FAILED" || code.startsWith("OUTBOX_") ? undefined : "bad";
}
