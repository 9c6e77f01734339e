import { preparedChanges, type SqliteDatabase } from "./sqlite-database.js";

/** Counts events that come into a state, and leave another if they were in one: once for each listener. */
export function counting(
  db: SqliteDatabase,
): (events: Iterable<{ readonly listener: string }>, to: number, from?: number) => void {
  const change = preparedChanges(db, {
    count: `INSERT INTO hookproof_outbox_counts VALUES (?, ?, ?)
      ON CONFLICT (listener, state) DO UPDATE SET events = events + excluded.events`,
  });
  return (events, to, from) => {
    const counts = new Map<string, number>();
    for (const { listener } of events) counts.set(listener, (counts.get(listener) ?? 0) + 1);
    for (const [listener, count] of counts) {
      if (from !== undefined) change("count", listener, from, -count);
      change("count", listener, to, count);
    }
  };
}
