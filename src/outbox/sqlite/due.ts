import { preparedChanges, preparedQueries, type SqliteDatabase } from "../../sqlite/database.js";
import type { DueListeners } from "../outbox-store.js";
import type { Access } from "./dead-letters.js";
import { ASIDE, IS_ASIDE, IS_OPEN } from "./schema.js";

/** How many listeners one look goes over. */
const STEPS = 1_000;

/** How many events one transaction puts aside or brings back, so that many do not hold up other writers. */
const PAGE = 500;

/** A listener that a look went over. */
interface DueRow {
  readonly listener: string;
  readonly step: number;
  readonly isDue: number;
  readonly isPaused: number;
  readonly rests: number;
  readonly changed_at: number;
}

/** Finds listeners with due events; those of paused listeners are put aside, so that later looks do not pass them. */
export interface DueLooks {
  due(after: string | undefined, most: number): Promise<DueListeners>;
  /** Lets the events go that were put aside of a listener that is no longer paused, or of all such. */
  bringBack(listener?: string): Promise<void>;
}

export function dueLooks(db: SqliteDatabase, { changing, reading, clock }: Access): DueLooks {
  const next = (listener: string) =>
    `(SELECT min(listener) FROM hookproof_outbox WHERE ${IS_OPEN} AND listener > ${listener})`;
  const ask = preparedQueries(db, {
    // Steps from one listener to the next along the index, so that idle listeners and long backlogs cost nothing.
    due: `WITH RECURSIVE waiting (listener, step) AS (
        SELECT ${next("?")}, 1
        UNION ALL SELECT ${next("waiting.listener")}, step + 1 FROM waiting
        WHERE listener IS NOT NULL AND step < ${STEPS})
      SELECT waiting.listener, step, coalesce(own.changed_at, 0) AS changed_at,
        own.paused_at IS NOT NULL AS isPaused, coalesce(own.rest_until, 0) > ? AS rests, EXISTS (
          SELECT 1 FROM hookproof_outbox AS one
          WHERE one.listener = waiting.listener AND ${IS_OPEN} AND visible_at <= ?) AS isDue
      FROM waiting LEFT JOIN hookproof_outbox_listeners AS own ON own.listener = waiting.listener
      WHERE waiting.listener IS NOT NULL AND (isDue OR isPaused OR step = ${STEPS}) LIMIT ?`,
    aside: `UPDATE hookproof_outbox SET turn = ${ASIDE} WHERE seq IN (
        SELECT seq FROM hookproof_outbox
        WHERE listener = ? AND ${IS_OPEN} AND (lease_until IS NULL OR lease_until <= ?) LIMIT ?)
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
      const rows = reading(() => ask<DueRow>("due", after ?? "", now, now, most));
      const paused = rows.filter(({ isPaused }) => isPaused).map(({ listener }) => listener);
      if (paused.length > 0) await changing(() => putAside(paused));
      const last = rows.at(-1);
      const listeners = rows
        .filter(({ isDue, isPaused, rests }) => isDue && !isPaused && !rests)
        .map(({ listener, changed_at: changedAt }) => ({ listener, changedAt }));
      return { listeners, next: rows.length === most || last?.step === STEPS ? last?.listener : undefined };
    },
    async bringBack(listener) {
      while (await changing(() => bringPageBack(listener)));
    },
  };
}
