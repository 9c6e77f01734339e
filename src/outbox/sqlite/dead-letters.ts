// Dead letters, expiry and removal in SQLite.
import type { Clock } from "../../core/clock.js";
import type { ErrorCode } from "../../core/errors.js";
import { newEventId } from "../../core/event.js";
import {
  type GroupCommit,
  preparedChanges,
  preparedQueries,
  type SqliteDatabase,
} from "../../sqlite/database.js";
import { CHANGE_KEPT_MS, SHARED_BODY_MS } from "../engine.js";
import type { OutboxStore } from "../outbox-store.js";
import type {
  DeadLetter,
  DeadLetterFilter,
  DeliveryFailure,
  DropOptions,
  ExpiredEvent,
  RedriveOptions,
  RedriveResult,
} from "../records.js";
import { type ChangedRow, stateChange } from "./enqueue.js";
import { BODY, deadLetter, type OutboxRow } from "./rows.js";
import { CANCELLED, DEAD, DELIVERED, IS_ASIDE, PARKED, PENDING, WAITING } from "./schema.js";

/** How many dead letters one transaction takes, so that a large redrive does not hold up other writers. */
const PAGE = 200;

/** The row after which the next page begins. */
/** Where a dead letter stands among all: by its end. */
export type Place = Pick<OutboxRow, "ended_at" | "seq">;

/** What can be done with dead letters; see `OutboxStore`. */
export interface DeadLetters {
  list(filter: DeadLetterFilter, limit: number): AsyncGenerator<DeadLetter>;
  redrive(filter: DeadLetterFilter, windowMs: number, options: RedriveOptions): Promise<RedriveResult>;
  drop(filter: DeadLetterFilter, options: DropOptions): Promise<number>;
}

/** How the store reads and changes its file, for what takes several steps. */
export interface Access {
  /** Runs work in a transaction, shared with other work of the moment. */
  readonly changing: GroupCommit;
  readonly reading: <Value>(work: () => Value) => Value;
  readonly clock: Clock;
}

export function deadLetters(db: SqliteDatabase, { changing, reading, clock }: Access): DeadLetters {
  const changed = stateChange(db);
  const ask = preparedQueries(db, { last: "SELECT max(seq) + 1 AS seq FROM hookproof_outbox" });
  const change = preparedChanges(db, {
    revive: `UPDATE hookproof_outbox SET id = coalesce(?, id), state = ${PENDING}, turn = iif(ordering_key IS NULL, ${WAITING}, ${PARKED}),
        due_at = ?, visible_at = ?, attempts_before_redrive = attempts, first_attempt_at = iif(?, NULL, first_attempt_at),
        ended_at = NULL, reason = NULL, code = NULL
      WHERE seq = ?`,
    ownBody: `INSERT INTO hookproof_outbox_bodies SELECT seq, ${BODY} FROM hookproof_outbox
      WHERE seq = ? ON CONFLICT DO NOTHING`,
    move: "UPDATE hookproof_outbox SET seq = ? WHERE seq = ?",
    moveBody: "UPDATE hookproof_outbox_bodies SET seq = ? WHERE seq = ?",
    drop: "DELETE FROM hookproof_outbox WHERE seq = ?",
  });

  function revive(row: OutboxRow, now: number, { newIds = false, place = "end" }: RedriveOptions): void {
    if (newIds) change("ownBody", row.seq); // a shared one is found by the id
    change("revive", newIds ? newEventId() : null, now, now, newIds ? 1 : 0, row.seq);
    if (row.ordering_key !== null && place === "end") {
      const [last] = ask<{ seq: number }>("last");
      for (const name of ["move", "moveBody"] as const) change(name, last?.seq ?? row.seq, row.seq);
    }
    changed([row], DEAD, PENDING);
  }

  /** Calls `work` with one page of rows after another, each in a transaction, while it returns true. */
  async function eachPage(
    filter: DeadLetterFilter,
    work: (rows: readonly OutboxRow[]) => boolean,
  ): Promise<void> {
    let after: Place | undefined;
    const step = () => {
      const rows = pageOf<OutboxRow>(db, "*", filter, after, PAGE);
      after = rows.at(-1);
      return work(rows) && rows.length === PAGE;
    };
    while (await changing(step));
  }

  return {
    async *list(filter, limit) {
      const columns = `*, ${BODY} AS body`;
      let after: Place | undefined;
      for (let left = limit; left > 0; ) {
        const rows = reading(() => pageOf<OutboxRow>(db, columns, filter, after, Math.min(left, PAGE)));
        yield* reading(() => rows.map(deadLetter));
        left -= rows.length;
        after = rows.at(-1);
        if (rows.length < PAGE) return;
      }
    },
    async redrive(filter, windowMs, options) {
      const { dryRun = false, newIds = false, limit = Number.POSITIVE_INFINITY } = options;
      let [redriven, pastWindow] = [0, 0];
      await eachPage(filter, (rows) => {
        const now = clock.now();
        for (const row of rows) {
          if (redriven >= limit) return false;
          const isPast = row.first_attempt_at !== null && now - row.first_attempt_at > windowMs;
          if (isPast && !newIds) pastWindow += 1;
          else {
            if (!dryRun) revive(row, now, options);
            redriven += 1;
          }
        }
        return redriven < limit;
      });
      return { redriven, pastWindow };
    },
    async drop(filter, { dryRun = false, limit = Number.POSITIVE_INFINITY }) {
      let dropped = 0;
      await eachPage(filter, (page) => {
        const rows = page.slice(0, limit - dropped);
        if (!dryRun) {
          for (const { seq } of rows) change("drop", seq);
          changed(rows, DEAD, undefined);
        }
        dropped += rows.length;
        return dropped < limit;
      });
      return dropped;
    },
  };
}

