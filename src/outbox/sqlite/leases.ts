// Claims events and ends leases in SQLite.
import { randomUUID } from "node:crypto";
import { preparedChanges, preparedQueries, type SqliteDatabase } from "../../sqlite/database.js";
import { CLOCK_AHEAD_MS, inTurn, LATER_MS } from "../engine.js";
import type { ClaimedEvent, ClaimRequest, ClaimShare } from "../outbox-store.js";
import { allowedBy, paceAfter } from "../rate.js";
import type { Delivery, DeliveryFailure, Lease, OutboxAttempt } from "../records.js";
import { ripener } from "./control.js";
import { type ChangedRow, stateChange } from "./enqueue.js";
import { BODY, type ClaimedRow, claimedEvent, partsOfToken } from "./rows.js";
import { DEAD, DELIVERED, IS_HELD, IS_WAITING, LATER, PENDING } from "./schema.js";

/** Due events that are inside their window, and of which no other one of their key is leased. */
const canGo = (
  since: string,
) => `${IS_WAITING} AND visible_at <= ? AND (first_attempt_at IS NULL OR first_attempt_at >= ${since})
  AND (ordering_key IS NULL OR NOT EXISTS (
    SELECT 1 FROM hookproof_outbox AS leased
    WHERE leased.listener = due.listener AND leased.ordering_key = due.ordering_key AND leased.lease_until > ?))`;

const claimSql = (which: string) => `UPDATE hookproof_outbox
  SET lease_token = ?, lease_until = ?, due_at = visible_at, visible_at = ?, attempts = attempts + 1,
    sent_before = first_attempt_at IS NOT NULL, claimed_at = ?, first_attempt_at = coalesce(first_attempt_at, ?)
  WHERE seq IN (${which})
  RETURNING seq, listener, id, digest, ordering_key, traceparent, encryption_key_id, enqueued_at, due_at,
    attempts, attempts_before_redrive, first_attempt_at, sent_before, lease_token, lease_until,
    ${BODY} AS body`;

/** Leases due events; each claim has to be in a transaction. See `OutboxStore`. */
export function claimOf(db: SqliteDatabase): (request: ClaimRequest, now: number) => ClaimedEvent[] {
  const ask = preparedQueries(db, {
    // Of the listeners that are asked for, those with due events, and what their limits leave.
    open: `SELECT value AS listener, coalesce(own.pace, 0) AS pace,
        (SELECT count(*) FROM hookproof_outbox AS leased
          WHERE leased.listener = value AND leased.lease_until > ?) AS leased
      FROM json_each(?) LEFT JOIN hookproof_outbox_listeners AS own ON own.listener = value
      WHERE (own.listener IS NULL OR NOT ${IS_HELD}) AND EXISTS (
        SELECT 1 FROM hookproof_outbox AS one WHERE one.listener = value AND ${IS_WAITING} AND visible_at <= ?)`,
    claim: claimSql(`SELECT seq FROM hookproof_outbox AS due WHERE listener = ? AND ${canGo("?")}
      ORDER BY visible_at, seq LIMIT ?`),
    // The first event of each of many listeners costs less in one statement.
    claimFirst: claimSql(`SELECT (
        SELECT seq FROM hookproof_outbox AS due WHERE listener = value ->> 0 AND ${canGo("value ->> 1")}
        ORDER BY visible_at, seq LIMIT 1)
      FROM json_each(?)`),
  });
  const ripen = ripener(db);
  const change = preparedChanges(db, {
    pace: `INSERT INTO hookproof_outbox_listeners (listener, pace) VALUES (?, ?)
      ON CONFLICT (listener) DO UPDATE SET pace = excluded.pace`,
  });

  /** The listeners that events may be claimed of now, with how many, in the order of the request. */
  function openOf(listeners: ClaimRequest["listeners"], now: number): OpenListener[] {
    const names = JSON.stringify([...listeners.keys()]);
    const rows = ask<{ listener: string; pace: number; leased: number }>("open", now, names, now, now);
    return rows.flatMap(({ listener, pace, leased }) => {
      const share = listeners.get(listener);
      if (!share) return [];
      const { concurrency = Number.POSITIVE_INFINITY, rate } = share;
      const allowed = rate ? allowedBy(rate, pace, now) : share.most;
      const max = Math.min(share.most, concurrency - leased, allowed);
      return max > 0 ? [{ listener, max, share, pace, rows: [] }] : [];
    });
  }

  return ({ limit, leaseMs, listeners }, now) => {
    const lease = [randomUUID(), now + leaseMs, now + leaseMs, now, now] as const;
    ripen(now);
    const served = openOf(listeners, now);
    const open = new Set(served);
    let left = limit;
    /** Keeps what was claimed of a listener; less than was wanted is all there is. */
    const keep = (one: OpenListener, found: readonly ClaimedRow[], wanted: number) => {
      one.rows.push(...found);
      left -= found.length;
      if (found.length < wanted || one.rows.length === one.max) open.delete(one);
    };
    while (left > 0 && open.size > 0) {
      const part = Math.ceil(left / open.size);
      if (open.size > part) {
        const first = [...open].slice(0, left);
        const given = JSON.stringify(first.map(({ listener, share }) => [listener, now - share.windowMs]));
        const found = ask<ClaimedRow>("claimFirst", ...lease, now, now, given);
        const rows = new Map(found.map((row) => [row.listener, row]));
        for (const one of first) keep(one, [rows.get(one.listener) ?? []].flat(), 1);
      } else
        for (const one of open) {
          const wanted = Math.min(part, left, one.max - one.rows.length);
          if (wanted === 0) break;
          const { listener, share } = one;
          const found = ask<ClaimedRow>("claim", ...lease, listener, now, now - share.windowMs, now, wanted);
          keep(
            one,
            found.sort((a, b) => a.due_at - b.due_at || a.seq - b.seq),
            wanted,
          );
        }
    }
    for (const { listener, share, pace, rows } of served)
      if (share.rate && rows.length > 0)
        change("pace", listener, paceAfter(share.rate, pace, now, rows.length));
    return inTurn(served.map(({ rows }) => rows)).map((row) => claimedEvent(row, now));
  };
}

