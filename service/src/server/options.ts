// Refuses options that a function does not have.
/**
 * Refuses options that a function does not have. A misspelt one would do nothing, and a JavaScript program has no
 * compiler to say so.
 *
 * @throws {TypeError} with the name, and the nearest one there is
 */
export function refuseUnknown(what: string, given: object, known: Readonly<Record<string, true>>): void {
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(known, name));
  if (unknown === undefined) return;
  throw new TypeError(`${what} has no option ${unknown}${didYouMean(unknown, Object.keys(known))}`);
}

/** The end of a sentence about a name that is not known: the nearest one, where one is near. */
export function didYouMean(unknown: string, known: readonly string[]): string {
  const near = known.find((name) => isNear(name.toLowerCase(), unknown.toLowerCase()));
  return near === undefined ? "" : `; did you mean ${near}?`;
}

/** Whether two names differ by one letter, or by two that changed places. */
function isNear(one: string, other: string): boolean {
  let start = 0;
  while (start < one.length && one[start] === other[start]) start++;
  const [left, right] = [one.slice(start), other.slice(start)];
  const isSwap = left[0] === right[1] && left[1] === right[0] && left.slice(2) === right.slice(2);
  return isSwap || left.slice(1) === right.slice(1) || left.slice(1) === right || left === right.slice(1);
}
