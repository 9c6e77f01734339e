/** The method that `console.log` and Node's `inspect` ask for the text to show. */
export const INSPECT: unique symbol = Symbol.for("nodejs.util.inspect.custom");

/** Makes `console.log` and Node's `inspect` show this text instead of what the object holds. */
export function shownAs<Target extends object>(target: Target, text: string): Target {
  return Object.defineProperty(target, INSPECT, { value: () => text, enumerable: false });
}
