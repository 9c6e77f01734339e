// Has the store keep the events of unknown listeners apart, next to the deliveries.
import type { OutboxStore } from "./outbox-store.js";
import type { StoreCalls } from "./store-calls.js";

/** How many names are told at a time, so that a store in this process is not busy with it for long. */
const A_CALL = 500;

interface UnknownListenersContext {
  readonly store: OutboxStore;
  readonly calls: StoreCalls;
  /** Called each time something was noted. */
  readonly onEnd: () => void;
}

/** What the function of listeners says of names that it did not know, until it is reported to the store. */
export class UnknownListeners {
  readonly #context: UnknownListenersContext;
  readonly #unknown = new Set<string>();
  readonly #found = new Set<string>();
  #underWay: Promise<void> | undefined;

  constructor(context: UnknownListenersContext) {
    this.#context = context;
  }

  /** Whether a look may still find events of unknown listeners, or may not find those of one that is known again. */
  get isUnderWay(): boolean {
    return this.#underWay !== undefined || this.#unknown.size > 0 || this.#found.size > 0;
  }

  add(name: string): void {
    this.#found.delete(name);
    this.#unknown.add(name);
  }

  /** There is such a listener again: its events may be claimed. */
  found(name: string): void {
    this.#unknown.delete(name);
    this.#found.add(name);
  }

  /** Reports some to the store, unless a call is under way; never throws. */
  begin(): void {
    if (this.#underWay || !this.isUnderWay) return;
    this.#underWay = this.#report(taken(this.#found), taken(this.#unknown)).finally(() => {
      this.#underWay = undefined;
      this.#context.onEnd();
    });
  }

  /** Resolves when no call is under way. */
  async ended(): Promise<void> {
    await this.#underWay;
  }

  /** One after another, as all that come back at once are no reason to take the store's connections from the deliveries. */
  async #report(found: readonly string[], unknown: readonly string[]): Promise<void> {
    const { store, calls } = this.#context;
    try {
      for (const name of found) await calls.once("changed", () => store.changed(name));
      if (unknown.length > 0) await calls.once("unknown", () => store.unknown(unknown));
    } catch {
      // It is done again when the names are asked for again.
    }
  }
}

/** Takes out some. */
function taken(names: Set<string>): string[] {
  const some = [...names].slice(0, A_CALL);
  for (const name of some) names.delete(name);
  return some;
}
