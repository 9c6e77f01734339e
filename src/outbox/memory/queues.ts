import { LOOK_STEPS } from "../engine.js";
import { isDue, isUnfinished, type MemoryEntry } from "./entries.js";

interface Queue {
  /** Grows from queue to queue. */
  readonly place: number;
  readonly entries: Set<MemoryEntry>;
}

/** The events of each listener that are unfinished, or that others wait for. */
export class MemoryQueues {
  /** In the order of their places. */
  readonly #open = new Map<string, Queue>();
  /** Those of paused listeners, apart: however many they are, a look does not pass them. */
  readonly #paused = new Map<string, Queue>();
  #places = 0;

  of(listener: string): Iterable<MemoryEntry> {
    return (this.#open.get(listener) ?? this.#paused.get(listener))?.entries ?? [];
  }

  /** Takes in a new or changed event, or lets it go if it has ended. */
  update(entry: MemoryEntry, isPaused: boolean): void {
    const { listener } = entry.event;
    const queues = isPaused ? this.#paused : this.#open;
    const known = queues.get(listener);
    if (isUnfinished(entry) || entry.failure?.blocksKey) {
      const queue = known ?? { place: ++this.#places, entries: new Set() };
      queue.entries.add(entry);
      queues.set(listener, queue);
    } else this.remove(entry);
  }

  remove(entry: MemoryEntry): void {
    const { listener } = entry.event;
    for (const queues of [this.#open, this.#paused])
      if (queues.get(listener)?.entries.delete(entry) && queues.get(listener)?.entries.size === 0)
        queues.delete(listener);
  }

  pause(listener: string): void {
    this.#move(listener, this.#open, this.#paused);
  }

  resume(listener: string): void {
    this.#move(listener, this.#paused, this.#open);
  }

  /** Listeners with due events, those after a place; `next` is where the rest begins. */
  due(after: number, now: number, most: number): { names: string[]; next: number | undefined } {
    const names: string[] = [];
    let steps = 0;
    for (const [listener, { place, entries }] of this.#open) {
      if (place <= after) continue;
      if (steps === LOOK_STEPS || names.length === most) return { names, next: place - 1 };
      steps += 1;
      for (const entry of entries) {
        if (!isDue(entry, now)) continue;
        names.push(listener);
        break;
      }
    }
    return { names, next: undefined };
  }

  #move(listener: string, from: Map<string, Queue>, to: Map<string, Queue>): void {
    const queue = from.get(listener);
    if (!queue) return;
    from.delete(listener);
    to.set(listener, { place: ++this.#places, entries: queue.entries });
  }
}
