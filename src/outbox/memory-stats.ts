import { isLeased, type MemoryEntry } from "./memory-entry.js";
import type { ListenerStats } from "./outbox-store.js";

type Counting = { -readonly [Name in keyof ListenerStats]: ListenerStats[Name] };

export function memoryStats(entries: Iterable<MemoryEntry>, now: number): ListenerStats[] {
  const byListener = new Map<string, Counting>();
  for (const entry of entries) {
    const { listener } = entry.event;
    const stats = byListener.get(listener) ?? { listener, pending: 0, inFlight: 0, delivered: 0, dead: 0 };
    byListener.set(listener, stats);
    if (entry.state === "delivered") stats.delivered += 1;
    else if (entry.state === "dead") stats.dead += 1;
    else if (isLeased(entry, now)) stats.inFlight += 1;
    else {
      stats.pending += 1;
      stats.oldestEnqueuedAt = Math.min(stats.oldestEnqueuedAt ?? Number.POSITIVE_INFINITY, entry.enqueuedAt);
    }
  }
  return [...byListener.values()];
}
