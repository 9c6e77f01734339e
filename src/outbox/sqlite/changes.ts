import { preparedChanges, preparedQueries, type SqliteDatabase } from "../../sqlite/database.js";
import { ASIDE, DELIVERED } from "./schema.js";

/** The columns of a changed row that say what else has to change. */
export interface ChangedRow {
  readonly seq: number;
  readonly listener: string;
  readonly ordering_key: string | null;
}

/**
 * What follows from a change of events' state, to be called in the same transaction, once for each statement: the
 * counts, the bodies that nothing needs any more, and the turn of the ordering keys. `undefined` stands for an event
 * that is not stored, or is cancelled.
 */
export type StateChange = (
  rows: readonly ChangedRow[],
  from: number | undefined,
  to: number | undefined,
) => void;

/** Not a trigger: one that counts every event by itself takes a fifth of a delivery. */
export function stateChange(db: SqliteDatabase): StateChange {
  const ask = preparedQueries(db, {
    first: `SELECT seq, turn FROM hookproof_outbox
      WHERE listener = ? AND ordering_key = ? AND turn IS NOT NULL ORDER BY seq LIMIT 2`,
  });
  const change = preparedChanges(db, {
    count: `INSERT INTO hookproof_outbox_counts VALUES (?, ?, ?)
      ON CONFLICT (listener, state) DO UPDATE SET events = events + excluded.events`,
    forget: "DELETE FROM hookproof_outbox_bodies WHERE seq IN (SELECT value FROM json_each(?))",
    turn: "UPDATE hookproof_outbox SET turn = ? WHERE seq = ?",
  });

  function count(rows: readonly ChangedRow[], from: number | undefined, to: number | undefined): void {
    const counts = new Map<string, number>();
    for (const { listener } of rows) counts.set(listener, (counts.get(listener) ?? 0) + 1);
    for (const [listener, events] of counts) {
      if (from !== undefined) change("count", listener, from, -events);
      if (to !== undefined) change("count", listener, to, events);
    }
  }

  /** Gives the turn to the first unfinished event of a key. At most one has it, so the first two rows are enough. */
  function passOn({ listener, ordering_key }: ChangedRow): void {
    if (ordering_key === null) return;
    const rows = ask<{ seq: number; turn: number }>("first", listener, ordering_key);
    for (const [place, { seq, turn }] of rows.entries()) {
      const due = place === 0 ? 1 : 0;
      const isAside = place === 0 && turn === ASIDE;
      if (turn !== due && !isAside) change("turn", due, seq);
    }
  }

  return (rows, from, to) => {
    if (rows.length === 0) return;
    count(rows, from, to);
    if (to === undefined || to === DELIVERED) change("forget", JSON.stringify(rows.map(({ seq }) => seq)));
    if (from !== undefined) rows.forEach(passOn);
  };
}
