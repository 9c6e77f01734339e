/**
 * Ends many pieces of work at once. Each gets a signal of its own: hundreds of listeners on one signal are what
 * Node takes for a leak.
 */
export interface AbortAll {
  readonly aborted: boolean;
  abort(): void;
  /** Hands a signal to work, for as long as that takes. */
  during<Value>(work: (signal: AbortSignal) => Promise<Value>): Promise<Value>;
}

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
      const one = new AbortController();
      if (aborted) one.abort();
      underWay.add(one);
      try {
        return await work(one.signal);
      } finally {
        underWay.delete(one);
      }
    },
  };
}
