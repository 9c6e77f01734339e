// Has the store keep the events of unknown listeners apart, beside the deliveries.
import type { OutboxStore } from "./outbox-store.js";
import type { StoreCalls } from "./store-calls.js";

/** How many names one call notes at most, so that a store in this process is not busy with it for long. */
const A_CALL = 500;

interface UnknownListenersContext {
  readonly store: OutboxStore;
  readonly calls: StoreCalls;
  /** Called each time something was noted. */
  readonly onEnd: () => void;
}

/** The names that the function of listeners does not know, as far as the store is still to be told. */
export class UnknownListeners {
  readonly #context: UnknownListenersContext;
  readonly #names = new Set<string>();
  #underWay: Promise<void> | undefined;

  constructor(context: UnknownListenersContext) {
    this.#context = context;
  }

  /** Whether a look may still find events of unknown listeners. */
  get isUnderWay(): boolean {
    return this.#underWay !== undefined || this.#names.size > 0;
  }

  add(name: string): void {
    this.#names.add(name);
  }

  /** Tells the store of some that were added, unless a call is under way; never throws. */
  begin(): void {
    if (this.#underWay || this.#names.size === 0) return;
    const names = [...this.#names].slice(0, A_CALL);
    for (const name of names) this.#names.delete(name);
    this.#run((store) => store.unknown(names));
  }

  /** There is such a listener again: its events may be claimed. */
  found(name: string): void {
    this.#run((store) => store.changed(name));
  }

  /** Resolves when no call is under way. */
  async ended(): Promise<void> {
    await this.#underWay;
  }

  /** What fails here is done again when the name is asked for again. */
  #run(call: (store: OutboxStore) => Promise<void>): void {
    const { store, calls, onEnd } = this.#context;
    const before = this.#underWay;
    const run = Promise.all([before, calls.once(() => call(store)).catch(() => {})]).then(() => {
      if (this.#underWay === run) this.#underWay = undefined;
      onEnd();
    });
    this.#underWay = run;
  }
}
