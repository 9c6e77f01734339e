// Checks numbers in options, and makes callbacks harmless.
/** A number in an option that must be whole: RangeError for anything else, and for less than `min`. */
export function checkWholeNumber(name: string, value: number, min = 1): void {
  if (!Number.isSafeInteger(value) || value < min)
    throw new RangeError(`${name} must be a whole number, ${min} or more`);
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

/** What `typeof` says of an option's value, a list of texts, or a method it has; 1 where its own place says more. */
type Kind = 1 | "number" | "string" | "object" | "function" | "boolean" | "texts" | `.${string}`;

/** The names of options as a table, which does not compile while one is missing. */
export type OptionNames<Options extends object> = Readonly<Record<KeysOf<Options>, Kind>>;

/** The names in every member of a union. */
type KeysOf<Options> = Options extends unknown ? Exclude<keyof Options, symbol | number> : never;

/**
 * Refuses options that a function does not have, and values of another kind: a misspelt one would do nothing, and
 * JavaScript has no compiler to say so. `what` is the function, or the option that holds them.
 *
 * @throws {TypeError} with the name, and the nearest one there is, or all of them
 */
export function checkOptions(what: string, given: unknown, known: Readonly<Record<string, Kind>>): void {
  if (typeof given !== "object" || given === null) throw new TypeError(`${what} takes an object of options`);
  let unknown: string | undefined;
  // No list of pairs: some functions are called for each event.
  for (const name of Object.keys(given)) {
    const kind = Object.hasOwn(known, name) ? known[name] : undefined;
    if (kind === undefined) unknown ??= name;
    else if (kind !== 1) checkKind(name, kind, Reflect.get(given, name));
  }
  if (unknown === undefined) return;
  const names = Object.keys(known);
  const nearest = nearestName(unknown, names);
  const hint = nearest === undefined ? `it has ${names.join(", ")}` : `did you mean ${nearest}?`;
  throw new TypeError(`${what} has no option ${JSON.stringify(unknown.slice(0, 100))}; ${hint}`);
}

function checkKind(name: string, kind: string, value: unknown): void {
  if (value !== undefined && !isOf(kind, value)) throw new TypeError(`${name} must be ${kindInWords(kind)}`);
}

function isOf(kind: string, value: unknown): boolean {
  if (kind === "texts") return Array.isArray(value) && value.every((one) => typeof one === "string");
  if (value === null) return false;
  return kind.startsWith(".")
    ? typeof Reflect.get(Object(value), kind.slice(1)) === "function"
    : typeof value === kind;
}

function kindInWords(kind: string): string {
  if (kind === "texts") return "a list of texts";
  if (kind.startsWith(".")) return `an object with the method ${kind.slice(1)}`;
  return `${kind === "object" ? "an" : "a"} ${kind}`;
}

/** The name that shares at least half with a mistyped one, at its beginning and its end, or has it as a part. */
function nearestName(given: string, names: readonly string[]): string | undefined {
  let best: { name: string; share: number } | undefined;
  const text = given.toLowerCase();
  for (const name of names) {
    const share = sharedPart(text, name.toLowerCase());
    if (share >= 0.5 && share > (best?.share ?? 0)) best = { name, share };
  }
  return best?.name;
}

function sharedPart(one: string, other: string): number {
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  if (short.length > 2 && long.includes(short)) return Math.max(0.5, short.length / long.length);
  let start = 0;
  while (start < short.length && short[start] === long[start]) start++;
  let end = 0;
  while (end < short.length - start && short.at(-1 - end) === long.at(-1 - end)) end++;
  return (start + end) / long.length;
}
