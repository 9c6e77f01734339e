/**
 * The caller's callback, made harmless: what it throws, and what an `async` one rejects with, is dropped. It is
 * for callbacks that are told something and give nothing back.
 */
export function harmless<Args extends readonly unknown[]>(
  callback: (...args: Args) => unknown,
): (...args: Args) => void;
export function harmless<Args extends readonly unknown[]>(
  callback: ((...args: Args) => unknown) | undefined,
): ((...args: Args) => void) | undefined;
export function harmless<Args extends readonly unknown[]>(
  callback: ((...args: Args) => unknown) | undefined,
): ((...args: Args) => void) | undefined {
  if (!callback) return undefined;
  return (...args) => {
    try {
      dropped(callback(...args));
    } catch {
      // Watching must not change what is watched.
    }
  };
}

/** Takes no interest in what a callback gave: a promise that rejects with nobody to look at it ends the process. */
export function dropped(returned: unknown): void {
  // A promise of another realm, or of a library, is no `instanceof Promise`.
  if (typeof returned === "object" && returned !== null) Promise.resolve(returned).catch(() => {});
}