function pageOf<Row>(
  db: SqliteDatabase,
  columns: string,
  { listener, ids, reason, code, before }: DeadLetterFilter,
  after: Place | undefined,
  limit: number,
): Row[] {
  const conditions: [sql: string, ...values: (string | number | undefined)[]][] = [
    ["listener = ?", listener],
    ["id IN (SELECT value FROM json_each(?))", ids && JSON.stringify(ids)],
    ["reason = ?", reason],
    ["code = ?", code],
    ["ended_at < ?", before],
    ["(ended_at, seq) > (?, ?)", after?.ended_at ?? undefined, after?.seq],
  ];
  const given = conditions.filter(([, value]) => value !== undefined);
  // With ids, the plus signs keep SQLite from reading all dead letters in their order instead.
  const isDead = ids
    ? `+state = ${DEAD} AND +ended_at IS NOT NULL`
    : `state = ${DEAD} AND ended_at IS NOT NULL`;
  const where = [isDead, ...given.map(([sql]) => sql)].join(" AND ");
  const sql = `SELECT ${columns} FROM hookproof_outbox WHERE ${where} ORDER BY ended_at, seq LIMIT ?`;
  const values = given.flatMap(([, ...bound]) => bound.filter((value) => value !== undefined));
  return db.prepare(sql).all(...values, limit) as Row[];
}

/** How many events one call ends or removes, so that a week of them holds up no delivery. */
const BATCH = 500;

const REASON: DeliveryFailure["reason"] = "window";

const CODE: ErrorCode = "WINDOW_CLOSED";

/** What ends with time; each call has to be in a transaction. See `OutboxStore`. */
export interface Upkeep {
  expire(windows: Parameters<OutboxStore["expire"]>[0], now: number): ExpiredEvent[];
  prune(before: Parameters<OutboxStore["prune"]>[0], now: number): number;
  /**
   * Removes a page of old dead letters after a place, but none behind which events of its key wait.
   *
   * @returns how many were removed, and the place after which there are more
   */
  pruneDead(before: number, after: Place | undefined): { readonly removed: number; readonly next?: Place };
}

type ExpiredRow = ChangedRow & { id: string; enqueued_at: number; attempts: number };

type OldDeadRow = ChangedRow & Place & { readonly holdsUp: number };

export function upkeep(db: SqliteDatabase): Upkeep {
  const changed = stateChange(db);
  const ask = preparedQueries(db, {
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
    oldBodies: `SELECT rowid AS place, EXISTS (
        SELECT 1 FROM hookproof_outbox AS one
        WHERE one.id = shared.id AND one.digest = shared.digest AND one.state IN (${PENDING}, ${DEAD})) AS isUsed
      FROM hookproof_outbox_shared AS shared WHERE check_at <= ? ORDER BY check_at LIMIT ?`,
  });
  const change = preparedChanges(db, {
    pruneListeners: `DELETE FROM hookproof_outbox_listeners WHERE listener IN (
        SELECT listener FROM hookproof_outbox_listeners WHERE paused_at IS NULL AND unknown_since IS NULL AND has_aside = 0 AND rest_until <= ? AND changed_at < ? AND pace <= ?
        LIMIT ?)`,
    // Of an unknown listener without events nothing is left to say.
    pruneUnknown: `DELETE FROM hookproof_outbox_listeners WHERE listener IN (
        SELECT listener FROM hookproof_outbox_listeners AS own
        WHERE unknown_since IS NOT NULL AND paused_at IS NULL AND unknown_until <= ? AND NOT EXISTS (
          SELECT 1 FROM hookproof_outbox AS one WHERE one.listener = own.listener AND ${IS_ASIDE})
        LIMIT ?)`,
    pruneDead: "DELETE FROM hookproof_outbox WHERE seq IN (SELECT value FROM json_each(?))",
    dropBodies: "DELETE FROM hookproof_outbox_shared WHERE rowid IN (SELECT value FROM json_each(?))",
    keepBodies: `UPDATE hookproof_outbox_shared SET check_at = ? + (? - stored_at) / 2 + ${SHARED_BODY_MS}
      WHERE rowid IN (SELECT value FROM json_each(?))`,
  });

  function remove(state: typeof DELIVERED | typeof CANCELLED, before: number): number {
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
        const since = now - windowMs;
        const tried = [listener, since, now, left];
        rows.push(
          ...ask<ExpiredRow>("expire", blocksKey ? 1 : 0, now, ...tried, listener, since, since, left, left),
        );
      }
      changed(rows, PENDING, DEAD);
      return rows.map(({ listener, id, enqueued_at: enqueuedAt, attempts }) => {
        return { listener, id, enqueuedAt, attempts };
      });
    },
    prune({ delivered }, now) {
      removeBodies(now);
      change("pruneUnknown", now, BATCH);
      change("pruneListeners", now, now - CHANGE_KEPT_MS, now, BATCH);
      return remove(DELIVERED, delivered) + remove(CANCELLED, delivered);
    },
    pruneDead(before, after) {
      const { ended_at, seq } = after ?? { ended_at: null, seq: 0 };
      const rows = ask<OldDeadRow>("oldDead", before, ended_at ?? Number.MIN_SAFE_INTEGER, seq, BATCH);
      const last = rows.length === BATCH ? rows.at(-1) : undefined;
      const gone = rows.filter(({ holdsUp }) => !holdsUp);
      if (gone.length > 0) change("pruneDead", JSON.stringify(gone.map((row) => row.seq)));
      changed(gone, DEAD, undefined);
      return { removed: gone.length, ...(last && { next: last }) };
    },
  };
}
