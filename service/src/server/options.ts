// Refuses options that a function does not have, and values of another kind.
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

/** What the value of an option has to be, in words, and whether one is. */
export type OptionKind = readonly [kind: string, fits: (value: unknown) => boolean];

/** Kinds of options. */
export const KINDS = {
  text: ["a text that is not empty", isText],
  flag: ["true or false", (value) => typeof value === "boolean"],
  url: [
    "a URL of http or https",
    (value) => typeof value === "string" && /^https?:\/\//i.test(value) && URL.canParse(value),
  ],
  port: ["a whole number from 0 to 65535", (value) => isWhole(value) && value <= 65_535],
  ms: ["a number, 0 or more", (value) => typeof value === "number" && value >= 0],
  /** Its range is looked at in its own place. */
  number: ["a number", (value) => typeof value === "number"],
  callback: ["a function", (value) => typeof value === "function"],
  members: ["an object", isObject],
  clock: ["an object with the method now", (value) => has(value, "now")],
  texts: ["a list of texts", (value) => Array.isArray(value) && value.every(isText)],
  anything: ["", () => true],
} as const satisfies Record<string, OptionKind>;

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== "" && !value.includes("\0");
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function has(value: unknown, method: string): boolean {
  return isObject(value) && typeof (value as Record<string, unknown>)[method] === "function";
}

/**
 * Refuses options that a function does not have, and values of another kind than theirs: without a compiler they would
 * fail somewhere behind, in words that name no option. `undefined` is no value.
 *
 * @throws {TypeError} with the option's name, and what it has to be
 */
export function checkOptions(
  what: string,
  given: object,
  kinds: Readonly<Record<string, OptionKind>>,
  path = "",
): void {
  if (!isObject(given)) throw new TypeError(`${what} must be an object`);
  refuseUnknown(what, given, Object.fromEntries(Object.keys(kinds).map((name) => [name, true as const])));
  for (const [name, [kind, fits]] of Object.entries(kinds)) {
    const value: unknown = Reflect.get(given, name);
    if (value !== undefined && !fits(value)) throw new TypeError(`${path}${name} must be ${kind}`);
  }
}
