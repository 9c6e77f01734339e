// Rows of SQLite as events and entries.
import type { ErrorCode } from "../../core/errors.js";
import { preparedQueries, type SqliteDatabase } from "../../sqlite/database.js";
import { type State, shownState } from "../engine.js";
import type { ClaimedEvent } from "../outbox-store.js";
import type {
  DeadLetter,
  Delivery,
  DeliveryFailure,
  OutboxAttempt,
  OutboxEntry,
  OutboxEvent,
} from "../records.js";
import { ASIDE, CANCELLED, DEAD, DELIVERED, LATER, WAITING } from "./schema.js";

/** An event's body: its own, or the one that it has together with others. */
export const BODY = `coalesce(
  (SELECT body FROM hookproof_outbox_bodies AS bodies WHERE bodies.seq = hookproof_outbox.seq),
  (SELECT body FROM hookproof_outbox_shared AS shared
    WHERE shared.id = hookproof_outbox.id AND shared.digest = hookproof_outbox.digest))`;

/** A row of the table of events, with its body if the query asks for it. */
export interface OutboxRow {
  seq: number;
  listener: string;
  id: string;
  digest: string;
  ordering_key: string | null;
  traceparent: string | null;
  encryption_key_id: string | null;
  enqueued_at: number;
  ready_at: number;
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
  claimed_at: number | null;
  ended_at: number | null;
  outcome: Delivery["outcome"] | null;
  reason: DeliveryFailure["reason"] | null;
  code: ErrorCode | null;
  history: string;
  /** An ArrayBuffer from libsql, a kind of Uint8Array from other drivers. */
  body?: Uint8Array | ArrayBuffer | null;
}

/** The columns of a row that a claim returns. */
export type ClaimedRow = Omit<
  OutboxRow,
  | "ready_at"
  | "state"
  | "turn"
  | "visible_at"
  | "claimed_at"
  | "ended_at"
  | "outcome"
  | "reason"
  | "code"
  | "history"
>;

/** The lease of an event that was handed out, as it was claimed. */
export function heldLease(row: LeasedRow): Pick<ClaimedEvent, "lease" | "attempt"> {
  const { listener, id, lease_until: expiresAt, attempts: attempt } = row;
  return { lease: { listener, id, token: leaseToken(row), expiresAt }, attempt };
}

/** The columns of an event that say how it is leased. */
export interface LeasedRow {
  readonly seq: number;
  readonly listener: string;
  readonly id: string;
  readonly lease_token: string;
  readonly lease_until: number;
  readonly attempts: number;
}

/** The token of a lease names its row: to find that by the event's id, a page of a large index is read for each event. */
function leaseToken({ seq, lease_token: token }: Pick<ClaimedRow, "seq" | "lease_token">): string {
  return `${seq} ${token}`;
}

/** The parts of a token, to find its row with. Of a text that is no token they fit no row. */
export function partsOfToken(token: string): readonly [seq: number, token: string] {
  const [seq, ...rest] = token.split(" ");
  return [Number(seq) || 0, rest.join(" ")];
}

export function claimedEvent(row: ClaimedRow, now: number): ClaimedEvent {
  const { listener, id } = row;
  return {
    event: eventOf(row),
    lease: { listener, id, token: leaseToken(row), expiresAt: row.lease_until ?? now },
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
    reason: row.reason as DeliveryFailure["reason"],
    code: row.code as ErrorCode,
    failedAt: row.ended_at ?? 0,
    enqueuedAt: row.enqueued_at,
    ...firstAttempt(row),
    attempts: attemptsOf(row),
  };
}

/** The attempts of a row; another program may have written anything there. */
function attemptsOf({ history }: OutboxRow): OutboxAttempt[] {
  try {
    const attempts: unknown = JSON.parse(history);
    return Array.isArray(attempts) ? attempts.filter(isAttempt) : [];
  } catch {
    return [];
  }
}

function isAttempt(value: unknown): value is OutboxAttempt {
  if (typeof value !== "object" || value === null) return false;
  const { number, startedAt, durationMs, status = 0, code = "", answer = "" } = value as OutboxAttempt;
  return (
    [number, startedAt, durationMs, status].every((part) => typeof part === "number") &&
    [code, answer].every((part) => typeof part === "string")
  );
}

type HolderRow = Pick<OutboxRow, "id" | "state" | "turn" | "enqueued_at" | "ended_at" | "lease_until">;

const ENDS: ReadonlyMap<number, State> = new Map([
  [DELIVERED, "delivered"],
  [DEAD, "dead"],
  [CANCELLED, "cancelled"],
]);

const TURNS: ReadonlyMap<number | null, State> = new Map([
  [WAITING, "waiting"],
  [ASIDE, "aside"],
  [LATER, "later"],
]);

function stateOf({ state, turn, lease_until }: HolderRow, now: number): State {
  if (lease_until !== null && lease_until > now) return "leased";
  return ENDS.get(state) ?? TURNS.get(turn) ?? "parked";
}

const stateAt = (row: HolderRow, now: number): OutboxEntry["state"] => shownState(stateOf(row, now));

/** Shows events of the table, with what they wait behind. */
export function entryReader(db: SqliteDatabase): (row: OutboxRow, now: number) => OutboxEntry {
  const columns = "id, state, turn, enqueued_at, ended_at, lease_until";
  const ask = preparedQueries(db, {
    leased: `SELECT ${columns} FROM hookproof_outbox
      WHERE listener = ? AND ordering_key = ? AND lease_until > ? LIMIT 1`,
    before: `SELECT ${columns} FROM hookproof_outbox
      WHERE listener = ? AND ordering_key = ? AND turn IS NOT NULL AND seq < ? ORDER BY seq LIMIT 1`,
  });

  function holderOf(
    { listener, ordering_key: key, seq }: OutboxRow,
    now: number,
  ): OutboxEntry["waitsBehind"] {
    if (key === null) return undefined;
    const [holder = ask<HolderRow>("before", listener, key, seq)[0]] = ask<HolderRow>(
      "leased",
      listener,
      key,
      now,
    );
    if (!holder) return undefined;
    const state = stateAt(holder, now) as "pending" | "in-flight" | "dead";
    return { id: holder.id, state, since: (state === "dead" ? holder.ended_at : null) ?? holder.enqueued_at };
  }

  return (row, now) =>
    outboxEntry(row, now, stateAt(row, now) === "pending" ? holderOf(row, now) : undefined);
}

function outboxEntry(row: OutboxRow, now: number, waitsBehind: OutboxEntry["waitsBehind"]): OutboxEntry {
  const state = stateAt(row, now);
  return {
    listener: row.listener,
    id: row.id,
    state,
    enqueuedAt: row.enqueued_at,
    ...(row.ordering_key === null ? {} : { orderingKey: row.ordering_key }),
    ...(waitsBehind && { waitsBehind }),
    ...(state === "pending" ? { dueAt: row.visible_at } : {}),
    ...firstAttempt(row),
    ...(row.outcome === null ? {} : { outcome: row.outcome }),
    attempts: attemptsOf(row),
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
