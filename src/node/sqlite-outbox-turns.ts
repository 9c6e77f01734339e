import { preparedQueries, type SqliteDatabase } from "./sqlite-database.js";

/** What names an ordering key in a row. */
export interface KeyedRow {
  readonly listener: string;
  readonly ordering_key: string | null;
}

/**
 * Gives the turn of an ordering key to the first of its unfinished events. To be called after each change to them
 * but the enqueueing: at most one has the turn, so that looking at the first two is enough.
 */
export function passingOn(db: SqliteDatabase): (row: KeyedRow) => void {
  const ask = preparedQueries(db, {
    first: `SELECT seq, turn FROM hookproof_outbox
      WHERE listener = ? AND ordering_key = ? AND turn IS NOT NULL ORDER BY seq LIMIT 2`,
    set: "UPDATE hookproof_outbox SET turn = ? WHERE seq = ? RETURNING 1",
  });
  return ({ listener, ordering_key }) => {
    if (ordering_key === null) return;
    const rows = ask<{ seq: number; turn: number }>("first", listener, ordering_key);
    for (const [place, { seq, turn }] of rows.entries()) {
      const due = place === 0 ? 1 : 0;
      if (turn !== due) ask("set", due, seq);
    }
  };
}
