// Pauses, rests and due listeners in SQLite.
import { preparedChanges, preparedQueries, type SqliteDatabase } from "../../sqlite/database.js";
import {
  type DueLooks,
  dueListeners,
  filterCopy,
  LOOK_STEPS,
  type LookedAt,
  UNKNOWN_MAX_MS,
  UNKNOWN_MS,
  unknownListeners,
} from "../engine.js";
import type { EventFilter, OutboxStore } from "../outbox-store.js";
import type { ListenerStats, OutboxEntry } from "../records.js";
import { Cancellation } from "./cancel.js";
import type { Access } from "./dead-letters.js";
import { entryReader, type OutboxRow } from "./rows.js";
import { ASIDE, IS_ASIDE, IS_AWAY, IS_LATER, IS_PARKED, IS_WAITING, PENDING, WAITING } from "./schema.js";

/** A row of the table of listeners. */
export interface HeldRow {
  listener: string;
  paused_at: number | null;
  unknown_since: number | null;
  pause_reason: string | null;
  rest_until: number;
}

/** What `stats` shows of a listener's pause and rest. */
export function holdOf(
  row: HeldRow,
  now: number,
): Pick<ListenerStats, "paused" | "unknownSince" | "restsUntil"> {
  const { paused_at: since, pause_reason: reason, unknown_since: unknownSince, rest_until: restsUntil } = row;
  return {
    ...(since !== null && { paused: { since, ...(reason !== null && { reason }) } }),
    ...(unknownSince !== null && { unknownSince }),
    ...(restsUntil > now && { restsUntil }),
  };
}

/** What people and workers say about listeners; see `OutboxStore`. */
type ListenerControl = DueLooks &
  Pick<OutboxStore, "changed" | "unknown" | "pause" | "resume" | "rest" | "cancel" | "pending">;

export function listenerControl(db: SqliteDatabase, access: Access): ListenerControl {
  const { changing, reading, clock } = access;
  const cancellation = new Cancellation(db, access);
  const show = entryReader(db);
  const { due, bringBack } = dueLooks(db, access);
  const ask = preparedQueries(db, {
    resume: `UPDATE hookproof_outbox_listeners SET paused_at = NULL, pause_reason = NULL
      WHERE listener = ? AND paused_at IS NOT NULL RETURNING 1`,
  });
  const change = preparedChanges(db, {
    pause: `INSERT INTO hookproof_outbox_listeners (listener, paused_at, pause_reason) VALUES (?, ?, ?)
      ON CONFLICT (listener) DO UPDATE
      SET paused_at = coalesce(paused_at, excluded.paused_at), pause_reason = excluded.pause_reason
      WHERE paused_at IS NULL OR NOT ?`,
    // A rest that was noted before the clock was put back is as much shorter.
    rest: `INSERT INTO hookproof_outbox_listeners (listener, rest_until, rested_at) VALUES (?, ?, ?)
      ON CONFLICT (listener) DO UPDATE SET rested_at = excluded.rested_at,
        rest_until = max(rest_until - max(0, coalesce(rested_at, 0) - excluded.rested_at), excluded.rest_until)`,
    changed: `INSERT INTO hookproof_outbox_listeners (listener, changed_at) VALUES (?, ?)
      ON CONFLICT (listener) DO UPDATE
      SET changed_at = max(excluded.changed_at, changed_at + 1), unknown_since = NULL, unknown_until = 0`,
    unknown: `INSERT INTO hookproof_outbox_listeners (listener, unknown_since, unknown_until)
      SELECT value, ?, ? FROM json_each(?) WHERE true
      ON CONFLICT (listener) DO UPDATE
      SET unknown_since = coalesce(unknown_since, excluded.unknown_since),
        unknown_until = iif(unknown_until > excluded.unknown_since, unknown_until, excluded.unknown_since
          + min(${UNKNOWN_MAX_MS}, max(${UNKNOWN_MS}, excluded.unknown_since - coalesce(unknown_since, excluded.unknown_since))))`,
  });

  return {
    due,
    bringBack,
    async changed(listener) {
      await changing(() => change("changed", listener, clock.now()));
      await bringBack(listener);
    },
    async unknown(listeners) {
      const names = JSON.stringify(listeners);
      await changing(() => change("unknown", clock.now(), clock.now() + UNKNOWN_MS, names));
    },
    async pause(listener, reason, { keepReason = false } = {}) {
      await changing(() => change("pause", listener, clock.now(), reason || null, keepReason ? 1 : 0));
    },
    async resume(listener) {
      const wasPaused = await changing(() => ask("resume", listener).length > 0);
      await bringBack(listener);
      return wasPaused;
    },
    async rest(listener, ms) {
      await changing(() => {
        const now = clock.now();
        change("rest", listener, now + ms, now);
      });
    },
    cancel: async (filter) => cancellation.cancel(filterCopy(filter)),
    pending: async (filter, limit) => reading(() => pendingEntries(db, show, filter, limit, clock.now())),
  };
}

