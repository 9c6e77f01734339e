// What is said and kept of who is alive: a worker says it now and then, and at its end that it has stopped.
import type { OutboxStore } from "hookproof/outbox/store";
import type { Plan } from "./plan.js";

type SeenWorker = Awaited<ReturnType<OutboxStore["workers"]>>[number];

/** A worker says it each ten seconds, if its loop does not wait for longer; clocks are slow, and calls take time. */
const SAYS_WITHIN_MS = 16_000;

interface Sign {
  readonly id: string;
  readonly isGone: boolean;
}

/** The last sign of each worker that the store has executed. */
export class Signs {
  readonly #last = new Map<string, Sign>();

  noted(worker: string, id: string, isGone = false): void {
    this.#last.set(worker, { id, isGone });
  }

  /** Whether a worker has said that it is alive, and not that it has stopped. */
  isOpen(worker: string): boolean {
    return this.#last.get(worker)?.isGone === false;
  }

  /** Compares what the store shows, after a quiet time, with who lives; `undefined` if it is as it should be. */
  fault(plan: Plan, living: readonly string[], seen: readonly SeenWorker[]): string | undefined {
    if (!plan.signs) return undefined;
    const withinMs = SAYS_WITHIN_MS + 1.1 * plan.pollMs;
    for (const worker of living) {
      const id = this.#last.get(worker)?.id;
      const { silentMs } = seen.find((one) => one.id === id) ?? {};
      if (silentMs === undefined) return `${worker} lives, and is not seen`;
      if (silentMs > withinMs || silentMs < 0) return `${worker} lives, and was silent for ${silentMs} ms`;
    }
    for (const [worker, { id, isGone }] of this.#last)
      if (isGone && seen.some((one) => one.id === id)) return `${worker} has stopped, and is seen`;
    return undefined;
  }
}
