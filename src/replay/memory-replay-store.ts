// A replay store in memory.
import { type Clock, checkedClock, monotonicMs, systemClock } from "../core/clock.js";
import { checkOptions, checkWholeNumber, type OptionNames } from "../core/options.js";
import { EVENT_ID_RETENTION_MS } from "../core/protocol.js";
import { IdTable, type Kept, type Mark } from "./id-table.js";
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

const NAMES: OptionNames<MemoryReplayStoreOptions> = {
  clock: ".now",
  maxIds: 1,
  reservationMs: 1,
};

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
  checkOptions("memoryReplayStore", options, NAMES);
  const { clock = systemClock, maxIds = 1_000_000, reservationMs = RESERVATION_MS } = options;
  const nowOf = steadily(clock);
  checkWholeNumber("maxIds", maxIds);
  checkWholeNumber("reservationMs", reservationMs);
  // In both the order is that of expiry, as all entries of one are kept equally long.
  const reserved = new Map<string, Held>();
  const processed = new IdTable();
  let tokens = 0;

  function forgetExpired(now: number): void {
    for (const [key, { expiresAt }] of reserved) {
      if (expiresAt > now) break;
      reserved.delete(key);
    }
    while ((processed.first()?.expiresAt ?? Infinity) <= now) processed.removeFirst();
  }

  return {
    async reserve(listenerId, eventId) {
      const key = `${listenerId} ${eventId}`;
      const now = nowOf();
      forgetExpired(now);
      const mark = processed.markOf(key);
      if (processed.find(mark)) return { state: "processed" };
      if (reserved.has(key)) return { state: "in-flight" };
      const token = ++tokens;
      reserved.set(key, { token, expiresAt: now + reservationMs, mark });
      return { state: "reserved", reservation: { listenerId, eventId, token: String(token) } };
    },
    async commit({ listenerId, eventId, token }) {
      const key = `${listenerId} ${eventId}`;
      const now = nowOf();
      forgetExpired(now);
      const held = reserved.get(key);
      const mark = held?.mark ?? processed.markOf(key);
      const done = processed.find(mark);
      const holder = done ?? held;
      if (holder && String(holder.token) !== token) throw reservationLost();
      reserved.delete(key);
      if (done) return;
      processed.add(mark, { token: Number(token), expiresAt: now + EVENT_ID_RETENTION_MS });
      if (processed.size > maxIds) processed.removeFirst();
    },
    async release({ listenerId, eventId, token }) {
      const key = `${listenerId} ${eventId}`;
      if (String(reserved.get(key)?.token) === token) reserved.delete(key);
    },
  };
}

interface Held extends Kept {
  readonly mark: Mark;
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
