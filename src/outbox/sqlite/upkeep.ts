import type { ErrorCode } from "../../core/errors.js";
import { preparedChanges, preparedQueries, type SqliteDatabase } from "../../sqlite/database.js";
import { CHANGE_KEPT_MS, SHARED_BODY_MS } from "../engine.js";
import type { DeliveryFailure, ExpiredEvent, OutboxStore } from "../outbox-store.js";
import { type ChangedRow, stateChange } from "./changes.js";
import { CANCELLED, DEAD, DELIVERED, PENDING } from "./schema.js";

/** How many events one call ends or removes, so that a week of them holds up no delivery. */
const BATCH = 500;

const REASON: DeliveryFailure["reason"] = "window";
const CODE: ErrorCode = "WINDOW_CLOSED";

/** What ends with time; each call has to be in a transaction. See `OutboxStore`. */
export interface Upkeep {
  expire(windows: Parameters<OutboxStore["expire"]>[0], now: number): ExpiredEvent[];
  prune(before: Parameters<OutboxStore["prune"]>[0], now: number): number;
}

type ExpiredRow = ChangedRow & { id: string; enqueued_at: number; attempts: number };

export function upkeep(db: SqliteDatabase): Upkeep {
  const changed = stateChange(db);
  const ask = preparedQueries(db, {
    late: `SELECT value ->> 0 AS listener FROM json_each(?) WHERE EXISTS (
        SELECT 1 FROM hookproof_outbox
        WHERE listener = value ->> 0 AND state = ${PENDING} AND first_attempt_at < value ->> 1 AND visible_at <= ?)`,
    expire: `UPDATE hookproof_outbox
      SET state = ${DEAD}, turn = iif(?, turn, NULL), ended_at = ?, reason = '${REASON}', code = '${CODE}',
        lease_token = NULL, lease_until = NULL
      WHERE seq IN (
        SELECT seq FROM hookproof_outbox
        WHERE listener = ? AND state = ${PENDING} AND first_attempt_at < ? AND visible_at <= ?
        ORDER BY first_attempt_at LIMIT ?)
      RETURNING seq, listener, ordering_key, id, enqueued_at, attempts`,
    prune: `DELETE FROM hookproof_outbox WHERE seq IN (
        SELECT seq FROM hookproof_outbox WHERE state = ? AND ended_at < ? ORDER BY ended_at LIMIT ?)
      RETURNING seq, listener, ordering_key`,
    oldBodies: `SELECT rowid AS place, EXISTS (
        SELECT 1 FROM hookproof_outbox AS one
        WHERE one.id = shared.id AND one.digest = shared.digest AND one.state IN (${PENDING}, ${DEAD})) AS isUsed
      FROM hookproof_outbox_shared AS shared WHERE check_at <= ? ORDER BY check_at LIMIT ?`,
  });
  const change = preparedChanges(db, {
    pruneListeners: `DELETE FROM hookproof_outbox_listeners WHERE listener IN (
        SELECT listener FROM hookproof_outbox_listeners WHERE paused_at IS NULL AND has_aside = 0 AND rest_until <= ? AND changed_at < ? AND pace <= ?
        LIMIT ?)`,
    dropBodies: "DELETE FROM hookproof_outbox_shared WHERE rowid IN (SELECT value FROM json_each(?))",
    keepBodies: `UPDATE hookproof_outbox_shared SET check_at = ? + (? - stored_at) / 2 + ${SHARED_BODY_MS}
      WHERE rowid IN (SELECT value FROM json_each(?))`,
  });

  function remove(state: number, before: number): number {
    const rows = ask<ChangedRow>("prune", state, before, BATCH);
    changed(rows, state === CANCELLED ? undefined : state, undefined);
    return rows.length;
  }

  /** Removes shared bodies that no event needs; those that one needs are looked at again, later and later. */
  function removeBodies(now: number): void {
    const old = ask<{ place: number; isUsed: number }>("oldBodies", now, BATCH);
    const places = (isUsed: boolean) =>
      JSON.stringify(old.filter((one) => Boolean(one.isUsed) === isUsed).map(({ place }) => place));
    if (old.length === 0) return;
    change("dropBodies", places(false));
    change("keepBodies", now, now, places(true));
  }

  return {
    expire(windows, now) {
      const rows: ExpiredRow[] = [];
      const given = [...windows].map(([listener, { windowMs }]) => [listener, now - windowMs]);
      for (const { listener } of ask<{ listener: string }>("late", JSON.stringify(given), now)) {
        const { windowMs, blocksKey } = windows.get(listener) ?? {
          windowMs: Number.POSITIVE_INFINITY,
          blocksKey: false,
        };
        const left = BATCH - rows.length;
        if (left === 0) break;
        rows.push(...ask<ExpiredRow>("expire", blocksKey ? 1 : 0, now, listener, now - windowMs, now, left));
      }
      changed(rows, PENDING, DEAD);
      return rows.map(({ listener, id, enqueued_at: enqueuedAt, attempts }) => {
        return { listener, id, enqueuedAt, attempts };
      });
    },
    prune({ delivered, dead }, now) {
      removeBodies(now);
      change("pruneListeners", now, now - CHANGE_KEPT_MS, now, BATCH);
      return remove(DELIVERED, delivered) + remove(CANCELLED, delivered) + remove(DEAD, dead);
    },
  };
}
