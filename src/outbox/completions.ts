import type { Completion, OutboxStore } from "./outbox-store.js";
import type { StoreWatch } from "./store-watch.js";

/** Deliveries that ended well and are stored in groups, as a commit of its own for each would cost most of all. */
export interface Completions {
  /** @param until by the monotonic clock: afterwards the lease is lost */
  add(completion: Completion, until: number, onStored: () => void): void;
  /** Stores what was added; what cannot be stored now is kept for the next time, as long as its lease holds. */
  flush(): Promise<void>;
  readonly size: number;
}

interface Waiting {
  readonly completion: Completion;
  readonly until: number;
  readonly onStored: () => void;
  /** Whether an earlier try may have stored it without our knowing. */
  tried: boolean;
}

/** @param onLost is told how many were delivered although their lease was lost */
export function createCompletions(
  store: Pick<OutboxStore, "complete">,
  { watch, now, onLost }: { watch: StoreWatch; now: () => number; onLost: (count: number) => void },
): Completions {
  let waiting: Waiting[] = [];

  return {
    add(completion, until, onStored) {
      waiting.push({ completion, until, onStored, tried: false });
    },
    async flush() {
      if (waiting.length === 0) return;
      const batch = waiting;
      waiting = [];
      try {
        const good = await watch.once(() => store.complete(batch.map(({ completion }) => completion)));
        const lost = batch.length - good;
        if (lost > 0 && batch.every(({ tried }) => !tried)) onLost(lost);
        for (const { onStored } of batch) onStored();
      } catch (error) {
        for (const one of batch) one.tried = true;
        const held = batch.filter(({ until }) => until > now());
        if (held.length < batch.length) onLost(batch.length - held.length);
        waiting = [...held, ...waiting];
        throw error;
      }
    },
    get size() {
      return waiting.length;
    },
  };
}
