import { randomUUID } from "node:crypto";
import { preparedQueries, type SqliteDatabase } from "../../sqlite/database.js";
import { inTurn } from "../engine.js";
import type {
  ClaimedEvent,
  ClaimRequest,
  Delivery,
  DeliveryFailure,
  Lease,
  OutboxAttempt,
} from "../outbox-store.js";
import { type ChangedRow, stateChange } from "./changes.js";
import { type ClaimedRow, claimedEvent, DEAD, DELIVERED, IS_HELD, IS_OPEN, PENDING } from "./schema.js";

/** Leases due events; each claim has to be in a transaction. See `OutboxStore`. */
export function claiming(db: SqliteDatabase): (request: ClaimRequest, now: number) => ClaimedEvent[] {
  const ask = preparedQueries(db, {
    // Steps from one listener to the next along the index, so that idle listeners and long backlogs cost nothing.
    due: `WITH RECURSIVE waiting (listener) AS (
        SELECT min(listener) FROM hookproof_outbox WHERE ${IS_OPEN}
        UNION ALL
        SELECT (SELECT min(listener) FROM hookproof_outbox WHERE ${IS_OPEN} AND listener > waiting.listener)
        FROM waiting WHERE listener IS NOT NULL)
      SELECT listener FROM waiting WHERE listener IS NOT NULL AND EXISTS (
        SELECT 1 FROM hookproof_outbox AS one
        WHERE one.listener = waiting.listener AND ${IS_OPEN} AND visible_at <= ?)
        AND NOT EXISTS (
          SELECT 1 FROM hookproof_outbox_listeners AS held WHERE held.listener = waiting.listener AND ${IS_HELD})`,
    claim: `UPDATE hookproof_outbox SET lease_token = ?, lease_until = ?, due_at = visible_at, visible_at = ?,
        attempts = attempts + 1, sent_before = first_attempt_at IS NOT NULL,
        first_attempt_at = coalesce(first_attempt_at, ?)
      WHERE seq IN (
        SELECT seq FROM hookproof_outbox AS due
        WHERE listener = ? AND ${IS_OPEN} AND visible_at <= ?
          AND (first_attempt_at IS NULL OR first_attempt_at >= ?)
          AND (ordering_key IS NULL OR NOT EXISTS (
            SELECT 1 FROM hookproof_outbox AS leased
            WHERE leased.listener = due.listener AND leased.ordering_key = due.ordering_key
              AND leased.lease_until > ?))
        ORDER BY visible_at, seq LIMIT ?)
      RETURNING seq, listener, id, digest, ordering_key, traceparent, encryption_key_id, enqueued_at, due_at,
        attempts, attempts_before_redrive, first_attempt_at, sent_before, lease_token, lease_until,
        (SELECT body FROM hookproof_outbox_bodies AS bodies WHERE bodies.seq = hookproof_outbox.seq) AS body`,
  });

  return ({ limit, leaseMs, listeners }, now) => {
    const lease = [randomUUID(), now + leaseMs, now + leaseMs, now] as const;
    const due = new Set(ask<{ listener: string }>("due", now, now).map(({ listener }) => listener));
    const served = [...listeners.keys()].filter((name) => due.has(name));
    const taken = new Map(served.map((name) => [name, [] as ClaimedRow[]]));
    const open = new Set(taken.keys());
    let left = limit;
    while (left > 0 && open.size > 0) {
      const share = Math.ceil(left / open.size);
      for (const name of open) {
        const rows = taken.get(name) ?? [];
        const { most = 0, windowMs = 0 } = listeners.get(name) ?? {};
        const wanted = Math.min(share, left, most - rows.length);
        const found =
          wanted > 0 ? ask<ClaimedRow>("claim", ...lease, name, now, now - windowMs, now, wanted) : [];
        rows.push(...found.sort((a, b) => a.due_at - b.due_at || a.seq - b.seq));
        left -= found.length;
        if (found.length < wanted || wanted <= 0) open.delete(name);
      }
    }
    return inTurn([...taken.values()]).map((row) => claimedEvent(row, now));
  };
}

/** What the holder of a lease may do; each call has to be in a transaction. See `OutboxStore`. */
export interface Leases {
  markDelivered(deliveries: readonly Delivery[], now: number): number;
  reschedule(lease: Lease, at: number, attempt: OutboxAttempt): boolean;
  fail(lease: Lease, failure: DeliveryFailure, now: number): boolean;
  release(leases: readonly Lease[]): void;
}

const HELD = `WHERE id = ? AND listener = ? AND lease_token = ? AND state = ${PENDING}`;
const FREED = "lease_token = NULL, lease_until = NULL";
/** The attempt joins the history. */
const REMEMBERED = "history = json_insert(history, '$[#]', json(?))";
const CHANGED = "RETURNING seq, listener, ordering_key";

export function leasing(db: SqliteDatabase): Leases {
  const changed = stateChange(db);
  const ask = preparedQueries(db, {
    deliver: `UPDATE hookproof_outbox
      SET state = ${DELIVERED}, turn = NULL, ended_at = ?, outcome = ?, ${REMEMBERED}, ${FREED} ${HELD} ${CHANGED}`,
    reschedule: `UPDATE hookproof_outbox
      SET due_at = ?, visible_at = ?, ${REMEMBERED}, ${FREED} ${HELD} RETURNING 1`,
    fail: `UPDATE hookproof_outbox SET state = ${DEAD}, turn = iif(?, turn, NULL), ended_at = ?, reason = ?, code = ?,
        ${FREED} ${HELD} ${CHANGED}`,
    remember: `UPDATE hookproof_outbox SET ${REMEMBERED} ${HELD} RETURNING 1`,
    release: `UPDATE hookproof_outbox SET visible_at = due_at, attempts = attempts - 1,
        first_attempt_at = iif(sent_before, first_attempt_at, NULL), ${FREED} ${HELD} RETURNING 1`,
  });
  const held = ({ id, listener, token }: Lease) => [id, listener, token] as const;

  return {
    markDelivered(deliveries, now) {
      const rows = deliveries.flatMap(({ lease, outcome, attempt }) =>
        ask<ChangedRow>("deliver", now, outcome, JSON.stringify(attempt), ...held(lease)),
      );
      changed(rows, PENDING, DELIVERED);
      return rows.length;
    },
    reschedule: (lease, at, attempt) =>
      ask("reschedule", at, at, JSON.stringify(attempt), ...held(lease)).length > 0,
    fail(lease, { reason, code, attempt, blocksKey }, now) {
      if (attempt) ask("remember", JSON.stringify(attempt), ...held(lease));
      const rows = ask<ChangedRow>("fail", blocksKey ? 1 : 0, now, reason, code, ...held(lease));
      changed(rows, PENDING, DEAD);
      return rows.length > 0;
    },
    release(leases) {
      for (const lease of leases) ask("release", ...held(lease));
    },
  };
}
