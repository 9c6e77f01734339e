import { preparedChanges, type SqliteDatabase } from "./sqlite-database.js";

/** An event's move from one state to another; `undefined` stands for not being there. */
export type CountMove = (
  events: Iterable<{ readonly listener: string }>,
  from: number | undefined,
  to: number | undefined,
) => void;

/**
 * Keeps the number of events of each listener and state: whoever changes states says so, once for each statement. A
 * trigger that counted every event by itself was a fifth of a delivery.
 */
export function counting(db: SqliteDatabase): CountMove {
  const change = preparedChanges(db, {
    count: `INSERT INTO hookproof_outbox_counts VALUES (?, ?, ?)
      ON CONFLICT (listener, state) DO UPDATE SET events = events + excluded.events`,
  });
  return (events, from, to) => {
    const counts = new Map<string, number>();
    for (const { listener } of events) counts.set(listener, (counts.get(listener) ?? 0) + 1);
    for (const [listener, count] of counts) {
      if (from !== undefined) change("count", listener, from, -count);
      if (to !== undefined) change("count", listener, to, count);
    }
  };
}

/** Removes the bodies of events that need them no more. */
export function forgetting(db: SqliteDatabase): (events: readonly { readonly seq: number }[]) => void {
  const change = preparedChanges(db, {
    forget: "DELETE FROM hookproof_outbox_bodies WHERE seq IN (SELECT value FROM json_each(?))",
  });
  return (events) => void change("forget", JSON.stringify(events.map(({ seq }) => seq)));
}
