import type { ErrorCode } from "../errors.js";
import type { Burial, ExpiredEvent, OutboxStore } from "../outbox/outbox-store.js";
import { preparedQueries, type SqliteDatabase } from "./sqlite-database.js";
import { counting, forgetting } from "./sqlite-outbox-counts.js";
import { DEAD, DELIVERED, PENDING } from "./sqlite-outbox-schema.js";
import { type KeyedRow, passingOn } from "./sqlite-outbox-turns.js";

/** How many events one call takes, so that none is held up by a week of them. */
const ROWS = 500;

const REASON: Burial["reason"] = "window";
const CODE: ErrorCode = "WINDOW_CLOSED";

/** What ends with time; each call has to be in a transaction. */
export interface RetentionQueries {
  expire(windows: Parameters<OutboxStore["expire"]>[0], now: number): ExpiredEvent[];
  prune(before: Parameters<OutboxStore["prune"]>[0]): number;
}

export function retentionQueries(db: SqliteDatabase): RetentionQueries {
  const passOn = passingOn(db);
  const count = counting(db);
  const forget = forgetting(db);
  const ask = preparedQueries(db, {
    expire: `UPDATE hookproof_outbox
      SET state = ${DEAD}, turn = iif(?, turn, NULL), ended_at = ?, reason = '${REASON}', code = '${CODE}',
        lease_token = NULL, lease_until = NULL
      WHERE seq IN (
        SELECT seq FROM hookproof_outbox
        WHERE listener = ? AND state = ${PENDING} AND first_attempt_at < ? AND visible_at <= ?
        ORDER BY first_attempt_at LIMIT ?)
      RETURNING listener, ordering_key, id, enqueued_at, attempts`,
    prune: `DELETE FROM hookproof_outbox WHERE seq IN (
        SELECT seq FROM hookproof_outbox WHERE state = ? AND ended_at < ? ORDER BY ended_at LIMIT ?)
      RETURNING seq, listener, ordering_key`,
  });
  type Pruned = KeyedRow & { seq: number };
  type Expired = KeyedRow & { id: string; enqueued_at: number; attempts: number };

  return {
    expire(windows, now) {
      const expired: Expired[] = [];
      for (const [listener, { windowMs, blocksKey }] of windows) {
        const left = ROWS - expired.length;
        if (left > 0)
          expired.push(
            ...ask<Expired>("expire", blocksKey ? 1 : 0, now, listener, now - windowMs, now, left),
          );
      }
      count(expired, PENDING, DEAD);
      expired.forEach(passOn);
      return expired.map(({ listener, id, enqueued_at: enqueuedAt, attempts }) => ({
        listener,
        id,
        enqueuedAt,
        attempts,
      }));
    },
    prune(before) {
      const delivered = ask<Pruned>("prune", DELIVERED, before.delivered, ROWS);
      const dead = ask<Pruned>("prune", DEAD, before.dead, ROWS);
      count(delivered, DELIVERED, undefined);
      count(dead, DEAD, undefined);
      forget(dead);
      const gone = [...delivered, ...dead];
      gone.forEach(passOn);
      return gone.length;
    },
  };
}
