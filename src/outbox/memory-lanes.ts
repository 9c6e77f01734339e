import type { MemoryEntry } from "./memory-entry.js";

/** The unfinished events of each ordering key, in their order. */
export interface MemoryLanes {
  join(entry: MemoryEntry): void;
  /** Whether it is an event's turn; always, for one without a key. */
  isTurnOf(entry: MemoryEntry): boolean;
  /** A worker has it: until `giveBack` or `leave`, it is nobody else's turn. */
  take(entry: MemoryEntry): void;
  /** Ends `take`, and gives the event whose turn it is now. */
  giveBack(entry: MemoryEntry): MemoryEntry | undefined;
  /** Takes a finished event out, and gives the one whose turn it is now. */
  leave(entry: MemoryEntry): MemoryEntry | undefined;
}

interface Lane {
  readonly entries: MemoryEntry[];
  /** Not always the first one: an earlier event may be redriven to its old place in the meantime. */
  taken: MemoryEntry | undefined;
}

export function memoryLanes(): MemoryLanes {
  const lanes = new Map<string, Lane>();
  const nameOf = ({ listener, orderingKey }: MemoryEntry["event"]) => JSON.stringify([listener, orderingKey]);
  const laneOf = ({ event }: MemoryEntry) =>
    event.orderingKey === undefined ? undefined : lanes.get(nameOf(event));

  return {
    join(entry) {
      if (entry.event.orderingKey === undefined) return;
      const name = nameOf(entry.event);
      const lane = lanes.get(name) ?? { entries: [], taken: undefined };
      lanes.set(name, lane);
      let place = lane.entries.length; // nearly always at the end
      while (place > 0 && (lane.entries[place - 1] as MemoryEntry).sequence > entry.sequence) place -= 1;
      lane.entries.splice(place, 0, entry);
    },
    isTurnOf(entry) {
      const lane = laneOf(entry);
      return !lane || (lane.taken ?? lane.entries[0]) === entry;
    },
    take(entry) {
      const lane = laneOf(entry);
      if (lane) lane.taken = entry;
    },
    giveBack(entry) {
      const lane = laneOf(entry);
      if (!lane) return entry;
      if (lane.taken === entry) lane.taken = undefined;
      return lane.entries[0];
    },
    leave(entry) {
      const lane = laneOf(entry);
      if (!lane) return undefined;
      if (lane.taken === entry) lane.taken = undefined;
      lane.entries.splice(lane.entries.indexOf(entry), 1);
      if (lane.entries.length === 0) lanes.delete(nameOf(entry.event));
      return lane.entries[0];
    },
  };
}
