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
      const returned = callback(...args);
      // A promise of another realm, or of a library, is no `instanceof Promise`, and its rejection ends a process too.
      if (typeof returned === "object" && returned !== null) Promise.resolve(returned).catch(() => {});
    } catch {
      // Watching must not change what is watched.
    }
  };
}
