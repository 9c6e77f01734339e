// Makes a caller's callback harmless.
/**
 * The caller's callback, made harmless: neither what it throws nor what an `async` one rejects with reaches anybody
 * but `onFailure`, as a promise that rejects with nobody to look at it ends the process. For callbacks that are told
 * something and give nothing back.
 */
export function harmless<Args extends readonly unknown[]>(
  callback: (...args: Args) => unknown,
  onFailure: (error: unknown, ...args: Args) => void = () => {},
): (...args: Args) => void {
  return (...args) => {
    try {
      dropped(callback(...args), (error) => onFailure(error, ...args));
    } catch (error) {
      onFailure(error, ...args);
    }
  };
}

/** Takes no interest in what a callback gave, a promise that rejects included. */
export function dropped(returned: unknown, onRejection: (error: unknown) => void = () => {}): void {
  // A promise of another realm, or of a library, is no `instanceof Promise`.
  if (typeof returned === "object" && returned !== null) Promise.resolve(returned).catch(onRejection);
}
