import type { ErrorCode } from "../errors.js";
import type {
  Burial,
  ClaimedEvent,
  DeadLetter,
  OutboxAttempt,
  OutboxEntry,
  OutboxEvent,
} from "../outbox/outbox-store.js";
import { DELIVERED, PENDING } from "./sqlite-outbox-schema.js";

/** A row of the table of events, with its body where the query asks for it. */
export interface OutboxRow {
  seq: number;
  listener: string;
  id: string;
  digest: string;
  ordering_key: string | null;
  traceparent: string | null;
  encryption_key_id: string | null;
  enqueued_at: number;
  state: number;
  turn: number | null;
  due_at: number;
  visible_at: number;
  attempts: number;
  attempts_before_redrive: number;
  first_attempt_at: number | null;
  sent_before: number | null;
  lease_token: string | null;
  lease_until: number | null;
  ended_at: number | null;
  outcome: "accepted" | "duplicate" | null;
  reason: Burial["reason"] | null;
  code: ErrorCode | null;
  history: string;
  /** libsql gives an ArrayBuffer, others a kind of Uint8Array. */
  body?: Uint8Array | ArrayBuffer | null;
}

/** What a claim gives of a row. */
export type ClaimedRow = Omit<
  OutboxRow,
  "state" | "turn" | "visible_at" | "ended_at" | "outcome" | "reason" | "code" | "history"
>;

/** An event that was just claimed. */
export function claimedEvent(row: ClaimedRow, now: number): ClaimedEvent {
  const { listener, id, lease_token: token } = row;
  return {
    event: eventOf(row),
    lease: { listener, id, token: token ?? "", expiresAt: row.lease_until ?? now },
    attempt: row.attempts,
    attemptsBeforeRedrive: row.attempts_before_redrive,
    firstAttemptAt: row.first_attempt_at ?? now,
    sentBefore: row.sent_before === 1,
    enqueuedAt: row.enqueued_at,
    now,
  };
}

export function deadLetter(row: OutboxRow): DeadLetter {
  return {
    event: eventOf(row),
    reason: row.reason ?? "lost",
    code: row.code ?? "LEASE_LOST",
    diedAt: row.ended_at ?? 0,
    enqueuedAt: row.enqueued_at,
    ...firstAttempt(row),
    attempts: JSON.parse(row.history) as OutboxAttempt[],
  };
}

export function outboxEntry(row: OutboxRow, now: number): OutboxEntry {
  const state = row.state === PENDING ? "pending" : row.state === DELIVERED ? "delivered" : "dead";
  const isLeased = row.lease_until !== null && row.lease_until > now;
  return {
    listener: row.listener,
    id: row.id,
    state: isLeased ? "in-flight" : state,
    enqueuedAt: row.enqueued_at,
    ...(state === "pending" && !isLeased ? { dueAt: row.visible_at } : {}),
    ...firstAttempt(row),
    ...(row.outcome === null ? {} : { outcome: row.outcome }),
    attempts: JSON.parse(row.history) as OutboxAttempt[],
  };
}

function firstAttempt({ first_attempt_at }: Pick<OutboxRow, "first_attempt_at">): {
  firstAttemptAt?: number;
} {
  return first_attempt_at === null ? {} : { firstAttemptAt: first_attempt_at };
}

function eventOf(row: ClaimedRow): OutboxEvent {
  return {
    id: row.id,
    listener: row.listener,
    body: bytesOf(row.body ?? new Uint8Array()),
    digest: row.digest,
    ...(row.ordering_key === null ? {} : { orderingKey: row.ordering_key }),
    ...(row.traceparent === null ? {} : { traceparent: row.traceparent }),
    ...(row.encryption_key_id === null ? {} : { encryptionKeyId: row.encryption_key_id }),
  };
}

function bytesOf(body: Uint8Array | ArrayBuffer): Uint8Array {
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
}
