// Checks numbers in options, and makes callbacks harmless.
/** A number in an option that must be whole: RangeError for anything else, and for less than `least`. */
export function checkWholeNumber(name: string, value: number, least = 1): void {
  if (!Number.isSafeInteger(value) || value < least)
    throw new RangeError(`${name} must be a whole number, ${least} or more`);
}

/**
 * Wraps a caller's callback so that its errors are ignored: those it throws, and those that an `async` one rejects
 * with. For callbacks whose return value has no use; undefined if there is none.
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
      // An observer cannot change the delivery that it observes.
    }
  };
}

/** Ignores a callback's return value. An unhandled rejection would end the process. */
export function dropped(returned: unknown): void {
  // `instanceof Promise` is false for a promise of another realm or of a library.
  if (typeof returned === "object" && returned !== null) Promise.resolve(returned).catch(() => {});
}

/** Numbers from 0 up to 1. Where the caller's function fails, `Math.random` gives them, so that no delivery fails. */
export function steadyRandom(random: () => number): () => number {
  return () => {
    try {
      const number: unknown = random();
      if (typeof number === "number" && number >= 0 && number < 1) return number;
      dropped(number);
    } catch {
      // As below.
    }
    return Math.random();
  };
}
