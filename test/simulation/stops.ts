// What a worker owes that is told to stop: it begins no attempt, and when it has stopped it holds nothing that waits.
import { type Facts, type Held, isHeldAt, type Rule, shortName } from "./facts.js";
import type { FaultName, Plan } from "./plan.js";
import { DRIFT } from "./schedule.js";
import type { Signs } from "./signs.js";
import type { VirtualTime } from "./virtual-time.js";

/** With these a worker may stop before all it has asked the store for is done. */
const KEEP_FROM_STOPPING: readonly FaultName[] = [
  ...(["store is gone", "store is busy", "store refuses", "stands still at a call", "pause"] as const),
  ...(["answer of the store lost", "answer of the store late", "all stand still"] as const),
];

interface StopsContext {
  readonly facts: ReadonlyMap<string, Facts>;
  readonly storeNow: () => number;
  readonly signs: Signs;
  break(rule: Rule, message: string): void;
}

export class Stops {
  readonly #told = new Set<string>();
  readonly #ended = new Set<string>();
  readonly #isPrompt: boolean;
  readonly #book: StopsContext;
  readonly #time: VirtualTime;

  constructor({ faults }: Plan, book: StopsContext, time: VirtualTime) {
    this.#isPrompt = !KEEP_FROM_STOPPING.some((name) => name in faults);
    this.#book = book;
    this.#time = time;
  }

  told(worker: string): void {
    this.#told.add(worker);
  }

  isTold(worker: string): boolean {
    return this.#told.has(worker);
  }

  /** It has stopped, and its process exits. */
  ended(worker: string): void {
    if (!this.#isPrompt) return;
    this.#ended.add(worker);
    if (this.#book.signs.isOpen(worker))
      this.#book.break("alive", `${worker} has stopped, and did not say so`);
    const now = this.#book.storeNow();
    for (const one of this.#book.facts.values())
      if (one.held?.worker === worker && isHeldAt(one, now))
        this.#book.break("stop", `${shortName(one)} is held by ${worker}, which has stopped`);
  }

  claimed(worker: string, what: string): void {
    if (this.#ended.has(worker)) this.#book.break("stop", `${what}, which has stopped`);
  }

  /** A worker has interrupted the attempt: another one may begin the next at once. */
  interrupted(one: Facts, { worker, askedAt, claimedAt }: Held, at: number): void {
    const waitsMs = at - this.#book.storeNow();
    // A worker takes the time of its question for that of the store's answer.
    const mayBeMs = claimedAt - askedAt + 50 + DRIFT * (this.#time.now - askedAt);
    if (waitsMs > mayBeMs)
      this.#book.break("stop", `${shortName(one)}, which ${worker} interrupted, waits for ${waitsMs} ms`);
  }
}
