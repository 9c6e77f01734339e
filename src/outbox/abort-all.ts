/** Ends many pieces of work at once. */
export interface AbortAll {
  readonly aborted: boolean;
  abort(): void;
  /** Hands a signal to work, for as long as that takes. */
  during<Value>(work: (signal: AbortSignal) => Promise<Value>): Promise<Value>;
}

/** Each piece has a signal of its own: more than ten listeners on one are what Node takes for a leak. */
export function abortAll(): AbortAll {
  const underWay = new Set<AbortController>();
  let aborted = false;
  return {
    get aborted() {
      return aborted;
    },
    abort() {
      aborted = true;
      for (const one of underWay) one.abort();
    },
    async during(work) {
      const controller = new AbortController();
      if (aborted) controller.abort();
      underWay.add(controller);
      try {
        return await work(controller.signal);
      } finally {
        underWay.delete(controller);
      }
    },
  };
}
