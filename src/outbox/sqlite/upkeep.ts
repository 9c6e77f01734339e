// Expiry and removal in SQLite.
import type { ErrorCode } from "../../core/errors.js";
import {
  type Changes,
  preparedChanges,
  preparedQueries,
  type Queries,
  type SqliteDatabase,
} from "../../sqlite/database.js";
import { CHANGE_KEPT_MS, SHARED_BODY_MS } from "../engine.js";
import type { OutboxStore } from "../outbox-store.js";
import type { DeliveryFailure, ExpiredEvent } from "../records.js";
import type { Place } from "./dead-letters.js";
import { type ChangedRow, type StateChange, stateChange } from "./enqueue.js";
import { CANCELLED, DEAD, DELIVERED, IS_ASIDE, PENDING } from "./schema.js";

/** How many events one call ends or removes, so that a week of them holds up no delivery. */
const BATCH = 500;

/** How many rows of listeners one call goes over, of which most say something still. */
const LISTENERS = 2_000;

const REASON: DeliveryFailure["reason"] = "window";

const CODE: ErrorCode = "WINDOW_CLOSED";

type ExpiredRow = ChangedRow & { id: string; enqueued_at: number; attempts: number };

type OldDeadRow = ChangedRow & Place & { readonly holdsUp: number };

const QUERIES = {
  late: `SELECT value ->> 0 AS listener FROM json_each(?) WHERE EXISTS (
      SELECT 1 FROM hookproof_outbox
      WHERE listener = value ->> 0 AND state = ${PENDING} AND first_attempt_at < value ->> 1 AND visible_at <= ?)
    OR EXISTS (
      SELECT 1 FROM hookproof_outbox_listeners AS own
      WHERE own.listener = value ->> 0 AND unknown_since < value ->> 1 AND EXISTS (
        SELECT 1 FROM hookproof_outbox AS one
        WHERE one.listener = own.listener AND ${IS_ASIDE} AND ready_at < value ->> 1))`,
  expire: `UPDATE hookproof_outbox
    SET state = ${DEAD}, turn = iif(?, turn, NULL), ended_at = ?, reason = '${REASON}', code = '${CODE}',
      lease_token = NULL, lease_until = NULL
    WHERE seq IN (
      SELECT seq FROM (
        SELECT seq FROM hookproof_outbox
        WHERE listener = ? AND state = ${PENDING} AND first_attempt_at < ? AND visible_at <= ?
        ORDER BY first_attempt_at LIMIT ?)
      UNION ALL SELECT seq FROM (
        SELECT seq FROM hookproof_outbox AS lost
        WHERE listener = ? AND ${IS_ASIDE} AND first_attempt_at IS NULL AND ready_at < ? AND EXISTS (
          SELECT 1 FROM hookproof_outbox_listeners AS own
          WHERE own.listener = lost.listener AND unknown_since < ?)
        ORDER BY ready_at LIMIT ?)
      LIMIT ?)
    RETURNING seq, listener, ordering_key, id, enqueued_at, attempts`,
  prune: `DELETE FROM hookproof_outbox WHERE seq IN (
      SELECT seq FROM hookproof_outbox WHERE state = ? AND ended_at < ? ORDER BY ended_at LIMIT ?)
    RETURNING seq, listener, ordering_key`,
  oldDead: `SELECT seq, listener, ordering_key, ended_at, turn IS NOT NULL AND EXISTS (
      SELECT 1 FROM hookproof_outbox AS later
      WHERE later.listener = dead.listener AND later.ordering_key = dead.ordering_key AND later.turn IS NOT NULL
        AND later.seq > dead.seq AND later.state = ${PENDING}) AS holdsUp
    FROM hookproof_outbox AS dead WHERE state = ${DEAD} AND ended_at < ? AND (ended_at, seq) > (?, ?)
    ORDER BY ended_at, seq LIMIT ?`,
  someListeners: `SELECT max(listener) AS last, count(*) AS seen FROM (
      SELECT listener FROM hookproof_outbox_listeners WHERE listener > ? ORDER BY listener LIMIT ${LISTENERS})`,
  oldBodies: `SELECT rowid AS place, EXISTS (
      SELECT 1 FROM hookproof_outbox AS one
      WHERE one.id = shared.id AND one.digest = shared.digest AND one.state IN (${PENDING}, ${DEAD})) AS isUsed
    FROM hookproof_outbox_shared AS shared WHERE check_at <= ? ORDER BY check_at LIMIT ?`,
};

