import { randomUUID } from "node:crypto";
import type { ClaimedEvent, ClaimRequest } from "../outbox/outbox-store.js";
import { preparedQueries, type SqliteDatabase } from "./sqlite-database.js";
import { type ClaimedRow, claimedEvent } from "./sqlite-outbox-rows.js";
import { IS_OPEN } from "./sqlite-outbox-schema.js";

/** How events are handed out; each claim has to be a transaction. */
export function claiming(db: SqliteDatabase): (request: ClaimRequest, now: number) => ClaimedEvent[] {
  const ask = preparedQueries(db, {
    // From one listener to the next along the index, so that neither those with nothing due nor a backlog count.
    due: `WITH RECURSIVE waiting (listener) AS (
        SELECT min(listener) FROM hookproof_outbox WHERE ${IS_OPEN}
        UNION ALL
        SELECT (SELECT min(listener) FROM hookproof_outbox WHERE ${IS_OPEN} AND listener > waiting.listener)
        FROM waiting WHERE listener IS NOT NULL)
      SELECT listener FROM waiting WHERE listener IS NOT NULL AND EXISTS (
        SELECT 1 FROM hookproof_outbox AS one
        WHERE one.listener = waiting.listener AND ${IS_OPEN} AND visible_at <= ?)`,
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
    const due = new Set(ask<{ listener: string }>("due", now).map(({ listener }) => listener));
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

/** The first of each list, then the second of each, and so on. */
function inTurn<Item>(lists: readonly (readonly Item[])[]): Item[] {
  const rounds = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: rounds }, (_, round) =>
    lists.flatMap((list) => list.slice(round, round + 1)),
  ).flat();
}
