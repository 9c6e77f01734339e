// Decides which listeners the next claims name.
import type { Listeners } from "./listeners.js";
import type { DueListener, OutboxStore, StoreControl } from "./outbox-store.js";

/** Up to so many listeners are all named in each claim: that costs less than to ask which of them have due events. */
const FEW = 100;

/** Which listeners the next claims name: all of a few, otherwise those that the store says have due events. */
export class Candidates {
  readonly #control: StoreControl | undefined;
  /** All names, in the order of the next claim. */
  #order: readonly string[];
  /** Those that the last look found. */
  #found: readonly DueListener[] = [];
  /** Where the next look goes on; from the first listener if it is absent. */
  #next: string | undefined;
  /** How often a look has to reach the end until all is seen that was there before the last `changed()`. */
  #endsToSee = 0;
  #hasChanged = true;

  constructor(store: OutboxStore, listeners: Listeners) {
    const names = listeners.areOpen ? [] : listeners.names;
    const isFew = !listeners.areOpen && names.length <= FEW;
    this.#control = isFew ? undefined : store.control;
    this.#order = this.#control ? [] : names;
  }

  /** Whether there may be due events of listeners that no claim has named since the last `changed()`. */
  get areMore(): boolean {
    return this.#found.length > 0 || this.#isUnseen;
  }

  get #isUnseen(): boolean {
    return this.#control !== undefined && (this.#hasChanged || this.#endsToSee > 0);
  }

  /** Events may have become due. */
  changed(): void {
    this.#hasChanged = true;
  }

  /** The listeners to name in the next claim of so many events, the one that was served longest ago first. */
  take(limit: number): readonly DueListener[] {
    if (!this.#control) return this.#order.map((listener) => ({ listener }));
    const taken = this.#found.slice(0, limit);
    this.#found = this.#found.slice(limit);
    return taken;
  }

  /** The last event of a claim was this listener's: the next claim begins with the one after it. */
  served(name: string): void {
    const place = this.#order.indexOf(name) + 1;
    this.#order = [...this.#order.slice(place), ...this.#order.slice(0, place)];
  }

  /** Whether the store has to be asked for more listeners before a claim of so many events. */
  isShort(limit: number): boolean {
    return this.#isUnseen && this.#found.length < limit;
  }

  /** Finds more listeners, so many at most. */
  async look(limit: number): Promise<void> {
    if (!this.#control) return;
    if (this.#hasChanged) {
      this.#hasChanged = false;
      this.#endsToSee = this.#next === undefined ? 1 : 2;
    }
    const { listeners, next } = await this.#control.due(this.#next, limit);
    this.#next = next;
    if (next === undefined) this.#endsToSee = Math.max(0, this.#endsToSee - 1);
    this.#found = [...this.#found, ...listeners];
  }
}
