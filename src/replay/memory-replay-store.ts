import { type Clock, checkedClock, monotonicMs, systemClock } from "../core/clock.js";
import { checkWholeNumber } from "../core/options.js";
import { EVENT_ID_RETENTION_MS } from "../core/protocol.js";
import { RESERVATION_MS, type ReplayStore, reservationLost } from "./replay-store.js";

/** Options of `memoryReplayStore`. */
export interface MemoryReplayStoreOptions {
  /** The machine's clock by default. Times are measured with `monotonic` where it has it. */
  clock?: Clock | undefined;
  /** How many processed ids are kept; 1,000,000 by default. Past it the oldest is forgotten, even before its 7 days. */
  maxIds?: number | undefined;
  /** How long a reservation holds if it is neither committed nor released; 60,000 ms by default. */
  reservationMs?: number | undefined;
}

/**
 * A replay store in the memory of this process, for a single process and for tests. A restart forgets every id.
 *
 * @example
 * ```ts
 * import { memoryReplayStore } from "hookproof/receiver";
 *
 * const replayStore = memoryReplayStore({ maxIds: 100_000 });
 * ```
 */
export function memoryReplayStore(options: MemoryReplayStoreOptions = {}): ReplayStore {
  const { clock = systemClock, maxIds = 1_000_000, reservationMs = RESERVATION_MS } = options;
  const nowOf = steadily(clock);
  checkWholeNumber("maxIds", maxIds);
  checkWholeNumber("reservationMs", reservationMs);
  // In both maps the order of insertion is the order of expiry, as all entries of one map are kept equally long.
  const reserved = new Map<string, Held>();
  const processed = new Map<string, Held>();
  // Finding a map's first entry costs as many steps as entries were deleted before it, so the order is kept beside it.
  const inOrder = queue<string>();
  let tokens = 0;

  function forgetExpired(now: number): void {
    for (const [key, { expiresAt }] of reserved) {
      if (expiresAt > now) break;
      reserved.delete(key);
    }
    for (let key = inOrder.first(); key !== undefined; key = inOrder.first()) {
      if ((processed.get(key)?.expiresAt ?? 0) > now) break;
      processed.delete(key);
      inOrder.take();
    }
  }

  return {
    async reserve(listenerId, eventId) {
      const key = `${listenerId} ${eventId}`;
      const now = nowOf();
      forgetExpired(now);
      if (processed.has(key)) return { state: "processed" };
      if (reserved.has(key)) return { state: "in-flight" };
      const token = String(++tokens);
      reserved.set(key, { token, expiresAt: now + reservationMs });
      return { state: "reserved", reservation: { listenerId, eventId, token } };
    },
    async commit({ listenerId, eventId, token }) {
      const key = `${listenerId} ${eventId}`;
      const now = nowOf();
      forgetExpired(now);
      const holder = processed.get(key) ?? reserved.get(key);
      if (holder && holder.token !== token) throw reservationLost();
      reserved.delete(key);
      if (processed.has(key)) return;
      processed.set(key, { token, expiresAt: now + EVENT_ID_RETENTION_MS });
      inOrder.add(key);
      if (processed.size > maxIds) processed.delete(inOrder.take() ?? "");
    },
    async release({ listenerId, eventId, token }) {
      const key = `${listenerId} ${eventId}`;
      if (reserved.get(key)?.token === token) reserved.delete(key);
    },
  };
}

interface Held {
  readonly token: string;
  readonly expiresAt: number;
}

/** First in, first out. What was taken leaves the memory once it is more than what is left. */
function queue<Item>() {
  let items: Item[] = [];
  let taken = 0;
  return {
    add: (item: Item) => void items.push(item),
    first: () => items[taken],
    take(): Item | undefined {
      const item = items[taken];
      taken++;
      if (taken * 2 > items.length) {
        items = items.slice(taken);
        taken = 0;
      }
      return item;
    },
  };
}

/** A clock that fails gives its last time, so that an id whose event has run is remembered in any case. */
function steadily(given: Clock): () => number {
  const clock = checkedClock(given);
  let last = 0;
  return () => {
    try {
      last = monotonicMs(clock);
    } catch {
      // The receiver asks the same clock, and answers 503.
    }
    return last;
  };
}
