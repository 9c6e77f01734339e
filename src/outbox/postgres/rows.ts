import type { ClaimedEvent, OutboxAttempt, OutboxEvent } from "../outbox-store.js";

/** A time as milliseconds since the epoch; `extract` would count in `numeric`, five times as slow. */
export function ms(time: string): string {
  return `round(date_part('epoch', ${time}) * 1000)`;
}

/** An event's columns, under the names of `EventRow`. */
export const EVENT_COLUMNS = `e.id, e.listener, e.body, e.digest, e.ordering_key, e.traceparent, e.encryption_key_id`;

export interface EventRow {
  readonly id: string;
  readonly listener: string;
  readonly body: Uint8Array | null;
  readonly digest: string;
  readonly ordering_key: string | null;
  readonly traceparent: string | null;
  readonly encryption_key_id: string | null;
}

export function eventOf(row: EventRow): OutboxEvent {
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

/** What a claim gives of an event. */
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
  /** How many events each listener was to give at most. */
  readonly share: number;
}

export const CLAIMED_COLUMNS = `${EVENT_COLUMNS}, e.seq::float8 AS seq, e.token, e.attempts, e.attempts_before_redrive,
  e.first_attempt_at < now() AS sent_before, ${ms("e.first_attempt_at")} AS first_attempt_at,
  ${ms("e.enqueued_at")} AS enqueued_at, ${ms("e.due_at")} AS due_at, ${ms("now()")} AS now,
  ${ms("e.leased_until")} AS leased_until`;

export function claimedOf(row: ClaimedRow): ClaimedEvent {
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

/** The end of the token of an event with an ordering key, which passes on when the event ends. */
export const KEYED = ":key";

/** An attempt as a text in JSON: PostgreSQL takes what is escaped in it as it is. */
export function attemptText(attempt: OutboxAttempt | undefined): string | undefined {
  return attempt && JSON.stringify(attempt);
}