/** Reads unfinished events alone, and all of those that match: no index has them in the order of their places. */
function pendingEntries(
  db: SqliteDatabase,
  show: ReturnType<typeof entryReader>,
  { ids, listener }: EventFilter,
  limit: number,
  now: number,
): OutboxEntry[] {
  const ofListener = listener === undefined ? "" : "AND listener = ?";
  const bound = listener === undefined ? [] : [listener];
  const [from, values] = ids
    ? [
        `SELECT seq FROM hookproof_outbox
          WHERE id IN (SELECT value FROM json_each(?)) AND +state = ${PENDING} ${ofListener}`,
        [JSON.stringify(ids), ...bound],
      ]
    : [
        `SELECT seq FROM hookproof_outbox INDEXED BY hookproof_outbox_due WHERE ${IS_WAITING} ${ofListener}
        UNION ALL
        SELECT seq FROM hookproof_outbox INDEXED BY hookproof_outbox_key
          WHERE ordering_key IS NOT NULL AND ${IS_PARKED} ${ofListener}
        UNION ALL
        SELECT seq FROM hookproof_outbox INDEXED BY hookproof_outbox_aside
          WHERE ${IS_ASIDE} ${ofListener}
        UNION ALL
        SELECT seq FROM hookproof_outbox INDEXED BY hookproof_outbox_later
          WHERE ${IS_LATER} ${ofListener}`,
        [...bound, ...bound, ...bound, ...bound],
      ];
  const sql = `SELECT * FROM hookproof_outbox
    WHERE seq IN (SELECT seq FROM (${from}) ORDER BY +seq LIMIT ?) ORDER BY seq`;
  const rows = db.prepare(sql).all(...values, limit) as OutboxRow[];
  return rows.map((row) => show(row, now));
}

/** How many events one transaction puts aside or brings back, so that many do not hold up other writers. */
const ASIDE_PAGE = 500;

/** An event under way is left to its lease. A look that puts nothing aside changes nothing: a change wakes who looks. */
const canBePutAside = `${IS_WAITING} AND (lease_until IS NULL OR lease_until <= ?)`;

/** How many events one transaction makes claimable whose time has come. */
const RIPE = 2_000;

/** Makes events claimable whose time has come, inside a transaction. */
export function ripener(db: SqliteDatabase): (now: number) => void {
  const change = preparedChanges(db, {
    ripen: `UPDATE hookproof_outbox SET turn = ${WAITING} WHERE seq IN (
      SELECT seq FROM hookproof_outbox WHERE ${IS_LATER} AND visible_at <= ? ORDER BY visible_at LIMIT ${RIPE})`,
  });
  return (now) => void change("ripen", now);
}

