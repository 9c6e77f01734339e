import { preparedChanges, preparedQueries, type SqliteDatabase } from "../../sqlite/database.js";
import { type DueLooks, dueListeners, LOOK_STEPS, type LookedAt } from "../engine.js";
import type { Access } from "./dead-letters.js";
import { ASIDE, IS_ASIDE, IS_LATER, IS_OPEN } from "./schema.js";

/** How many events one transaction puts aside or brings back, so that many do not hold up other writers. */
const PAGE = 500;

/** An event under way is left to its lease. A look that puts nothing aside changes nothing: a change wakes who looks. */
const canBePutAside = `${IS_OPEN} AND (lease_until IS NULL OR lease_until <= ?)`;

/** How many events one transaction makes claimable whose time has come. */
const RIPE = 2_000;

/** Makes events claimable whose time has come, inside a transaction. */
export function ripening(db: SqliteDatabase): (now: number) => void {
  const change = preparedChanges(db, {
    ripen: `UPDATE hookproof_outbox SET turn = 1 WHERE seq IN (
      SELECT seq FROM hookproof_outbox WHERE ${IS_LATER} AND visible_at <= ? ORDER BY visible_at LIMIT ${RIPE})`,
  });
  return (now) => void change("ripen", now);
}

export function dueLooks(db: SqliteDatabase, { changing, reading, clock }: Access): DueLooks {
  const next = (listener: string) =>
    `(SELECT min(listener) FROM hookproof_outbox WHERE ${IS_OPEN} AND listener > ${listener})`;
  const ripen = ripening(db);
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
          WHERE one.listener = waiting.listener AND ${IS_OPEN} AND visible_at <= ?) AS isDue,
        own.paused_at IS NOT NULL AND EXISTS (
          SELECT 1 FROM hookproof_outbox AS one
          WHERE one.listener = waiting.listener AND ${canBePutAside}) AS isPaused
      FROM waiting LEFT JOIN hookproof_outbox_listeners AS own ON own.listener = waiting.listener
      WHERE waiting.listener IS NOT NULL AND (isDue OR isPaused OR step = ${LOOK_STEPS}) LIMIT ?`,
    aside: `UPDATE hookproof_outbox SET turn = ${ASIDE} WHERE seq IN (
        SELECT seq FROM hookproof_outbox
        WHERE listener = ? AND ${canBePutAside} LIMIT ?)
      RETURNING 1`,
    back: `UPDATE hookproof_outbox SET turn = 1 WHERE seq IN (
        SELECT seq FROM hookproof_outbox WHERE listener = ? AND ${IS_ASIDE} LIMIT ?)
      RETURNING 1`,
    returning: `SELECT listener FROM hookproof_outbox_listeners
      WHERE has_aside = 1 AND paused_at IS NULL AND listener = coalesce(nullif(?, ''), listener) LIMIT 1`,
    mark: `UPDATE hookproof_outbox_listeners SET has_aside = 1
      WHERE listener = ? AND paused_at IS NOT NULL RETURNING 1`,
  });
  const change = preparedChanges(db, {
    unmark: "UPDATE hookproof_outbox_listeners SET has_aside = 0 WHERE listener = ?",
  });

  function putAside(listeners: readonly string[]): void {
    let left = PAGE;
    for (const listener of listeners) {
      if (left === 0) return;
      if (ask("mark", listener).length > 0) left -= ask("aside", listener, clock.now(), left).length;
    }
  }

  /** Resolves to whether there is more. */
  function bringPageBack(listener: string | undefined): boolean {
    const [found] = ask<{ listener: string }>("returning", listener ?? "");
    if (!found) return false;
    if (ask("back", found.listener, PAGE).length < PAGE) change("unmark", found.listener);
    return true;
  }

  return {
    async due(after, most) {
      const now = clock.now();
      if (reading(() => ask("ripe", now)).length > 0) await changing(() => ripen(now));
      const rows = reading(() => ask<LookedAt>("due", after ?? "", now, now, now, most));
      const paused = rows.filter(({ isPaused }) => isPaused).map(({ listener }) => listener);
      if (paused.length > 0) await changing(() => putAside(paused));
      return dueListeners(rows, most);
    },
    async bringBack(listener) {
      while (await changing(() => bringPageBack(listener)));
    },
  };
}
