import type { ListenerStats, OutboxEntry } from "../outbox/outbox-store.js";
import { preparedQueries, type SqliteDatabase } from "./sqlite-database.js";
import { type OutboxRow, outboxEntry } from "./sqlite-outbox-rows.js";
import { DEAD, DELIVERED, IS_MOVED, IS_OPEN, PENDING } from "./sqlite-outbox-schema.js";

/** What is asked of the file without changing it; none of it gets slower with what the file holds. */
export interface OutboxReads {
  find(id: string, now: number): OutboxEntry[];
  stats(now: number): ListenerStats[];
}

export function outboxReads(db: SqliteDatabase): OutboxReads {
  const ask = preparedQueries(db, {
    find: "SELECT * FROM hookproof_outbox WHERE id = ? ORDER BY listener",
    counts: "SELECT listener, state, events FROM hookproof_outbox_counts",
    leased: "SELECT count(*) AS events FROM hookproof_outbox WHERE listener = ? AND lease_until > ?",
    oldestMoved: `SELECT enqueued_at FROM hookproof_outbox
      WHERE listener = ? AND ${IS_MOVED} AND (lease_until IS NULL OR lease_until <= ?)
      ORDER BY enqueued_at LIMIT 1`,
    first: `SELECT enqueued_at FROM hookproof_outbox
      WHERE listener = ? AND ${IS_OPEN} AND (lease_until IS NULL OR lease_until <= ?)
      ORDER BY visible_at LIMIT 1`,
  });

  function statsOf(listener: string, counts: ReadonlyMap<number, number>, now: number): ListenerStats {
    const [leased] = ask<{ events: number }>("leased", listener, now);
    const inFlight = leased?.events ?? 0;
    const oldest = (["oldestMoved", "first"] as const)
      .flatMap((name) => ask<{ enqueued_at: number }>(name, listener, now))
      .map((row) => row.enqueued_at);
    return {
      listener,
      pending: (counts.get(PENDING) ?? 0) - inFlight,
      inFlight,
      delivered: counts.get(DELIVERED) ?? 0,
      dead: counts.get(DEAD) ?? 0,
      ...(oldest.length > 0 ? { oldestEnqueuedAt: Math.min(...oldest) } : {}),
    };
  }

  return {
    find: (id, now) => ask<OutboxRow>("find", id).map((row) => outboxEntry(row, now)),
    stats(now) {
      const byListener = new Map<string, Map<number, number>>();
      for (const row of ask<{ listener: string; state: number; events: number }>("counts")) {
        const counts = byListener.get(row.listener) ?? new Map<number, number>();
        byListener.set(row.listener, counts.set(row.state, row.events));
      }
      return [...byListener].map(([listener, counts]) => statsOf(listener, counts, now));
    },
  };
}