function dueLooks(db: SqliteDatabase, { changing, reading, clock }: Access): DueLooks {
  const next = (listener: string) =>
    `(SELECT min(listener) FROM hookproof_outbox WHERE ${IS_WAITING} AND listener > ${listener})`;
  const ripen = ripener(db);
  const ask = preparedQueries(db, {
    ripe: `SELECT 1 FROM hookproof_outbox WHERE ${IS_LATER} AND visible_at <= ? LIMIT 1`,
    // Steps from one listener to the next along the index, so that idle listeners and long backlogs cost nothing.
    due: `WITH RECURSIVE waiting (listener, step) AS (
        SELECT ${next("?")}, 1
        UNION ALL SELECT ${next("waiting.listener")}, step + 1 FROM waiting
        WHERE listener IS NOT NULL AND step < ${LOOK_STEPS})
      SELECT waiting.listener, step, coalesce(own.changed_at, 0) AS changedAt,
        coalesce(own.rest_until, 0) > ? AS rests, EXISTS (
          SELECT 1 FROM hookproof_outbox AS one
          WHERE one.listener = waiting.listener AND ${IS_WAITING} AND visible_at <= ?) AS isDue,
        (own.paused_at IS NOT NULL OR coalesce(own.unknown_until, 0) > ?) AND EXISTS (
          SELECT 1 FROM hookproof_outbox AS one
          WHERE one.listener = waiting.listener AND ${canBePutAside}) AS isPaused
      FROM waiting LEFT JOIN hookproof_outbox_listeners AS own ON own.listener = waiting.listener
      WHERE waiting.listener IS NOT NULL AND (isDue OR isPaused OR step = ${LOOK_STEPS}) LIMIT ?`,
    aside: `UPDATE hookproof_outbox SET turn = ${ASIDE} WHERE seq IN (
        SELECT seq FROM hookproof_outbox
        WHERE listener = ? AND ${canBePutAside} LIMIT ?)
      RETURNING 1`,
    back: `UPDATE hookproof_outbox SET turn = ${WAITING} WHERE seq IN (
        SELECT seq FROM hookproof_outbox WHERE listener = ? AND ${IS_ASIDE} LIMIT ?)
      RETURNING 1`,
    returning: `SELECT listener FROM hookproof_outbox_listeners
      WHERE has_aside = 1 AND paused_at IS NULL AND unknown_since IS NULL AND listener = coalesce(nullif(?, ''), listener) LIMIT 1`,
    mark: `UPDATE hookproof_outbox_listeners SET has_aside = 1
      WHERE listener = ? AND ${IS_AWAY} RETURNING 1`,
    unknown: `SELECT listener, changed_at AS changedAt FROM hookproof_outbox_listeners AS own
      WHERE unknown_since IS NOT NULL AND paused_at IS NULL AND unknown_until <= ? AND EXISTS (
        SELECT 1 FROM hookproof_outbox AS one WHERE one.listener = own.listener AND ${IS_ASIDE})
      ORDER BY unknown_until LIMIT ?`,
  });
  const change = preparedChanges(db, {
    unmark: "UPDATE hookproof_outbox_listeners SET has_aside = 0 WHERE listener = ?",
  });

  function putAside(listeners: readonly string[]): void {
    let left = ASIDE_PAGE;
    for (const listener of listeners) {
      if (left === 0) return;
      if (ask("mark", listener, clock.now()).length > 0)
        left -= ask("aside", listener, clock.now(), left).length;
    }
  }

  /** Resolves to whether there is more. */
  function bringPageBack(listener: string | undefined): boolean {
    const [found] = ask<{ listener: string }>("returning", listener ?? "");
    if (!found) return false;
    if (ask("back", found.listener, ASIDE_PAGE).length < ASIDE_PAGE) change("unmark", found.listener);
    return true;
  }

  return {
    async due(after, max) {
      const now = clock.now();
      if (reading(() => ask("ripe", now)).length > 0) await changing(() => ripen(now));
      const again = after === undefined ? reading(() => ask<LookedAt>("unknown", now, max)) : [];
      if (again.length > 0) return unknownListeners(again);
      const rows = reading(() => ask<LookedAt>("due", after ?? "", now, now, now, now, max));
      const paused = rows.filter(({ isPaused }) => isPaused).map(({ listener }) => listener);
      if (paused.length > 0) await changing(() => putAside(paused));
      return dueListeners(rows, max);
    },
    async bringBack(listener) {
      while (await changing(() => bringPageBack(listener)));
    },
  };
}
