// Rows of PostgreSQL as events, attempts and statistics.
import type { ClaimedEvent } from "../outbox-store.js";
import type { DeadLetter, OutboxAttempt, OutboxEvent } from "../records.js";
import type { OutboxNames } from "./names.js";

/** A time as milliseconds since the epoch; not `extract`, whose `numeric` is five times as slow. */
export function ms(time: string): string {
  return `round(date_part('epoch', ${time}) * 1000)`;
}

/** A column with a time as a text that means the same to every connection, whatever its DateStyle and its zone. */
export function timeText(time: string): string {
  return `to_json(${time}) #>> '{}'`;
}

/** An event's body: its own, or the one that it has together with others. */
export function bodyOf({ body }: OutboxNames): string {
  return `coalesce(e.body, (SELECT b.body FROM ${body} b WHERE b.id = e.id AND b.digest = e.digest))`;
}

/** An event's columns, under the names of `EventRow`. */
const eventColumns = (names: OutboxNames) =>
  `e.id, e.listener, ${bodyOf(names)} AS body, e.digest, e.ordering_key, e.traceparent, e.encryption_key_id`;

interface EventRow {
  readonly id: string;
  readonly listener: string;
  readonly body: Uint8Array | null;
  readonly digest: string;
  readonly ordering_key: string | null;
  readonly traceparent: string | null;
  readonly encryption_key_id: string | null;
}

function eventOf(row: EventRow): OutboxEvent {
  return {
    id: row.id,
    listener: row.listener,
    body: new Uint8Array(row.body ?? []),
    digest: row.digest,
    orderingKey: row.ordering_key ?? undefined,
    traceparent: row.traceparent ?? undefined,
    encryptionKeyId: row.encryption_key_id ?? undefined,
  };
}

/** An event as the function `claim` gives it. */
export interface ClaimedRow extends EventRow {
  readonly seq: number;
  readonly token: string;
  readonly attempts: number;
  readonly attempts_before_redrive: number;
  readonly sent_before: boolean;
  readonly first_attempt_at: number;
  readonly enqueued_at: number;
  readonly due_at: number;
  readonly now: number;
  readonly leased_until: number;
  /** How many events of each listener this claim took at most. */
  readonly share: number;
}

export function claimedEvent(row: ClaimedRow): ClaimedEvent {
  const event = eventOf(row);
  return {
    event,
    lease: {
      listener: row.listener,
      id: row.id,
      token: event.orderingKey === undefined ? row.token : `${row.token}${KEYED}`,
      expiresAt: row.leased_until,
    },
    attempt: row.attempts,
    attemptsBeforeRedrive: row.attempts_before_redrive,
    firstAttemptAt: row.first_attempt_at,
    sentBefore: row.sent_before,
    enqueuedAt: row.enqueued_at,
    now: row.now,
  };
}

/** An event that was handed out. */
export interface HeldRow {
  readonly id: string;
  readonly listener: string;
  readonly token: string;
  readonly keyed: boolean;
  readonly attempts: number;
  readonly leased_until: number;
}

/** Its lease, as it was claimed. */
export function heldLease(row: HeldRow): Pick<ClaimedEvent, "lease" | "attempt"> {
  const { id, listener, token, keyed, attempts: attempt, leased_until: expiresAt } = row;
  return { lease: { listener, id, token: keyed ? `${token}${KEYED}` : token, expiresAt }, attempt };
}

/** Ends the token of an event with an ordering key: when the event ends, the key passes to the next one. */
export const KEYED = ":key";

/** An attempt as JSON inside a text, so that PostgreSQL does not decode what is escaped in it. */
export function attemptText(attempt: OutboxAttempt | undefined): string | undefined {
  return attempt && JSON.stringify(attempt);
}

/** The columns of `DeadRow`. */
export const deadColumns = (
  names: OutboxNames,
) => `${eventColumns(names)}, e.reason, e.code, ${ms("e.ended_at")} AS failed_at,
  ${ms("e.enqueued_at")} AS enqueued_at, ${ms("e.first_attempt_at")} AS first_attempt_at,
  array_to_json(e.history) AS history`;

/** A dead letter. */
export interface DeadRow extends EventRow {
  readonly reason: DeadLetter["reason"];
  readonly code: DeadLetter["code"];
  readonly failed_at: number;
  readonly enqueued_at: number;
  readonly first_attempt_at: number | null;
  readonly history: OutboxAttempt[];
}

export function deadLetter(row: DeadRow): DeadLetter {
  return {
    event: eventOf(row),
    reason: row.reason,
    code: row.code,
    failedAt: row.failed_at,
    enqueuedAt: row.enqueued_at,
    firstAttemptAt: row.first_attempt_at ?? undefined,
    attempts: row.history,
  };
}
