import { HookproofError, messageOf } from "../errors.js";
import { type Clock, systemClock } from "../primitives/clock.js";
import { EVENT_ID_RETENTION_MS } from "../protocol/limits.js";
import { RESERVATION_MS, type ReplayStore } from "./replay-store.js";

/** Options of `memoryReplayStore`. */
export interface MemoryReplayStoreOptions {
  clock?: Clock | undefined;
  /** How many processed ids are kept; 1,000,000 by default. Past it the oldest is forgotten. */
  maxIds?: number | undefined;
  /** How long a reservation holds if it is neither committed nor released; 60,000 ms by default. */
  reservationMs?: number | undefined;
  /** Told of each id that is forgotten before its 7 days are over; by default the first is warned about. */
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
  const {
    clock = systemClock,
    maxIds = 1_000_000,
    reservationMs = RESERVATION_MS,
    onForget = warnOnce(),
  } = options;
  if (!Number.isInteger(maxIds) || maxIds < 1)
    throw new RangeError("maxIds must be a whole number, 1 or more");
  // Insertion order is order of expiry in both, as every entry of one map is kept equally long.
  const reserved = new Map<string, Held>();
  const processed = new Map<string, Held>();
  let tokens = 0;

  function forgetOldest(): void {
    const [key = ""] = processed.keys();
    processed.delete(key);
    const [listenerId = "", eventId = ""] = key.split(" ");
    onForget({ listenerId, eventId });
  }

  return {
    async reserve(listenerId, eventId) {
      const key = `${listenerId} ${eventId}`;
      const now = clock.now();
      forgetExpired(reserved, now);
      forgetExpired(processed, now);
      if (processed.has(key)) return { state: "processed" };
      if (reserved.has(key)) return { state: "in-flight" };
      const token = String(++tokens);
      reserved.set(key, { token, expiresAt: now + reservationMs });
      return { state: "reserved", reservation: { listenerId, eventId, token } };
    },
    async commit({ listenerId, eventId, token }) {
      const key = `${listenerId} ${eventId}`;
      const now = clock.now();
      forgetExpired(reserved, now);
      forgetExpired(processed, now);
      const holder = processed.get(key) ?? reserved.get(key);
      if (holder && holder.token !== token)
        throw new HookproofError("RESERVATION_LOST", messageOf("RESERVATION_LOST"));
      reserved.delete(key);
      if (processed.has(key)) return;
      if (processed.size >= maxIds) forgetOldest();
      processed.set(key, { token, expiresAt: now + EVENT_ID_RETENTION_MS });
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

function forgetExpired(held: Map<string, Held>, now: number): void {
  for (const [key, { expiresAt }] of held) {
    if (expiresAt > now) break;
    held.delete(key);
  }
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
