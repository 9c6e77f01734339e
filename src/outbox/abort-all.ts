/** Ends many pieces of work at once. */
export interface AbortAll {
  readonly aborted: boolean;
  abort(): void;
  /** Hands a signal to work, for as long as that takes. */
  during<Value>(work: (signal: AbortSignal) => Promise<Value>): Promise<Value>;
}

/**
 * How many pieces of work share a signal. A signal for each is a twentieth of what a delivery costs, and more than
 * ten listeners on one are what Node takes for a leak.
 */
const SHARED_BY = 8;

interface Shared {
  readonly controller: AbortController;
  handedOut: number;
  underWay: number;
}

export function abortAll(): AbortAll {
  const inUse = new Set<Shared>();
  let aborted = false;
  let next = shared();

  function shared(): Shared {
    const controller = new AbortController();
    if (aborted) controller.abort();
    return { controller, handedOut: 0, underWay: 0 };
  }

  return {
    get aborted() {
      return aborted;
    },
    abort() {
      aborted = true;
      for (const { controller } of [...inUse, next]) controller.abort();
    },
    async during(work) {
      if (next.handedOut === SHARED_BY) next = shared();
      const one = next;
      one.handedOut += 1;
      one.underWay += 1;
      inUse.add(one);
      try {
        return await work(one.controller.signal);
      } finally {
        one.underWay -= 1;
        if (one.underWay === 0) inUse.delete(one);
      }
    },
  };
}
