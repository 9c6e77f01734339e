// Decides which listeners the next claims name.
import type { Listeners } from "./listeners.js";
import type { DueListener, OutboxStore } from "./outbox-store.js";

/** Up to so many listeners are all named in each claim: that costs less than to ask which of them have due events. */
const FEW = 100;

/** Which listeners the next claims name: all of a few, otherwise those that the store says have due events. */
export class Candidates {
  readonly #store: OutboxStore;
  /** Of a few listeners, all names in the order of the next claim. */
  #few: readonly string[] | undefined;
  /** Those that the last look found. */
  #found: readonly DueListener[] = [];
  /** Where the next look goes on; from the first listener if it is absent. */
  #next: string | undefined;
  /** How often a look has to reach the end until all is seen that was there before the last `changed()`. */
  #endsToSee = 0;
  #hasChanged = true;
  #isPostponed = false;

  constructor(store: OutboxStore, listeners: Listeners) {
    this.#store = store;
    if (!listeners.usesLookup && listeners.names.length <= FEW) this.#few = listeners.names;
  }

  /** Whether there may be due events of listeners that no claim has named since the last `changed()`. */
  get hasMore(): boolean {
    return this.#found.length > 0 || this.#isUnseen;
  }

  get #isUnseen(): boolean {
    return this.#few === undefined && (this.#hasChanged || this.#endsToSee > 0);
  }

  /** Events may have become due. */
  changed(): void {
    this.#hasChanged = true;
  }

  /** Whether there are listeners that the last round of looks found, and that are to be named in a later one. */
  get isPostponed(): boolean {
    return this.#isPostponed;
  }

  /** One that was taken is to be found by the next round. */
  postponed(): void {
    this.#isPostponed = true;
  }

  /** The listeners to name in the next claim of so many events, the one that was served longest ago first. */
  take(limit: number): readonly DueListener[] {
    if (this.#few) return this.#few.map((listener) => ({ listener }));
    const taken = this.#found.slice(0, limit);
    this.#found = this.#found.slice(limit);
    return taken;
  }

  /** Names that are to be taken again first. */
  putBack(names: readonly DueListener[]): void {
    if (!this.#few) this.#found = [...names, ...this.#found];
  }

  /** The last event of a claim was this listener's: the next claim begins with the one after it. */
  served(name: string): void {
    if (!this.#few) return;
    const place = this.#few.indexOf(name) + 1;
    this.#few = [...this.#few.slice(place), ...this.#few.slice(0, place)];
  }

  /** Whether the store has to be asked for more listeners before a claim of so many events. */
  isShort(limit: number): boolean {
    return this.#isUnseen && this.#found.length < limit;
  }

  /** Finds more listeners, so many at most. */
  async look(limit: number): Promise<void> {
    if (this.#hasChanged) {
      this.#hasChanged = false;
      this.#isPostponed = false;
      this.#endsToSee = this.#next === undefined ? 1 : 2;
    }
    const { listeners, next } = await this.#store.due(this.#next, limit);
    this.#next = next;
    if (next === undefined) this.#endsToSee = Math.max(0, this.#endsToSee - 1);
    this.#found = [...this.#found, ...listeners];
  }
}
