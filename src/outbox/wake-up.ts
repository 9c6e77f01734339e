/** A pause that ends after a time, or as soon as there is something to do. */
export interface WakeUp {
  /** Ends the pause under way, or else the next one at once. */
  wake(): void;
  pause(ms: number): Promise<void>;
}

export function createWakeUp(wait: (ms: number, signal?: AbortSignal) => Promise<void>): WakeUp {
  let woken = false;
  let pausing: AbortController | undefined;
  return {
    wake() {
      woken = true;
      pausing?.abort();
    },
    async pause(ms) {
      if (!woken) {
        pausing = new AbortController();
        await wait(ms, pausing.signal);
        pausing = undefined;
      }
      woken = false;
    },
  };
}
