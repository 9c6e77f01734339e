import { HookproofError, messageOf } from "../errors.js";
import { type Clock, systemClock, timeOf } from "../primitives/clock.js";
import { harmless } from "../primitives/harmless.js";
import { EVENT_ID_RETENTION_MS } from "../protocol/limits.js";
import { RESERVATION_MS, type ReplayStore } from "./replay-store.js";

/** Options of `memoryReplayStore`. */
export interface MemoryReplayStoreOptions {
  clock?: Clock | undefined;
  /** How many processed ids are kept; 1,000,000 by default. Past it the oldest is forgotten. */
  maxIds?: number | undefined;
  /** How long a reservation holds if it is neither committed nor released; 60,000 ms by default. */
  reservationMs?: number | undefined;
  /** Told of each id that is forgotten before its 7 days are over; by default the first is warned about. What it throws is dropped. */
  onForget?: ((id: { listenerId: string; eventId: string }) => void) | undefined;
}

/**
 * A replay store in this process's memory, for one process and for tests: a restart forgets every id.
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
  const onForget = harmless<[{ listenerId: string; eventId: string }]>(options.onForget ?? warnOnce());
  if (!Number.isInteger(maxIds) || maxIds < 1)
    throw new RangeError("maxIds must be a whole number, 1 or more");
  // Insertion order is order of expiry in both, as every entry of one map is kept equally long.
  const reserved = new Map<string, Held>();
  const processed = new Map<string, Held>();
  // A map whose first entry is deleted again and again walks past all the holes before it finds its first entry.
  const inOrder = queue<string>();
  let tokens = 0;

  /** Told last of all: whatever the callback does, the id that was just processed is remembered. */
  function forgetOldest(): void {
    const key = inOrder.take() ?? "";
    processed.delete(key);
    const [listenerId = "", eventId = ""] = key.split(" ");
    onForget({ listenerId, eventId });
  }

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
      if (holder && holder.token !== token)
        throw new HookproofError("RESERVATION_LOST", messageOf("RESERVATION_LOST"));
      reserved.delete(key);
      if (processed.has(key)) return;
      processed.set(key, { token, expiresAt: now + EVENT_ID_RETENTION_MS });
      inOrder.add(key);
      if (processed.size > maxIds) forgetOldest();
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

/** First in, first out. What was taken is dropped from memory once it is more than what is left. */
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

/** A clock that fails stands still for that moment: an id that was run is remembered in any case. */
function steadily(clock: Clock): () => number {
  let last = 0;
  return () => {
    try {
      last = timeOf(clock);
    } catch {
      // The receiver asks the same clock, and answers 503 by itself.
    }
    return last;
  };
}

function warnOnce(): () => void {
  let warned = false;
  return () => {
    if (!warned)
      console.warn(
        "hookproof: the memory replay store is full and forgets its oldest event ids early. Raise maxIds.",
      );
    warned = true;
  };
}