const CHANGES = {
  // Of an unknown listener without events nothing is left to say.
  pruneListeners: `DELETE FROM hookproof_outbox_listeners AS own
    WHERE listener > ? AND listener <= ? AND paused_at IS NULL AND CASE WHEN unknown_since IS NULL
      THEN has_aside = 0 AND rest_until <= ? AND changed_at < ? AND pace <= ?
      ELSE unknown_until <= ? AND NOT EXISTS (
        SELECT 1 FROM hookproof_outbox AS one WHERE one.listener = own.listener AND ${IS_ASIDE}) END`,
  pruneDead: "DELETE FROM hookproof_outbox WHERE seq IN (SELECT value FROM json_each(?))",
  dropBodies: "DELETE FROM hookproof_outbox_shared WHERE rowid IN (SELECT value FROM json_each(?))",
  keepBodies: `UPDATE hookproof_outbox_shared SET check_at = ? + (? - stored_at) / 2 + ${SHARED_BODY_MS}
    WHERE rowid IN (SELECT value FROM json_each(?))`,
};

/** What ends with time; each call has to be in a transaction. See `OutboxStore`. */
export class Upkeep {
  readonly #changed: StateChange;
  readonly #ask: Queries<keyof typeof QUERIES>;
  readonly #change: Changes<keyof typeof CHANGES>;

  constructor(db: SqliteDatabase) {
    this.#changed = stateChange(db);
    this.#ask = preparedQueries(db, QUERIES);
    this.#change = preparedChanges(db, CHANGES);
  }

  expire(windows: Parameters<OutboxStore["expire"]>[0], now: number): ExpiredEvent[] {
    const rows: ExpiredRow[] = [];
    const given = [...windows].map(([listener, { windowMs }]) => [listener, now - windowMs]);
    for (const { listener } of this.#ask<{ listener: string }>("late", JSON.stringify(given), now)) {
      const { windowMs, blocksKey } = windows.get(listener) ?? {
        windowMs: Number.POSITIVE_INFINITY,
        blocksKey: false,
      };
      const left = BATCH - rows.length;
      if (left === 0) break;
      const since = now - windowMs;
      const tried = [listener, since, now, left];
      rows.push(
        ...this.#ask<ExpiredRow>(
          "expire",
          blocksKey ? 1 : 0,
          now,
          ...tried,
          listener,
          since,
          since,
          left,
          left,
        ),
      );
    }
    this.#changed(rows, PENDING, DEAD);
    return rows.map(({ listener, id, enqueued_at: enqueuedAt, attempts }) => {
      return { listener, id, enqueuedAt, attempts };
    });
  }

  prune({ delivered }: Parameters<OutboxStore["prune"]>[0], now: number): number {
    this.#removeBodies(now);
    return this.#remove(DELIVERED, delivered) + this.#remove(CANCELLED, delivered);
  }

  /** Removes those of some listeners' rows that say nothing any more; returns after which to go on. */
  pruneListeners(after: string, now: number): string {
    const [some] = this.#ask<{ last: string | null; seen: number }>("someListeners", after);
    if (!some || some.last === null) return "";
    this.#change("pruneListeners", after, some.last, now, now - CHANGE_KEPT_MS, now, now);
    return some.seen < LISTENERS ? "" : some.last;
  }

  /**
   * Removes a page of old dead letters after a place, but none behind which events of its key wait.
   *
   * @returns how many were removed, and the place after which there are more
   */
  pruneDead(before: number, after: Place | undefined): { readonly removed: number; readonly next?: Place } {
    const { ended_at, seq } = after ?? { ended_at: null, seq: 0 };
    const rows = this.#ask<OldDeadRow>("oldDead", before, ended_at ?? Number.MIN_SAFE_INTEGER, seq, BATCH);
    const last = rows.length === BATCH ? rows.at(-1) : undefined;
    const gone = rows.filter(({ holdsUp }) => !holdsUp);
    if (gone.length > 0) this.#change("pruneDead", JSON.stringify(gone.map((row) => row.seq)));
    this.#changed(gone, DEAD, undefined);
    return { removed: gone.length, ...(last && { next: last }) };
  }

  #remove(state: typeof DELIVERED | typeof CANCELLED, before: number): number {
    const rows = this.#ask<ChangedRow>("prune", state, before, BATCH);
    this.#changed(rows, state === CANCELLED ? undefined : state, undefined);
    return rows.length;
  }

  /** Removes shared bodies that no event needs; those that one needs are looked at again, later and later. */
  #removeBodies(now: number): void {
    const old = this.#ask<{ place: number; isUsed: number }>("oldBodies", now, BATCH);
    const places = (isUsed: boolean) =>
      JSON.stringify(old.filter((one) => Boolean(one.isUsed) === isUsed).map(({ place }) => place));
    if (old.length === 0) return;
    this.#change("dropBodies", places(false));
    this.#change("keepBodies", now, now, places(true));
  }
}
