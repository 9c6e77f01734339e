/** What steers a terminal, turns text around or hides: control characters, C1, separators, bidi and invisible marks. */
const STEERING =
  /[\p{Cc}\p{Zl}\p{Zp}\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/** A text with everything escaped that steers a terminal or hides, as `\u001b`; line ends and tabs stay. */
export function inert(text: string): string {
  return text.replace(STEERING, (one) => (one === "\n" || one === "\t" ? one : escaped(one)));
}

/** The same for one line: what somebody else wrote does not begin a line of its own. */
export function inertLine(text: string): string {
  return text.replace(STEERING, escaped);
}

/** A document on one line; JSON itself escapes the first 32 characters only. It reads as the same value. */
export function inertJson(value: unknown): string {
  return JSON.stringify(value).replace(STEERING, escaped);
}

function escaped(one: string): string {
  return Array.from({ length: one.length }, (_, at) => one.charCodeAt(at))
    .map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`)
    .join("");
}