/** A listener that a claim may take events of. */
interface OpenListener {
  readonly listener: string;
  readonly max: number;
  readonly share: ClaimShare;
  readonly pace: number;
  /** What was taken. */
  readonly rows: ClaimedRow[];
}

/** What the holder of a lease may do; each call has to be in a transaction. See `OutboxStore`. */
interface Leases {
  markDelivered(deliveries: readonly Delivery[], now: number): number;
  reschedule(lease: Lease, at: number, attempt: OutboxAttempt, now: number): boolean;
  fail(lease: Lease, failure: DeliveryFailure, now: number): boolean;
  release(leases: readonly Lease[]): void;
}

const HELD = `WHERE seq = ? AND lease_token = ? AND id = ? AND listener = ? AND state = ${PENDING}`;
const FREED = "lease_token = NULL, lease_until = NULL";
/** The attempt joins the history. */
const REMEMBERED = "history = json_insert(history, '$[#]', json(?))";
/** When an event is due that its holder makes due at `at`, having a lease until `until`: see `stepBack`. */
const DUE = `at - iif(until - lease_until > ${CLOCK_AHEAD_MS}, until - lease_until, 0)`;
const CHANGED = "RETURNING seq, listener, ordering_key";

export function leasesOf(db: SqliteDatabase): Leases {
  const changed = stateChange(db);
  const ask = preparedQueries(db, {
    deliver: `UPDATE hookproof_outbox
      SET state = ${DELIVERED}, turn = NULL, ended_at = ?, outcome = ?, ${REMEMBERED}, ${FREED} ${HELD} ${CHANGED}`,
    reschedule: `UPDATE hookproof_outbox
      SET due_at = ${DUE}, visible_at = ${DUE}, claimed_at = max(claimed_at, now),
        turn = iif(${DUE} > now + ${LATER_MS} AND ordering_key IS NULL, ${LATER}, turn),
        ${REMEMBERED}, ${FREED} FROM (SELECT ? AS at, ? AS now, ? AS until) AS given ${HELD} RETURNING 1`,
    fail: `UPDATE hookproof_outbox SET state = ${DEAD}, turn = iif(?, turn, NULL), ended_at = ?, reason = ?, code = ?,
        ${FREED} ${HELD} ${CHANGED}`,
    remember: `UPDATE hookproof_outbox SET ${REMEMBERED} ${HELD} RETURNING 1`,
    release: `UPDATE hookproof_outbox SET visible_at = due_at, attempts = attempts - 1,
        first_attempt_at = iif(sent_before, first_attempt_at, NULL), ${FREED} ${HELD} RETURNING 1`,
  });
  const held = ({ id, listener, token }: Lease) => [...partsOfToken(token), id, listener] as const;

  return {
    markDelivered(deliveries, now) {
      const rows = deliveries.flatMap(({ lease, outcome, attempt }) =>
        ask<ChangedRow>("deliver", now, outcome, JSON.stringify(attempt), ...held(lease)),
      );
      changed(rows, PENDING, DELIVERED);
      return rows.length;
    },
    reschedule: (lease, at, attempt, now) =>
      ask("reschedule", JSON.stringify(attempt), at, now, lease.expiresAt, ...held(lease)).length > 0,
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
