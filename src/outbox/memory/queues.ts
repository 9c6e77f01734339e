// The queues of the memory store: which events of a listener may be claimed next.
import { LOOK_STEPS } from "../engine.js";
import { isDue, isLeased, isUnfinished, type MemoryEntry } from "./entries.js";

/** A heap: what stands before all others is found at once, however many there are. */
class Heap<Item> {
  readonly #items: Item[] = [];
  readonly #isBefore: (one: Item, other: Item) => boolean;

  constructor(isBefore: (one: Item, other: Item) => boolean) {
    this.#isBefore = isBefore;
  }

  get size(): number {
    return this.#items.length;
  }

  get first(): Item | undefined {
    return this.#items[0];
  }

  push(item: Item): void {
    const items = this.#items;
    let at = items.push(item) - 1;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = items[above] as Item;
      if (!this.#isBefore(item, parent)) break;
      items[at] = parent;
      at = above;
    }
    items[at] = item;
  }

  /** Takes the first one out. */
  pop(): Item | undefined {
    const items = this.#items;
    const first = items[0];
    const last = items.pop();
    if (items.length === 0 || last === undefined) return first;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= items.length) break;
      const right = below + 1;
      if (right < items.length && this.#isBefore(items[right] as Item, items[below] as Item)) below = right;
      if (!this.#isBefore(items[below] as Item, last)) break;
      items[at] = items[below] as Item;
      at = below;
    }
    items[at] = last;
    return first;
  }

  clear(): void {
    this.#items.length = 0;
  }
}

/** An event where it stood when it was put into a heap; it may stand elsewhere by now. */
interface Place {
  readonly entry: MemoryEntry;
  readonly at: number;
  readonly sequence: number;
}

/** The unfinished events of one listener, and the dead letters that others wait for. */
class Queue {
  /** Grows from queue to queue. */
  place: number;
  readonly entries = new Set<MemoryEntry>();
  readonly #inFlight = new Set<MemoryEntry>();
  /** Those that may be claimed at a time or later, and the place at which each is looked for there. */
  readonly #byTime = new Heap<Place>((a, b) => a.at < b.at || (a.at === b.at && a.sequence < b.sequence));
  readonly #places = new Map<MemoryEntry, Place>();
  /** The events of each ordering key. */
  readonly #ofKeys = new Map<string, Heap<Place>>();

  constructor(place: number) {
    this.place = place;
  }

  /** Takes in a new or changed event. */
  update(entry: MemoryEntry): void {
    const isNew = !this.entries.has(entry);
    this.entries.add(entry);
    if (entry.state === "leased") this.#inFlight.add(entry);
    else this.#inFlight.delete(entry);
    this.#offer(entry);
    if (entry.event.orderingKey === undefined) return;
    if (isNew) this.#ofKey(entry.key).push({ entry, at: entry.at, sequence: entry.sequence });
    this.#offer(this.#firstOf(entry.key));
  }

  remove(entry: MemoryEntry): boolean {
    const was = this.entries.delete(entry);
    this.#inFlight.delete(entry);
    this.#places.delete(entry);
    if (was && entry.event.orderingKey !== undefined) this.#offer(this.#firstOf(entry.key));
    return was;
  }

