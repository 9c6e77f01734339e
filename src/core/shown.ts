// Shows texts from outside, shortened and with what steers or hides escaped.
/**
 * Characters that steer a terminal, turn the direction of text or hide it, in Unicode's own terms: controls (C0, C1),
 * marks of format, line separators, and what is not drawn by default, such as the tag characters and fillers.
 * The command line and the inspector's page have the same set; test/core/steering.test.ts holds them equal.
 */
export const STEERING: RegExp = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** Printable ASCII without quotes and backslashes, which is shown as it is. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** A text from outside, short enough to be shown and with everything escaped that steers a terminal or hides. */
export function shown(value: unknown, length = 80): string {
  const text = typeof value === "string" ? value : jsonText(value);
  const begin = text.slice(0, length);
  if (text === value && PLAIN.test(begin)) return begin.length === text.length ? `"${text}"` : `"${begin}…"`;
  const quoted = JSON.stringify(text.length > length ? `${begin}…` : text);
  // JSON escapes the first 32 characters only; U+009B and the marks for direction act in terminals as well.
  const inert = quoted.replace(STEERING, escaped);
  return typeof value === "string" ? inert : inert.slice(1, -1).replaceAll('\\"', '"');
}

/** A character as JSON escapes it: those beyond U+FFFF are two units. */
function escaped(character: string): string {
  let units = "";
  for (let at = 0; at < character.length; at++)
    units += `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`;
  return units;
}

function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return "a value too deep to show";
  }
}

/** The method that `console.log` and Node's `inspect` ask for the text to show. */
export const INSPECT: unique symbol = Symbol.for("nodejs.util.inspect.custom");

/** Makes `console.log` and Node's `inspect` show this text instead of what the object holds. */
export function shownAs<Target extends object>(target: Target, text: string): Target {
  return Object.defineProperty(target, INSPECT, { value: () => text, enumerable: false });
}

/** A number with its noun, such as "1 byte" and "2 bytes". */
export function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