  /** How many of its events a worker holds. */
  leased(now: number): number {
    let count = 0;
    for (const entry of this.#inFlight) if (isLeased(entry, now)) count += 1;
    return count;
  }

  hasDue(now: number): boolean {
    const next = this.#next();
    return next !== undefined && isDue(next, now);
  }

  /** The events that may be claimed, those that have been due for longest first. */
  claimable(now: number, max: number, isOpen: (entry: MemoryEntry) => boolean): MemoryEntry[] {
    // What stands first of a key has to wait for a lease of another event of it, which may have expired.
    for (const { key, event, at } of this.#inFlight)
      if (event.orderingKey !== undefined && at <= now) this.#offer(this.#firstOf(key));
    const claimable: MemoryEntry[] = [];
    const looked: MemoryEntry[] = [];
    for (let next = this.#next(); next && isDue(next, now) && claimable.length < max; next = this.#next()) {
      this.#byTime.pop();
      this.#places.delete(next);
      if (next.event.orderingKey !== undefined && !this.#isNext(next, now)) continue;
      looked.push(next);
      if (isOpen(next)) claimable.push(next);
    }
    for (const entry of looked) this.#offer(entry);
    return claimable;
  }

  /** The entries have changed on their own. */
  rebuild(): void {
    this.#byTime.clear();
    this.#places.clear();
    for (const entry of this.entries) this.#offer(entry);
  }

  /** Whether nothing of its ordering key stands before it. When what does is gone, it is offered again. */
  #isNext(entry: MemoryEntry, now: number): boolean {
    if (this.#firstOf(entry.key) !== entry) return false;
    for (const one of this.#inFlight) if (one.key === entry.key && isLeased(one, now)) return false;
    return true;
  }

  #offer(entry: MemoryEntry | undefined): void {
    if (!entry) return;
    const { at, sequence } = entry;
    const known = this.#places.get(entry);
    if (!isUnfinished(entry)) this.#places.delete(entry);
    if (!isUnfinished(entry) || (known?.at === at && known.sequence === sequence)) return;
    if (this.#byTime.size > 2 * this.entries.size + 64) {
      this.#byTime.clear();
      for (const place of this.#places.values()) if (place !== known) this.#byTime.push(place);
    }
    const place = { entry, at, sequence };
    this.#places.set(entry, place);
    this.#byTime.push(place);
  }

  /** The event that may be claimed first, by time alone. */
  #next(): MemoryEntry | undefined {
    for (let first = this.#byTime.first; first; first = this.#byTime.first) {
      if (this.#places.get(first.entry) === first) return first.entry;
      this.#byTime.pop();
    }
    return undefined;
  }

  #ofKey(key: string): Heap<Place> {
    const known = this.#ofKeys.get(key);
    if (known) return known;
    const heap = new Heap<Place>((a, b) => a.sequence < b.sequence);
    this.#ofKeys.set(key, heap);
    return heap;
  }

  #firstOf(key: string): MemoryEntry | undefined {
    const heap = this.#ofKeys.get(key);
    for (let first = heap?.first; first; first = heap?.first) {
      if (this.entries.has(first.entry) && first.entry.sequence === first.sequence) return first.entry;
      heap?.pop();
    }
    this.#ofKeys.delete(key);
    return undefined;
  }
}

/** The queue of each listener. */
export class MemoryQueues {
  /** In the order of their places. */
  readonly #open = new Map<string, Queue>();
  /** Those of paused and of unknown listeners, apart: however many they are, a look does not pass them. */
  readonly #paused = new Map<string, Queue>();
  #places = 0;

  /** The events of a listener that are unfinished, or that others wait for. */
  of(listener: string): Iterable<MemoryEntry> {
    return this.#queue(listener)?.entries ?? [];
  }

  /** How many events of a listener a worker holds. */
  leased(listener: string, now: number): number {
    return this.#queue(listener)?.leased(now) ?? 0;
  }

  /** At most so many events of a listener that may be claimed, those that have been due for longest first. */
  claimable(
    listener: string,
    now: number,
    max: number,
    isOpen: (entry: MemoryEntry) => boolean,
  ): MemoryEntry[] {
    return this.#queue(listener)?.claimable(now, max, isOpen) ?? [];
  }

  /** Whether any event of the listener is unfinished. */
  holds(listener: string): boolean {
    for (const entry of this.of(listener)) if (isUnfinished(entry)) return true;
    return false;
  }

  /** Takes in a new or changed event, or lets it go if it has ended. */
  update(entry: MemoryEntry, isPaused: boolean): void {
    if (!isUnfinished(entry) && !entry.failure?.blocksKey) {
      this.remove(entry);
      return;
    }
    const { listener } = entry.event;
    const queues = isPaused ? this.#paused : this.#open;
    const queue = queues.get(listener) ?? new Queue(++this.#places);
    queue.update(entry);
    queues.set(listener, queue);
  }

  remove(entry: MemoryEntry): void {
    const { listener } = entry.event;
    for (const queues of [this.#open, this.#paused])
      if (queues.get(listener)?.remove(entry) && queues.get(listener)?.entries.size === 0)
        queues.delete(listener);
  }

  /** The entries have changed on their own. */
  rebuild(): void {
    for (const queues of [this.#open, this.#paused]) for (const queue of queues.values()) queue.rebuild();
  }

  pause(listener: string): void {
    this.#move(listener, this.#open, this.#paused);
  }

  resume(listener: string): void {
    this.#move(listener, this.#paused, this.#open);
  }

  /** Listeners with due events, those after a place; `next` is where the rest begins. */
  due(after: number, now: number, max: number): { names: string[]; next: number | undefined } {
    const names: string[] = [];
    let steps = 0;
    for (const [listener, queue] of this.#open) {
      if (queue.place <= after) continue;
      if (steps === LOOK_STEPS || names.length === max) return { names, next: queue.place - 1 };
      steps += 1;
      if (queue.hasDue(now)) names.push(listener);
    }
    return { names, next: undefined };
  }

  #queue(listener: string): Queue | undefined {
    return this.#open.get(listener) ?? this.#paused.get(listener);
  }

  #move(listener: string, from: Map<string, Queue>, to: Map<string, Queue>): void {
    const queue = from.get(listener);
    if (!queue) return;
    from.delete(listener);
    queue.place = ++this.#places;
    to.set(listener, queue);
  }
}
